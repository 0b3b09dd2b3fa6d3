// Log-probabilities of one row of raw logits, and the likeliest tokens.
//
// logprob(i) = x_i - max - log(sum exp(x_j - max)); the sum is carried in double, so that a
// vocabulary of 300,000 adds no error to the f32 logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/request.h"

namespace crane {

// Whether every value is finite.
bool all_finite(std::span<const float> row);

// The largest value; the row must not be empty.
float maximum(std::span<const float> row);

// The lowest index that has the largest value.
int32_t argmax(std::span<const float> row);

// log(sum exp(x)).
double log_sum_exp(std::span<const float> row);

// The `count` likeliest tokens, best first, lower id first on a tie, written to `out`.
void top_logprobs(std::span<const float> row, double log_sum, int count,
                  std::vector<TokenLogprob>& out);

}  // namespace crane
