// crane tokenize: text to ids, and with --decode ids to text.
#include <utility>

#include "app/loading.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

std::string decode(const Options& options, const Tokenizer& tokenizer) {
  if (options.ids.size() != 1)
    throw Error(ErrorCode::invalid_argument, "tokenize --decode: expected one --ids 1,2,3");
  for (int32_t id : options.ids.front())
    if (id >= tokenizer.vocab_size())
      throw Error(ErrorCode::invalid_argument,
                  cat("--ids: got ", id, ", expected ids below ", tokenizer.vocab_size()));
  return tokenizer.decode(options.ids.front(), options.no_special);
}

Json encode_lines(const Options& options, const Tokenizer& tokenizer, const EncodeOptions& encode) {
  Json lines = Json::parse(read_text_argument(*options.lines_json), "--lines-json");
  JsonArray all;
  for (const Json& line : lines.as_array())
    all.push_back(ids_to_json(tokenizer.encode(line.as_string(), encode)));
  return all;
}

}  // namespace

int tokenize_verb(const Invocation& invocation) {
  const Options& options = invocation.options;
  if (!options.decode && !options.ids.empty())
    throw Error(ErrorCode::invalid_argument, "--ids: tokenize takes ids only with --decode");
  if (options.lines_json && (options.text || options.file))
    throw Error(ErrorCode::invalid_argument, "expected one of --text, --file and --lines-json");
  TextBundle text = load_text_side(invocation);
  if (!text.tokenizer)
    throw Error(ErrorCode::unsupported,
                cat(text.checkpoint.path(), ": the model has no tokenizer"));
  const Tokenizer& tokenizer = *text.tokenizer;
  JsonObject result;
  if (options.decode) {
    std::string decoded = decode(options, tokenizer);
    if (!options.json) return write_answer(decoded), 0;
    result["text"] = std::move(decoded);
  } else {
    EncodeOptions encode{.add_special = !options.no_bos, .parse_special = !options.no_special};
    result["ids"] = options.lines_json
                        ? encode_lines(options, tokenizer, encode)
                        : ids_to_json(tokenizer.encode(read_given_text(options), encode));
    if (!options.json) return write_answer(result["ids"].dump() + "\n"), 0;
  }
  write_answer(Json(std::move(result)).dump() + "\n");
  return 0;
}

}  // namespace crane
