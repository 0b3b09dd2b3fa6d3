#include "base/rng.h"

#include <gtest/gtest.h>

#include <set>

namespace crane {
namespace {

// The known answers of the rand_xoshiro crate, which come from the authors' C code.
TEST(Rng, IsXoshiro256PlusPlus) {
  Rng rng(std::array<uint64_t, 4>{1, 2, 3, 4});
  const uint64_t expected[] = {41943041ull,
                               58720359ull,
                               3588806011781223ull,
                               3591011842654386ull,
                               9228616714210784205ull,
                               9973669472204895162ull,
                               14011001112246962877ull,
                               12406186145184390807ull,
                               15849039046786891736ull,
                               10450023813501588000ull};
  for (uint64_t value : expected) EXPECT_EQ(rng.next(), value);
}

// splitmix64 from 1234567: 6457827717110365317, 3203168211198807973, 9817491932198370423,
// 4593380528125082431 (https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64).
TEST(Rng, IsSeededBySplitmix64) {
  Rng seeded(1234567);
  Rng expected(std::array<uint64_t, 4>{6457827717110365317ull, 3203168211198807973ull,
                                       9817491932198370423ull, 4593380528125082431ull});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(seeded.next(), expected.next());
}

TEST(Rng, UniformIsInRangeAndEven) {
  Rng rng(1);
  int counts[16] = {};
  for (int i = 0; i < 160000; ++i) {
    double value = rng.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    ++counts[static_cast<int>(value * 16)];
  }
  double chi_squared = 0;
  for (int count : counts) chi_squared += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi_squared, 45);  // 15 degrees of freedom, p < 1e-4
}

TEST(Rng, SeedsDiffer) {
  std::set<uint64_t> first;
  for (uint64_t seed = 0; seed < 1000; ++seed) first.insert(Rng(seed).next());
  EXPECT_EQ(first.size(), 1000u);
}

}  // namespace
}  // namespace crane
