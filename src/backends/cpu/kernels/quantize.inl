// Activations to 8-bit codes with one f32 scale per 32.

// Below this a block counts as zero: 127 / peak would overflow.
constexpr float kSmallestPeak = 1e-35f;

void quantize(const QuantizedColumns& out, int64_t group, const float* x, int64_t stride,
              int count) {
  int width = out.width;
  for (int64_t block = 0; block < out.blocks; ++block) {
    int64_t at = (group * out.blocks + block) * width;
    for (int c = 0; c < width; ++c) {
      int8_t codes[kScaleBlock];
      int32_t halves[2] = {0, 0};
      float scale = 0.0f;
      const float* from = x + (c < count ? c : 0) * stride + block * kScaleBlock;
      float peak = c < count ? peak_of_32(from) : 0.0f;
      if (peak < kSmallestPeak) {
        __builtin_memset(codes, 0, sizeof codes);
      } else {
        scale = peak / 127.0f;
        quantize_32(from, 127.0f / peak, codes, halves);
      }
      int16_t pair[4];
      __builtin_memcpy(pair, halves, sizeof pair);
      int16_t both[2] = {(int16_t)(pair[0] + pair[2]), (int16_t)(pair[1] + pair[3])};
      __builtin_memcpy(out.pairs + at + c, both, sizeof both);
      out.half_pairs[2 * at + c] = halves[0];
      out.half_pairs[2 * at + width + c] = halves[1];
      out.scales[at + c] = scale;
      out.sums[at + c] = scale * (float)(both[0] + both[1]);
      int8_t* to = out.codes + at * kScaleBlock + 4 * c;
      for (int g = 0; g < kScaleBlock / 4; ++g)
        __builtin_memcpy(to + 4 * width * g, codes + 4 * g, 4);
    }
  }
}
