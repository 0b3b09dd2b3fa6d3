#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "engine/log_softmax.h"
#include "engine/sampling_params.h"

namespace crane {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

uint64_t seed_of(const SamplingParams& params) {
  if (params.seed) return *params.seed;
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

Sampler::Sampler(const SamplingParams& params, int vocab_size)
    : params_(params),
      breakers_(params.dry_sequence_breakers),
      rng_(seed_of(params)),
      vocab_size_(vocab_size),
      mirostat_mu_(2.0f * params.mirostat_tau) {
  validate(params, vocab_size);
}

int32_t Sampler::sample(std::span<float> row, const History& history,
                        std::span<const int32_t> forbidden, SamplerScratch& scratch) {
  const SamplingParams& p = params_;
  apply_logit_bias(row, p.logit_bias);
  forbid(row, forbidden);
  apply_penalties(row, history.tokens, history.prompt_tokens,
                  {p.penalty_last_n, p.repeat_penalty, p.frequency_penalty, p.presence_penalty},
                  scratch.penalties);
  apply_dry(row, history.tokens,
            {p.dry_multiplier, p.dry_base, p.dry_allowed_length, p.dry_penalty_last_n}, breakers_,
            scratch.penalties);
  if (p.temperature == 0.0f) {
    int32_t best = argmax(row);
    return row[static_cast<size_t>(best)] == kMinusInfinity ? kNone : best;
  }

  Candidates& candidates = scratch.candidates;
  bool filters = p.mirostat == 0;
  if (filters && p.top_n_sigma > 0.0f) {
    candidates.fill(row, top_n_sigma_floor(row, p.top_n_sigma));
    keep_top_k(candidates, p.top_k);
  } else if (filters && p.top_k > 0) {
    candidates.fill_highest(row, static_cast<size_t>(p.top_k));
  } else {
    candidates.fill(row, kMinusInfinity);
  }
  if (candidates.empty()) return kNone;
  if (!filters) return mirostat(candidates);
  filter(candidates);
  return candidates[draw_index(candidates, rng_.uniform())].id;
}

// The rest of the chain, after top-k.
void Sampler::filter(Candidates& candidates) {
  auto min_keep = static_cast<size_t>(std::max(params_.min_keep, 1));
  keep_typical(candidates, params_.typical_p, min_keep);
  keep_top_p(candidates, params_.top_p, min_keep);
  keep_min_p(candidates, params_.min_p, min_keep);
  if (params_.xtc_probability > 0.0f &&
      rng_.uniform() < static_cast<double>(params_.xtc_probability))
    exclude_top_choices(candidates, params_.xtc_threshold, min_keep);
  if (params_.dynamic_temperature_range > 0.0f) {
    apply_dynamic_temperature(candidates, params_.temperature, params_.dynamic_temperature_range,
                              params_.dynamic_temperature_exponent);
  } else {
    apply_temperature(candidates, params_.temperature);
  }
}

// Mirostat keeps the surprise of the text near tau (Basu et al. 2021, arXiv:2007.14966). Version 1
// estimates how many tokens to keep from Zipf's law, version 2 keeps those below the bound.
int32_t Sampler::mirostat(Candidates& candidates) {
  apply_temperature(candidates, params_.temperature);
  if (params_.mirostat == 1) {
    keep_top_k(candidates, mirostat_top_k(candidates, mirostat_mu_, vocab_size_));
  } else {
    keep_surprise_below(candidates, mirostat_mu_);
  }
  size_t index = draw_index(candidates, rng_.uniform());
  double total = 0;
  for (const Candidate& item : candidates.items()) total += static_cast<double>(item.weight);
  double surprise = -std::log2(static_cast<double>(candidates[index].weight) / total);
  mirostat_mu_ -= params_.mirostat_eta * (static_cast<float>(surprise) - params_.mirostat_tau);
  return candidates[index].id;
}

}  // namespace crane
