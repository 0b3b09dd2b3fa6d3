#include "engine/log_softmax.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "engine/row_math.h"

namespace crane {
namespace {

// Independent partial results, so that the compiler may use vectors without reordering anything.
constexpr size_t kLanes = 16;

bool likelier(const TokenLogprob& a, const TokenLogprob& b) {
  return a.logprob != b.logprob ? a.logprob > b.logprob : a.id < b.id;
}

}  // namespace

bool all_finite(std::span<const float> row) {
  constexpr uint32_t kExponent = 0x7f800000u;
  uint32_t special = 0;
  for (float value : row) special |= (std::bit_cast<uint32_t>(value) & kExponent) == kExponent;
  return special == 0;
}

float maximum(std::span<const float> row) {
  check(!row.empty(), "maximum: an empty row");
  std::array<float, kLanes> best;
  best.fill(row[0]);
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      best[lane] = row[i + lane] > best[lane] ? row[i + lane] : best[lane];
  for (; i < row.size(); ++i) best[0] = std::max(best[0], row[i]);
  return *std::max_element(best.begin(), best.end());
}

int32_t argmax(std::span<const float> row) {
  float best = maximum(row);
  return static_cast<int32_t>(std::find(row.begin(), row.end(), best) - row.begin());
}

double log_sum_exp(std::span<const float> row) {
  float top = maximum(row);
  std::array<double, kLanes> sums{};
  size_t i = 0;
  for (; i + kLanes <= row.size(); i += kLanes) {
    std::array<float, kLanes> terms;
    for (size_t lane = 0; lane < kLanes; ++lane) terms[lane] = exp_negative(row[i + lane] - top);
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += static_cast<double>(terms[lane]);
  }
  for (; i < row.size(); ++i) sums[0] += static_cast<double>(exp_negative(row[i] - top));
  double sum = 0;
  for (double part : sums) sum += part;
  return static_cast<double>(top) + std::log(sum);
}

void top_logprobs(std::span<const float> row, double log_sum, int count,
                  std::vector<TokenLogprob>& out) {
  // Logits are compared, not log-probs, whose rounding could make ties of different values.
  auto size = std::min(static_cast<size_t>(std::max(count, 0)), row.size());
  select_highest(row, size, out, likelier, [](size_t index, float value) {
    return TokenLogprob{static_cast<int32_t>(index), value};
  });
  for (TokenLogprob& entry : out)
    entry.logprob = static_cast<float>(static_cast<double>(entry.logprob) - log_sum);
}

}  // namespace crane
