// crane score: log-probs of given tokens.
#include <cmath>
#include <utility>

#include "app/loading.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/error.h"
#include "base/strings.h"
#include "pipelines/text_generation.h"

namespace crane {
namespace {

Json finite(float value, const char* what, size_t position) {
  if (!std::isfinite(value))
    throw Error(ErrorCode::internal,
                cat(what, " at position ", position, " is ", value, ", expected a finite number"));
  return double{value};
}

Json to_json(const ScoreResult& result, bool with_top) {
  JsonObject object;
  object["ids"] = ids_to_json(result.ids);
  JsonArray logprobs;
  for (size_t i = 0; i < result.ids.size(); ++i)
    logprobs.push_back(i == 0 ? Json() : finite(result.logprobs.at(i), "log-prob", i));
  object["logprobs"] = std::move(logprobs);
  if (!with_top) return object;
  JsonArray top;
  for (size_t i = 0; i < result.ids.size(); ++i) {
    JsonArray likeliest;
    for (const TokenLogprob& token : result.top.at(i))
      likeliest.push_back(JsonArray{Json(int64_t{token.id}), finite(token.logprob, "log-prob", i)});
    top.push_back(std::move(likeliest));
  }
  object["top"] = std::move(top);
  return object;
}

void print_table(const ScoreResult& result) {
  std::string out;
  for (size_t i = 0; i < result.ids.size(); ++i)
    out += cat(result.ids[i], i == 0 ? "" : cat("\t", result.logprobs.at(i)), "\n");
  write_answer(out);
}

}  // namespace

int score_verb(const Invocation& invocation) {
  const Options& options = invocation.options;
  bool text_given = options.text || options.file;
  if (options.ids.empty() != text_given)
    throw Error(ErrorCode::invalid_argument,
                "score: expected --ids, --text or --file, one of them");
  EngineOptions engine = engine_options(options);
  std::string text = text_given ? read_given_text(options) : "";
  ModelBundle bundle = load_whole_model(invocation);
  std::vector<std::vector<int32_t>> prompts = options.ids;
  if (text_given)
    prompts.push_back(
        require_tokenizer(bundle.text)
            .encode(text, {.add_special = !options.no_bos, .parse_special = !options.no_special}));
  if (prompts.front().empty())
    throw Error(ErrorCode::invalid_argument, "score: the text gives no token");
  TextGeneration generation(bundle, engine);
  for (const ScoreResult& result : generation.score(prompts, options.top)) {
    if (options.json) {
      write_answer(to_json(result, options.top > 0).dump() + "\n");
    } else {
      print_table(result);
    }
  }
  return 0;
}

}  // namespace crane
