// crane run: one answer to a prompt, or a chat.
#include <cmath>
#include <utility>

#include "app/answer.h"
#include "app/chat.h"
#include "app/loading.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// The prompt from -p, --file or the second bare word, and after it what a pipe gives.
std::optional<std::string> gather_prompt(const Options& options) {
  std::optional<std::string> prompt = options.prompt;
  int given = options.prompt.has_value() + options.file.has_value() +
              static_cast<int>(options.positional.size()) + !options.ids.empty();
  if (given > 1) refuse("run: expected one of --prompt, --file, --ids and a bare prompt");
  if (!options.positional.empty()) prompt = options.positional.front();
  if (options.file) return read_text_argument(*options.file);
  if (!options.ids.empty() || stdin_is_terminal()) return prompt;
  std::optional<std::string> piped = read_piped_input(prompt.has_value());
  if (!piped) return prompt;
  return prompt ? *prompt + "\n" + *piped : *piped;
}

std::vector<int32_t> prompt_ids(const Options& options, const std::optional<std::string>& prompt,
                                const ModelBundle& bundle, const TextGeneration& generation) {
  if (!options.ids.empty()) return options.ids.front();
  if (!options.raw)
    return generation.encode_chat(make_conversation(options, {make_message("user", *prompt)}));
  std::vector<int32_t> ids =
      require_tokenizer(bundle.text)
          .encode(*prompt, {.add_special = !options.no_bos, .parse_special = !options.no_special});
  if (ids.empty()) refuse("run: the prompt gives no token");
  return ids;
}

// A rate, or null where nothing was counted or the clock did not move.
Json rate(int tokens, double milliseconds) {
  if (tokens <= 0 || milliseconds <= 0) return {};
  return static_cast<double>(static_cast<float>(per_second(tokens, milliseconds)));
}

Json milliseconds(double value) { return static_cast<double>(static_cast<float>(value)); }

std::string to_json(const GenerationResult& result, const std::vector<int32_t>& prompt,
                    const ModelBundle& bundle) {
  JsonObject timings;
  timings["load_ms"] = milliseconds(bundle.load_ms);
  timings["prompt_n"] = result.prompt_tokens;
  timings["prompt_ms"] = milliseconds(result.prompt_ms);
  timings["prompt_per_second"] =
      rate(result.prompt_tokens - result.cached_tokens, result.prompt_ms);
  timings["predicted_n"] = result.ids.size();
  timings["predicted_ms"] = milliseconds(result.generation_ms);
  timings["predicted_per_second"] = rate(static_cast<int>(result.ids.size()), result.generation_ms);
  JsonObject object;
  object["text"] = bundle.text.tokenizer ? Json(result.text) : Json();
  object["ids"] = ids_to_json(result.ids);
  object["prompt_ids"] = ids_to_json(prompt);
  object["finish_reason"] = result.reason == FinishReason::length ? "length" : "stop";
  object["timings"] = std::move(timings);
  return Json(std::move(object)).dump() + "\n";
}

// One answer as text. A terminal gets a line end after it, a pipe the text alone.
int answer_as_text(const Options& options, TextGeneration& generation,
                   const GenerationRequest& request, const ModelBundle& bundle,
                   const InterruptScope& interrupts) {
  require_tokenizer(bundle.text);
  GenerationResult result = stream_answer(generation, request, interrupts);
  if (stdout_is_terminal()) write_answer("\n");
  if (!options.quiet && (options.verbose || stderr_is_terminal()))
    report_rates(result, bundle.load_ms, options.verbose);
  return 0;
}

int answer_as_json(TextGeneration& generation, const GenerationRequest& request,
                   const ModelBundle& bundle, const InterruptScope& interrupts) {
  GenerationResult result =
      generation.generate(request, [&](std::string_view) { return !interrupts.interrupted(); });
  if (result.reason == FinishReason::cancelled)
    throw Error(ErrorCode::invalid_argument, "interrupted");
  write_answer(to_json(result, request.prompt_ids, bundle));
  return 0;
}

}  // namespace

int run_verb(const Invocation& invocation) {
  const Options& options = invocation.options;
  if (options.ids.size() > 1) refuse("run: expected one --ids");
  std::optional<std::string> prompt = gather_prompt(options);
  bool nothing_given = !prompt && options.ids.empty();
  if (nothing_given && !stdin_is_terminal())
    refuse("run: no prompt: standard input is empty; give --prompt, --file or --ids");
  bool chat = stdin_is_terminal() && options.ids.empty() && !options.json &&
              (nothing_given || options.chat || options.single_turn);
  if (nothing_given && !chat) refuse("run --json: expected --prompt, --file or --ids");
  if (chat && options.raw) refuse("run: a chat goes through the template; --raw needs a prompt");

  EngineOptions engine = engine_options(options);
  std::optional<InterruptScope> interrupts(std::in_place);
  ModelBundle bundle = load_whole_model(invocation, [&] { return interrupts->interrupted(); });
  TextGeneration generation(bundle, engine);
  if (chat) {
    interrupts.reset();  // the chat brings its own, one for each answer
    return run_chat(invocation, bundle, generation, prompt);
  }
  GenerationRequest request = make_request(options, bundle);
  request.prompt_ids = prompt_ids(options, prompt, bundle, generation);
  if (options.json) return answer_as_json(generation, request, bundle, *interrupts);
  return answer_as_text(options, generation, request, bundle, *interrupts);
}

}  // namespace crane
