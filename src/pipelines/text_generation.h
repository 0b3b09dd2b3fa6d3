// TextGeneration: text in, text deltas out, on one engine: tokenizer, stop strings, streaming
// detokenizer. Thread-safe: several requests may run at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "pipelines/model_bundle.h"

namespace crane {

struct GenerationRequest {
  std::vector<int32_t> prompt_ids;
  SamplingParams sampling;
  int max_tokens = -1;
  int min_tokens = 0;
  bool ignore_eos = false;
  std::vector<std::string> stop_strings;
  std::vector<int32_t> stop_ids;  // besides the model's
};

struct GenerationResult {
  std::string text;          // without control tokens and without the stop string
  std::vector<int32_t> ids;  // generated, without the stop id that ended it
  FinishReason reason = FinishReason::stop;
  int prompt_tokens = 0, cached_tokens = 0;
  double prompt_ms = 0, generation_ms = 0;
};

struct ScoreResult {
  std::vector<int32_t> ids;
  std::vector<float> logprobs;                 // [ids]; entry 0 has no value (NaN)
  std::vector<std::vector<TokenLogprob>> top;  // [ids] when asked for
};

class TextGeneration {
 public:
  TextGeneration(ModelBundle& bundle, const EngineOptions& options);
  ~TextGeneration();

  // Blocks until the answer is complete. on_text receives whole code points as they become certain
  // and never changes what it has given; returning false cancels. A failed request throws its
  // Error.
  GenerationResult generate(const GenerationRequest& request,
                            const std::function<bool(std::string_view)>& on_text = {});

  // Log-probs of every id given those before it, all as prompt tokens, in one batch.
  std::vector<ScoreResult> score(const std::vector<std::vector<int32_t>>& prompts, int top);

  // Prompt ids of a conversation through the chat template, or of raw text by the tokenizer's rule.
  // Both throw Error(unsupported) when the model has no template or no tokenizer.
  std::vector<int32_t> encode_chat(const Json& conversation) const;
  std::vector<int32_t> encode_raw(std::string_view text) const;

  Engine& engine();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace crane
