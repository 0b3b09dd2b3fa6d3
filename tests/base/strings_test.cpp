#include "base/strings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace crane {
namespace {

using ::testing::ElementsAre;

TEST(Strings, CatJoinsPiecesOfEveryKind) {
  std::string name = "blk";
  EXPECT_EQ(cat("tensor ", name, '.', 3, ": ", size_t{7}, " of ", int64_t{-9}, " ", true, " ",
                std::string_view("view")),
            "tensor blk.3: 7 of -9 true view");
  EXPECT_EQ(cat(), "");
  EXPECT_EQ(cat(uint8_t{65}, " ", int8_t{-1}), "65 -1");  // numbers, not characters
}

TEST(Strings, ShortestFloatsReadBack) {
  EXPECT_EQ(to_shortest(0.1f), "0.1");
  EXPECT_EQ(to_shortest(0.1), "0.1");
  EXPECT_EQ(to_shortest(1e-6f), "1e-06");
  EXPECT_EQ(to_shortest(-0.0), "-0");
  EXPECT_EQ(to_shortest(1e6f), "1e+06");
  EXPECT_EQ(to_shortest(std::nan("")), "nan");
  EXPECT_EQ(to_shortest(std::numeric_limits<float>::infinity()), "inf");
  EXPECT_EQ(to_shortest(-std::numeric_limits<double>::infinity()), "-inf");
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(std::strtod(to_shortest(value).c_str(), nullptr), value);
    float narrow = static_cast<float>(value);
    if (std::isfinite(narrow)) {
      EXPECT_EQ(std::strtof(to_shortest(narrow).c_str(), nullptr), narrow);
    }
  }
}

TEST(Strings, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(",", ','), ElementsAre("", ""));
  EXPECT_THAT(split("abc", ','), ElementsAre("abc"));
}

TEST(Strings, JoinIsTheInverse) {
  EXPECT_EQ(join({"a", "", "c"}, ", "), "a, , c");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"only"}, ", "), "only");
}

TEST(Strings, LowerCaseTouchesAsciiOnly) {
  EXPECT_EQ(to_lower_ascii("AbZ-09 \xc3\x84"), "abz-09 \xc3\x84");
}

TEST(Strings, NearestMatchSuggestsOnlyWhatIsNear) {
  std::vector<std::string> names = {"temperature", "top_k", "top_p", "threads"};
  EXPECT_EQ(nearest_match("temprature", names), "temperature");
  EXPECT_EQ(nearest_match("topk", names), "top_k");
  EXPECT_EQ(nearest_match("top_p", names), "top_p");
  EXPECT_EQ(nearest_match("grammar", names), "");
  EXPECT_EQ(nearest_match("", names), "");
  EXPECT_EQ(nearest_match("x", {}), "");
}

}  // namespace
}  // namespace crane
