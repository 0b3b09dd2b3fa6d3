#include "base/checked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace crane {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    return error.what();
  }
  return "";
}

TEST(Checked, Multiplies) {
  EXPECT_EQ(checked_multiply(uint64_t{1} << 32, (uint64_t{1} << 32) - 1, "x"),
            kMax - (uint64_t{1} << 32) + 1);
  EXPECT_EQ(checked_multiply(kMax, 1, "x"), kMax);
  EXPECT_EQ(checked_multiply(kMax, 0, "x"), 0u);
  EXPECT_EQ(refusal([] { checked_multiply(uint64_t{1} << 32, uint64_t{1} << 32, "tensor t"); }),
            "tensor t: size overflow, 4294967296 x 4294967296");
}

TEST(Checked, Adds) {
  EXPECT_EQ(checked_add(kMax - 1, 1, "x"), kMax);
  EXPECT_EQ(refusal([] { checked_add(kMax, 1, "sum"); }),
            "sum: size overflow, 18446744073709551615 + 1");
}

TEST(Checked, AlignsUp) {
  EXPECT_EQ(checked_align_up(0, 32, "x"), 0u);
  EXPECT_EQ(checked_align_up(1, 32, "x"), 32u);
  EXPECT_EQ(checked_align_up(32, 32, "x"), 32u);
  EXPECT_EQ(checked_align_up(33, 1, "x"), 33u);
  EXPECT_EQ(checked_align_up(kMax - 31, 32, "x"), kMax - 31);
  EXPECT_NE(refusal([] { checked_align_up(kMax - 30, 32, "x"); }), "");
}

TEST(Checked, Narrows) {
  EXPECT_EQ(checked_narrow<int32_t>(int64_t{-5}, "x"), -5);
  EXPECT_EQ(checked_narrow<int32_t>(uint64_t{0x7fffffff}, "x"), 0x7fffffff);
  EXPECT_EQ(checked_narrow<uint64_t>(std::numeric_limits<int64_t>::max(), "x"), kMax >> 1);
  EXPECT_NE(refusal([] { checked_narrow<int32_t>(uint64_t{0x80000000}, "x"); }), "");
  EXPECT_NE(refusal([] { checked_narrow<uint32_t>(int64_t{-1}, "x"); }), "");
  EXPECT_NE(refusal([] { checked_narrow<uint64_t>(int64_t{-1}, "x"); }), "");
  EXPECT_NE(refusal([] { checked_narrow<int64_t>(kMax, "x"); }), "");
  EXPECT_EQ(refusal([] { checked_narrow<int8_t>(300, "id"); }), "id: 300 is out of range");
}

}  // namespace
}  // namespace crane
