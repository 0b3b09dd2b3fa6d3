#include "app/answer.h"

#include <utility>

#include "app/terminal.h"
#include "base/strings.h"

namespace crane {

GenerationRequest make_request(const Options& options, const ModelBundle& bundle) {
  GenerationRequest request;
  request.sampling = bundle.text.sampling;
  for (const auto& change : options.sampling) change(request.sampling);
  request.max_tokens = options.max_tokens;
  request.ignore_eos = options.ignore_eos;
  request.stop_strings = options.stop_strings;
  return request;
}

Json make_message(const char* role, std::string content) {
  JsonObject message;
  message["role"] = role;
  message["content"] = std::move(content);
  return message;
}

Json make_conversation(const Options& options, JsonArray messages) {
  JsonObject conversation;
  if (options.system_prompt)
    messages.insert(messages.begin(), make_message("system", *options.system_prompt));
  conversation["messages"] = std::move(messages);
  conversation["add_generation_prompt"] = true;
  if (options.chat_template_kwargs.is_object())
    conversation["chat_template_kwargs"] = options.chat_template_kwargs;
  return conversation;
}

GenerationResult stream_answer(TextGeneration& generation, const GenerationRequest& request,
                               const InterruptScope& interrupts) {
  return generation.generate(request, [&](std::string_view text) {
    return !interrupts.interrupted() && write_answer(text);
  });
}

double per_second(int tokens, double milliseconds) {
  return milliseconds > 0 ? tokens * 1000.0 / milliseconds : 0;
}

void report_rates(const GenerationResult& result, double load_ms, bool verbose) {
  int computed = result.prompt_tokens - result.cached_tokens;
  int generated = static_cast<int>(result.ids.size());
  std::string prompt_rate = format_fixed(per_second(computed, result.prompt_ms), 1);
  std::string rate = format_fixed(per_second(generated, result.generation_ms), 1);
  if (!verbose) {
    write_notice(cat("[", result.prompt_tokens, " prompt tokens, ", prompt_rate, " tokens/s · ",
                     generated, " tokens, ", rate, " tokens/s]"));
    return;
  }
  write_notice(cat("load time          ", format_fixed(load_ms, 0), " ms"));
  write_notice(cat("prompt tokens      ", result.prompt_tokens, ", ", result.cached_tokens,
                   " of them from the cache, ", format_fixed(result.prompt_ms, 0), " ms"));
  write_notice(cat("prompt rate        ", prompt_rate, " tokens/s"));
  write_notice(
      cat("eval tokens        ", generated, ", ", format_fixed(result.generation_ms, 0), " ms"));
  write_notice(cat("eval rate          ", rate, " tokens/s"));
}

}  // namespace crane
