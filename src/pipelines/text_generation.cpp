#include "pipelines/text_generation.h"

#include <condition_variable>
#include <limits>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "pipelines/stop_strings.h"
#include "text/detokenizer.h"

namespace crane {
namespace {

// Waits for a request that runs on the engine's thread.
class Completion {
 public:
  void finish(const FinishEvent& event) {
    std::lock_guard lock(mutex_);
    event_ = event;
    done_.notify_all();
  }
  FinishEvent wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return event_.has_value(); });
    if (event_->reason == FinishReason::error) throw *event_->error;
    return *event_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<FinishEvent> event_;
};

// One answer while it grows: ids in, certain text out.
struct Answer {
  std::optional<Detokenizer> detokenizer;
  StopStrings stops;
  GenerationResult result;
  bool cancelled = false;

  // Gives the text on; false when the receiver wants no more.
  bool emit(std::string text, const std::function<bool(std::string_view)>& on_text) {
    if (text.empty()) return true;
    result.text += text;
    return !on_text || on_text(text);
  }
};

}  // namespace

struct TextGeneration::Impl {
  ModelBundle& bundle;
  Engine engine;

  Impl(ModelBundle& b, const EngineOptions& options)
      : bundle(b), engine(*b.device, *b.model, with_kv_type(b, options)) {
    engine.start();
  }

  static EngineOptions with_kv_type(ModelBundle& bundle, EngineOptions options) {
    if (!options.kv_type)
      options.kv_type = bundle.device->backend().default_kv_type(bundle.quantized);
    return options;
  }
};

TextGeneration::TextGeneration(ModelBundle& bundle, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(bundle, options)) {}

TextGeneration::~TextGeneration() = default;

Engine& TextGeneration::engine() { return impl_->engine; }

GenerationResult TextGeneration::generate(const GenerationRequest& wanted,
                                          const std::function<bool(std::string_view)>& on_text) {
  const TextBundle& text = impl_->bundle.text;
  Answer answer{std::nullopt, StopStrings(wanted.stop_strings), {}, false};
  if (text.tokenizer) answer.detokenizer.emplace(text.tokenizer, true);
  Completion completion;
  std::mutex started;  // the id is known before the first token is handled
  Engine::RequestId id = 0;

  Request request;
  request.prompt = wanted.prompt_ids;
  request.sampling = wanted.sampling;
  request.max_tokens = wanted.max_tokens;
  request.min_tokens = wanted.min_tokens;
  request.ignore_eos = wanted.ignore_eos;
  request.stop_ids = text.stop_ids;
  request.stop_ids.insert(request.stop_ids.end(), wanted.stop_ids.begin(), wanted.stop_ids.end());
  request.on_token = [&](const TokenEvent& token) {
    if (answer.cancelled || answer.stops.matched()) return;
    answer.result.ids.push_back(token.id);
    if (!answer.detokenizer) return;
    bool more = answer.emit(answer.stops.push(answer.detokenizer->push(token.id)), on_text);
    if (more && !answer.stops.matched()) return;
    answer.cancelled = !more;
    std::lock_guard lock(started);
    impl_->engine.cancel(id);
  };
  request.on_finish = [&](const FinishEvent& event) { completion.finish(event); };
  {
    std::lock_guard lock(started);
    id = impl_->engine.submit(std::move(request));
  }
  FinishEvent event = completion.wait();
  if (answer.detokenizer && !answer.cancelled) {
    std::string rest = answer.stops.push(answer.detokenizer->finish());
    answer.emit(rest + answer.stops.finish(), on_text);
  }
  answer.result.reason = answer.stops.matched() ? FinishReason::stop : event.reason;
  answer.result.prompt_tokens = event.prompt_tokens;
  answer.result.cached_tokens = event.cached_tokens;
  answer.result.prompt_ms = event.prompt_ms;
  answer.result.generation_ms = event.generation_ms;
  return std::move(answer.result);
}

std::vector<ScoreResult> TextGeneration::score(const std::vector<std::vector<int32_t>>& prompts,
                                               int top) {
  std::vector<ScoreResult> results(prompts.size());
  std::vector<Completion> completions(prompts.size());
  size_t submitted = 0;
  std::optional<Error> refused;
  for (; submitted < prompts.size() && !refused; ++submitted) {
    ScoreResult& result = results[submitted];
    Completion& completion = completions[submitted];
    result.ids = prompts[submitted];
    Request request;
    request.prompt = result.ids;
    request.max_tokens = 0;
    request.prompt_logprobs = true;
    request.top_logprobs = top;
    request.on_prompt_token = [&result, top](int, const TokenEvent& event) {
      result.logprobs.push_back(event.logprob);
      if (top > 0) result.top.push_back(event.top);
    };
    request.on_finish = [&completion](const FinishEvent& event) { completion.finish(event); };
    try {
      impl_->engine.submit(std::move(request));
    } catch (const Error& error) {
      refused = error;
      --submitted;  // this one never ran
    }
  }
  // Every request that was accepted writes into this frame: all must end before it does.
  for (size_t i = 0; i < submitted; ++i) {
    try {
      completions[i].wait();
    } catch (const Error& error) {
      if (!refused) refused = error;
    }
  }
  if (refused) throw *refused;
  return results;
}

std::vector<int32_t> TextGeneration::encode_chat(const Json& conversation) const {
  const TextBundle& text = impl_->bundle.text;
  if (!text.tokenizer)
    throw Error(ErrorCode::unsupported, "model: it has no tokenizer; give --ids");
  if (!text.chat_template)
    throw Error(ErrorCode::unsupported,
                "model: it has no chat template; give --raw or --chat-template");
  JsonObject filled = conversation.as_object();
  // A token that the model lacks stays undefined in the template, as in the reference.
  auto fill = [&filled](const char* key, const std::string& value) {
    if (!filled.find(key) && !value.empty()) filled[key] = value;
  };
  fill("bos_token", text.bos_text);
  fill("eos_token", text.eos_text);
  std::string prompt = text.chat_template->render(chat_template_variables(filled));
  return text.tokenizer->encode(prompt, {.add_special = false, .parse_special = true});
}

std::vector<int32_t> TextGeneration::encode_raw(std::string_view raw) const {
  const TextBundle& text = impl_->bundle.text;
  if (!text.tokenizer)
    throw Error(ErrorCode::unsupported, "model: it has no tokenizer; give --ids");
  return text.tokenizer->encode(raw, {});
}

}  // namespace crane
