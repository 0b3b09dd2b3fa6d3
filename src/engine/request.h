// A generation request as the engine sees it: token ids, sampling parameters, limits. Text (stop
// strings, templates) is the pipelines' business.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace crane {

// Fields and defaults as llama.cpp names them; a filter at its neutral value does nothing.
struct SamplingParams {
  float temperature = 0.8f;  // 0: the highest logit, lower id on a tie
  float dynamic_temperature_range = 0.0f;
  float dynamic_temperature_exponent = 1.0f;
  int top_k = 40;       // 0: off
  float top_p = 0.95f;  // 1: off
  float min_p = 0.05f;  // 0: off
  float typical_p = 1.0f;
  float top_n_sigma = -1.0f;  // <= 0: off
  float xtc_probability = 0.0f;
  float xtc_threshold = 0.1f;
  float repeat_penalty = 1.0f;
  float frequency_penalty = 0.0f;
  float presence_penalty = 0.0f;
  int penalty_last_n = -1;  // tokens the penalties look back on; -1: all, 0: none
  float dry_multiplier = 0.0f;
  float dry_base = 1.75f;
  int dry_allowed_length = 2;
  int dry_penalty_last_n = -1;
  std::vector<std::vector<int32_t>> dry_sequence_breakers;
  int mirostat = 0;  // 0, 1 or 2
  float mirostat_tau = 5.0f;
  float mirostat_eta = 0.1f;
  std::optional<uint64_t> seed;                       // absent: from the system's entropy
  std::vector<std::pair<int32_t, float>> logit_bias;  // -inf forbids
  int min_keep = 1;
};

struct TokenLogprob {
  int32_t id = 0;
  float logprob = 0.0f;  // natural, log-softmax of the raw logits
};

// One token that a request produced, or one prompt token that was scored.
struct TokenEvent {
  int32_t id = 0;
  float logprob = 0.0f;           // valid when the request asked for log-probs
  std::vector<TokenLogprob> top;  // the likeliest tokens at this position, best first
};

enum class FinishReason { stop, length, cancelled, error };

struct FinishEvent {
  FinishReason reason = FinishReason::stop;
  std::optional<Error> error;  // with reason `error`
  int prompt_tokens = 0;
  int cached_tokens = 0;  // of the prompt, found in the prefix cache
  int generated_tokens = 0;
  double queue_ms = 0, prompt_ms = 0, generation_ms = 0;
};

struct Request {
  std::vector<int32_t> prompt;
  SamplingParams sampling;
  int max_tokens = -1;  // generated tokens; -1: until a stop or the context is full; 0: none
  int min_tokens = 0;   // stop ids are forbidden before
  std::vector<int32_t> stop_ids;
  bool ignore_eos = false;       // stop_ids do not end the answer
  bool logprobs = false;         // of the generated tokens
  bool prompt_logprobs = false;  // of the prompt tokens, by on_prompt_token
  int top_logprobs = 0;

  // Called on the engine's thread, in order; must be quick and must not throw (an exception ends
  // the request as `internal`). on_prompt_token(i, event): event.logprob is that of prompt[i] given
  // the ids before it (absent for i = 0: NaN), event.top the likeliest tokens after prompt[0..i].
  std::function<void(int index, const TokenEvent&)> on_prompt_token;
  std::function<void(const TokenEvent&)> on_token;    // not called for the stop id that ends it
  std::function<void(const FinishEvent&)> on_finish;  // once, last
};

}  // namespace crane
