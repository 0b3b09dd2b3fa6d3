// Rng: xoshiro256++ 1.0 by David Blackman and Sebastiano Vigna (public domain,
// https://prng.di.unimi.it/xoshiro256plusplus.c), seeded by splitmix64 as its authors advise.
//
// One per request, so that a request's draws do not depend on what else runs.
#pragma once

#include <array>
#include <cstdint>

namespace crane {

class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15ull;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
      word = z ^ (z >> 31);
    }
  }
  explicit Rng(const std::array<uint64_t, 4>& state) : state_(state) {}

  uint64_t next() {
    uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  static uint64_t rotate(uint64_t value, int bits) {
    return (value << bits) | (value >> (64 - bits));
  }
  std::array<uint64_t, 4> state_{};
};

}  // namespace crane
