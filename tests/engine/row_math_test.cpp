#include "engine/row_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace crane {
namespace {

TEST(RowMath, ExpIsTheCLibrarysToAFewBits) {
  for (double x = 0; x > -87; x -= 0.00137) {
    auto value = static_cast<float>(x);
    double expected = std::exp(static_cast<double>(value));
    ASSERT_NEAR(static_cast<double>(exp_negative(value)), expected, 2e-7 * expected) << x;
  }
  EXPECT_EQ(exp_negative(0.0f), 1.0f);
  EXPECT_GT(exp_negative(-87.3f), 0.0f);
  EXPECT_EQ(exp_negative(-87.8f), 0.0f);
  EXPECT_EQ(exp_negative(-1e30f), 0.0f);
  EXPECT_EQ(exp_negative(-std::numeric_limits<float>::infinity()), 0.0f);
}

struct Entry {
  int32_t id;
  float value;
};

TEST(RowMath, SelectHighestEqualsASort) {
  for (size_t size : {1u, 63u, 64u, 65u, 1000u}) {
    std::vector<float> row(size);
    for (size_t i = 0; i < size; ++i) row[i] = static_cast<float>(i * 7919 % 101);
    row[size / 2] = -std::numeric_limits<float>::infinity();
    std::vector<Entry> expected;
    for (size_t i = 0; i < size; ++i)
      if (std::isfinite(row[i])) expected.push_back({static_cast<int32_t>(i), row[i]});
    auto before = [](const Entry& a, const Entry& b) {
      return a.value != b.value ? a.value > b.value : a.id < b.id;
    };
    std::sort(expected.begin(), expected.end(), before);
    for (size_t count : {0u, 1u, 5u, 64u, 2000u}) {
      std::vector<Entry> got;
      select_highest(row, count, got, before, [](size_t index, float value) {
        return Entry{static_cast<int32_t>(index), value};
      });
      ASSERT_EQ(got.size(), std::min(count, expected.size()));
      for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].id, expected[i].id);
    }
  }
}

}  // namespace
}  // namespace crane
