// Loops over a row of logits that the compiler can turn into vectors: they run over a whole
// vocabulary for every token.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace crane {

// exp(x) for x <= 0, to 2e-7 of its value; 0 below -87.7. Not the C library's, so that the same
// seed gives the same tokens on every machine. Coefficients: Cephes' expf (S. Moshier).
inline float exp_negative(float x) {
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23
  // max(x, -88) on the bits: a comparison of floats may trap, which keeps loops from being vectors.
  int32_t magnitude = std::bit_cast<int32_t>(x) & 0x7fffffff;
  float bounded = -std::bit_cast<float>(std::min(magnitude, std::bit_cast<int32_t>(88.0f)));
  float shifted = bounded * 1.44269504f + kRounder;  // the nearest integer, in the low bits
  float power = shifted - kRounder;
  float r = bounded - power * 0.693359375f - power * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // 2^power by its exponent bits; they are all zero for -127, and so is the result.
  return p * std::bit_cast<float>((std::bit_cast<uint32_t>(shifted) + 127u) << 23);
}

// The `count` highest entries of the row in order, the lower index first on a tie, as Items made by
// make(index, value). Entries at minus infinity are left out. Items are compared by `before`.
template <class Item, class Before, class Make>
void select_highest(std::span<const float> row, size_t count, std::vector<Item>& out, Before before,
                    Make make) {
  constexpr size_t kBlock = 64;
  out.clear();
  if (count == 0) return;
  // A heap whose front is the worst of the best so far; whole blocks without a better one are
  // skipped. Indices ascend, so an equal value never replaces one.
  float worst = -std::numeric_limits<float>::infinity();
  for (size_t begin = 0; begin < row.size(); begin += kBlock) {
    std::span<const float> block = row.subspan(begin, std::min(kBlock, row.size() - begin));
    uint32_t any = 0;
    for (float value : block) any |= static_cast<uint32_t>(value > worst);
    if (any == 0) continue;
    for (size_t i = 0; i < block.size(); ++i) {
      if (!(block[i] > worst)) continue;
      if (out.size() == count) {
        std::pop_heap(out.begin(), out.end(), before);
        out.pop_back();
      }
      out.push_back(make(begin + i, block[i]));
      std::push_heap(out.begin(), out.end(), before);
      if (out.size() == count) worst = row[static_cast<size_t>(out.front().id)];
    }
  }
  std::sort_heap(out.begin(), out.end(), before);
}

}  // namespace crane
