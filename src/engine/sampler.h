// Sampler: one request's way from a row of logits to a token.
//
// The chain, llama.cpp's order and meaning (its src/llama-sampler.cpp and common/sampling.cpp):
//   logit bias and forbidden ids, repetition / frequency / presence penalties, DRY,
//   top-n-sigma, top-k, typical, top-p, min-p, XTC, temperature, draw.
// Temperature 0 takes the highest logit after DRY, the lower id on a tie. Mirostat 1 and 2 stand in
// for the filters from top-n-sigma to XTC, after the temperature.
//
// Where this differs from llama.cpp, on purpose:
//   - the frequency and presence penalties count generated tokens only (OpenAI's rule); the
//     repetition penalty and DRY count prompt and generated tokens, as llama.cpp does
//   - penalties and DRY also act with mirostat; temperature 0 wins over it and over XTC
//   - equal logits are ordered by id, so that a result never depends on a sort's whims
//
// A token depends on the row, the history, the parameters and the request's own generator, which
// advances by a fixed number of draws per token: never on other requests or on scheduling.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "engine/request.h"
#include "engine/sampling_filters.h"
#include "engine/sampling_penalties.h"

namespace crane {

// Buffers that all requests of an engine share. No allocation after the first tokens.
struct SamplerScratch {
  Candidates candidates;
  PenaltyScratch penalties;
};

class Sampler {
 public:
  static constexpr int32_t kNone = -1;

  // The tokens before the one to sample. The first `prompt_tokens` were not generated.
  struct History {
    std::span<const int32_t> tokens;
    int prompt_tokens = 0;
  };

  // Throws Error(invalid_argument) naming the parameter, its value and its range.
  Sampler(const SamplingParams& params, int vocab_size);

  // The next token, or kNone when every token is forbidden. `row` must be finite and is changed.
  int32_t sample(std::span<float> row, const History& history, std::span<const int32_t> forbidden,
                 SamplerScratch& scratch);

 private:
  int32_t draw(Candidates& candidates);
  void filter(Candidates& candidates);
  int32_t mirostat(Candidates& candidates);

  SamplingParams params_;
  DryBreakers breakers_;
  Rng rng_;
  int vocab_size_;
  float mirostat_mu_;  // the largest surprise allowed, in bits
};

}  // namespace crane
