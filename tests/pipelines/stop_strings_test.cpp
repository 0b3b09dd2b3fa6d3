#include "pipelines/stop_strings.h"

#include <gtest/gtest.h>

namespace crane {
namespace {

// Feeds `text` cut at every given position; the result must not depend on the cuts.
std::string run(const std::vector<std::string>& stops, const std::string& text, size_t piece) {
  StopStrings finder(stops);
  std::string out;
  for (size_t at = 0; at < text.size(); at += piece) out += finder.push(text.substr(at, piece));
  return out + finder.finish();
}

struct Case {
  std::vector<std::string> stops;
  std::string text, expected;
};

class StopStringsTest : public testing::TestWithParam<Case> {};

TEST_P(StopStringsTest, SameForEveryCut) {
  const Case& c = GetParam();
  for (size_t piece = 1; piece <= c.text.size(); ++piece)
    EXPECT_EQ(run(c.stops, c.text, piece), c.expected) << "pieces of " << piece;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, StopStringsTest,
    testing::Values(Case{{}, "as it is", "as it is"}, Case{{""}, "empty stop", "empty stop"},
                    Case{{"DEFGHIJ"}, "DEFGHIJKLM", ""},
                    Case{{"beta gamma"}, "alpha beta gamma delta", "alpha "},
                    Case{{"own fox"}, "The quick brown fox", "The quick br"},
                    Case{{"abx"}, "aabab", "aabab"},  // held to the end, then released
                    Case{{"aab"}, "aaaab", "aa"},     // a match that begins inside a failed one
                    Case{{"\n\n", "END"}, "one\ntwo\nEND\n\n", "one\ntwo\n"},
                    Case{{"\xc3\xa9t"}, "caf\xc3\xa9 \xc3\xa9t\xc3\xa9", "caf\xc3\xa9 "}));

TEST(StopStrings, EarliestMatchWins) {
  StopStrings finder({"ab", "abc", "bcd"});
  EXPECT_EQ(finder.push("xxabcd"), "xx");
  EXPECT_TRUE(finder.matched());
  EXPECT_EQ(finder.push("more"), "");
  EXPECT_EQ(finder.finish(), "");
}

TEST(StopStrings, HoldsOnlyWhatMayMatch) {
  StopStrings finder({"stop"});
  EXPECT_EQ(finder.push("go st"), "go ");
  EXPECT_EQ(finder.push("x"), "stx");
  EXPECT_FALSE(finder.matched());
}

}  // namespace
}  // namespace crane
