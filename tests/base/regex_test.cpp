// Expected matches: Oniguruma's, through `tokenizers.pre_tokenizers.Split` (the same patterns are
// in tests/golden/tokenizers/families.py).
#include "base/regex.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/regex_dialect.h"

namespace crane {
namespace {

std::vector<std::string> all_matches(std::string_view pattern, std::string_view text) {
  std::vector<std::string> out;
  Regex(pattern).for_each(text, [&](RegexMatch match) {
    out.emplace_back(text.substr(match.begin, match.end - match.begin));
  });
  return out;
}

using Strings = std::vector<std::string>;

TEST(Regex, FindsFromAPosition) {
  const Regex regex("b+");
  const auto match = regex.find("abbcb", 1);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->begin, 1u);
  EXPECT_EQ(match->end, 3u);
  EXPECT_EQ(regex.find("abbcb", 3)->begin, 4u);
  EXPECT_FALSE(regex.find("xyz"));
  EXPECT_EQ(regex.pattern(), "b+");
}

TEST(Regex, SpaceIsUnicodeWhiteSpace) {
  EXPECT_EQ(all_matches(R"(\s)", "a\u180eb\u3000c\u0085d\u200b"), (Strings{"\u3000", "\u0085"}));
  EXPECT_EQ(all_matches(R"(\S+)", "a\u180eb c"), (Strings{"a\u180eb", "c"}));
  EXPECT_EQ(all_matches(R"([^\S\n]+)", "a \n\t b"), (Strings{" ", "\t "}));
}

TEST(Regex, LettersOfUnicode16) {
  EXPECT_EQ(all_matches(R"(\p{L}+)", "\U00010d50\U00031350!x"),
            (Strings{"\U00010d50\U00031350", "x"}));
  EXPECT_EQ(all_matches(R"([^\p{L}]+)", "\U00010d50!x"), (Strings{"!"}));
}

TEST(Regex, OnigurumaDialect) {
  EXPECT_EQ(all_matches(R"(\h+)", "xyzAF09 "), (Strings{"AF09"}));
  EXPECT_EQ(all_matches(R"(\p{N}{2,3}+)", "12345 1"), (Strings{"12345"}));
  EXPECT_EQ(all_matches(R"([a-z&&[^aeiou]]+)", "hello"), (Strings{"h", "ll"}));
  EXPECT_EQ(all_matches(R"([a[0-9]_]+)", "x1a_2b"), (Strings{"1a_2"}));
  EXPECT_EQ(all_matches(R"(^a|b$)", "ab\nab"), (Strings{"a", "b", "a", "b"}));
  EXPECT_EQ(all_matches(R"((?m:a.b))", "a\nb"), (Strings{"a\nb"}));
  EXPECT_EQ(all_matches(R"(a.b)", "a\nb"), Strings{});
  EXPECT_EQ(all_matches(R"((?i:'s|'ll))", "'S 'LL 'x"), (Strings{"'S", "'LL"}));
  EXPECT_EQ(all_matches(R"((.)\1)", "aabccd"), (Strings{"aa", "cc"}));
  EXPECT_EQ(all_matches(R"(\bb)", "ab b½b b"), (Strings{"b", "b"}));
  EXPECT_EQ(all_matches(R"([\p{Hiragana}ー]+)", "カなーa"), (Strings{"なー"}));
  EXPECT_EQ(all_matches(R"(x{,2}y|{z)", "xxy {z"), (Strings{"xxy", "{z"}));
  EXPECT_EQ(all_matches(R"(\u00e9\x{1F680}\t)", "é🚀\t"), (Strings{"é🚀\t"}));
}

TEST(Regex, EmptyMatchesDoNotRepeat) {
  EXPECT_EQ(all_matches("", "aé").size(), 3u);
  EXPECT_EQ(all_matches("a*", "baac"), (Strings{"", "aa", ""}));
}

TEST(Regex, WhatCannotBeSaidIsRefusedByName) {
  for (const char* pattern : {"(", "[a", "a)", "*a", "\\", "\\p{NoSuch}", "[[:alpha:]]", "(?x)a b",
                              "(?~ab)", "\\p", "(?<=a+)b", "a{70000}", "\xff", "[[:nonsense:]x"}) {
    try {
      Regex regex(pattern);
      ADD_FAILURE() << pattern << " compiled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << pattern;
      EXPECT_NE(std::string(error.what()).find(pattern), std::string::npos) << error.what();
    }
  }
}

TEST(Regex, DeepAndHugePatternsAreRefused) {
  EXPECT_THROW(Regex(std::string(100000, '(') + std::string(100000, ')')), Error);
  EXPECT_THROW(Regex(std::string(300, '(') + std::string(300, ')')), Error);
  EXPECT_THROW(Regex(std::string(300, '[') + "a" + std::string(300, ']')), Error);
}

TEST(Regex, RunawayMatchesEndWithAnErrorThatNamesThePattern) {
  const Regex regex(R"((a+)+$)");
  try {
    regex.find(std::string(40, 'a') + "b");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("(a+)+$"), std::string::npos);
  }
}

TEST(Regex, LongSubjectsNeedNoMachineStack) {
  const std::string text(1'000'000, 'a');
  EXPECT_EQ(Regex("(?:a|b)+c?").find(text)->end, text.size());
}

TEST(Regex, OneRegexServesManyThreads) {
  const Regex regex(R"(\p{L}+)");
  std::vector<std::thread> threads;
  std::vector<int> counts(4);
  for (size_t i = 0; i < counts.size(); ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round)
        regex.for_each("one two three", [&](RegexMatch) { ++counts[i]; });
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : counts) EXPECT_EQ(count, 600);
}

}  // namespace
}  // namespace crane
