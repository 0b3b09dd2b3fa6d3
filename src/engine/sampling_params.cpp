#include "engine/sampling_params.h"

#include <cmath>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();

template <class T>
[[noreturn]] void refuse(std::string_view name, T value, std::string_view expected) {
  throw Error(ErrorCode::invalid_argument,
              cat("sampling: ", name, " is ", value, ", expected ", expected));
}

// NaN fails too.
void in_range(std::string_view name, float value, float least, float most) {
  if (value >= least && value <= most) return;
  if (most == kLargest) refuse(name, value, cat("a number from ", least, " up"));
  refuse(name, value, cat("a number from ", least, " to ", most));
}

void at_least(std::string_view name, int value, int least) {
  if (value < least) refuse(name, value, cat("an integer from ", least, " up"));
}

void valid_id(std::string_view name, int32_t id, int vocab_size) {
  if (id < 0 || id >= vocab_size)
    refuse(cat("a token id in ", name), id, cat("0 to ", vocab_size - 1));
}

void validate_bias(const SamplingParams& params, int vocab_size) {
  for (const auto& entry : params.logit_bias) {
    valid_id("logit_bias", entry.first, vocab_size);
    if (entry.second == -std::numeric_limits<float>::infinity()) continue;  // forbids
    in_range("a value in logit_bias", entry.second, -1e9f, 1e9f);
  }
}

}  // namespace

void validate(const SamplingParams& params, int vocab_size) {
  in_range("temperature", params.temperature, 0, kLargest);
  in_range("dynatemp_range", params.dynamic_temperature_range, 0, kLargest);
  in_range("dynatemp_exponent", params.dynamic_temperature_exponent, 0, kLargest);
  at_least("top_k", params.top_k, -1);
  in_range("top_p", params.top_p, 0, 1);
  in_range("min_p", params.min_p, 0, 1);
  in_range("typical_p", params.typical_p, 0, 1);
  in_range("top_n_sigma", params.top_n_sigma, -kLargest, kLargest);
  in_range("xtc_probability", params.xtc_probability, 0, 1);
  in_range("xtc_threshold", params.xtc_threshold, 0, 1);
  in_range("repeat_penalty", params.repeat_penalty, std::numeric_limits<float>::min(), kLargest);
  in_range("frequency_penalty", params.frequency_penalty, -2, 2);
  in_range("presence_penalty", params.presence_penalty, -2, 2);
  at_least("repeat_last_n", params.penalty_last_n, -1);
  in_range("dry_multiplier", params.dry_multiplier, 0, kLargest);
  in_range("dry_base", params.dry_base, 0, kLargest);
  at_least("dry_allowed_length", params.dry_allowed_length, 0);
  at_least("dry_penalty_last_n", params.dry_penalty_last_n, -1);
  for (const auto& sequence : params.dry_sequence_breakers)
    for (int32_t id : sequence) valid_id("dry_sequence_breakers", id, vocab_size);
  if (params.mirostat < 0 || params.mirostat > 2) refuse("mirostat", params.mirostat, "0, 1 or 2");
  in_range("mirostat_tau", params.mirostat_tau, 0, kLargest);
  in_range("mirostat_eta", params.mirostat_eta, 0, kLargest);
  at_least("min_keep", params.min_keep, 0);
  validate_bias(params, vocab_size);
}

}  // namespace crane
