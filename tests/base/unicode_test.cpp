// Expected values: The Unicode Standard (tables 3-8 to 3-11, UAX 15), and Python's str.
#include "base/unicode.h"

#include <gtest/gtest.h>

namespace crane {
namespace {

constexpr const char* kBad = "\xEF\xBF\xBD";

std::string repeat(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Utf8, DecodesEveryLength) {
  for (const auto& [text, c] :
       std::vector<std::pair<std::string, char32_t>>{{"a", U'a'},
                                                     {"é", 0xE9},
                                                     {"鹤", 0x9E64},
                                                     {"🚀", 0x1F680},
                                                     {"\xF4\x8F\xBF\xBF", 0x10FFFF}}) {
    const DecodedCodePoint decoded = decode_utf8(text, 0);
    EXPECT_TRUE(decoded.valid);
    EXPECT_EQ(decoded.code_point, c);
    EXPECT_EQ(decoded.length, static_cast<int>(text.size()));
    std::string back;
    append_utf8(back, c);
    EXPECT_EQ(back, text);
  }
}

TEST(Utf8, MaximalIllFormedParts) {
  // Table 3-8: the bytes of a non-shortest form, of surrogates, beyond U+10FFFF, truncated.
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), repeat(kBad, 8) + "A");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), repeat(kBad, 8) + "A");
  EXPECT_EQ(replace_invalid_utf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            repeat(kBad, 5) + "A" + repeat(kBad, 2) + "B");
  EXPECT_EQ(replace_invalid_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), repeat(kBad, 4) + "A");
  EXPECT_EQ(replace_invalid_utf8("plain é"), "plain é");
}

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(find_invalid_utf8("é鹤🚀"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("ab\x80"), std::optional<size_t>(2));
  EXPECT_EQ(find_invalid_utf8("ab\xE9\xB9"), std::optional<size_t>(2));
}

TEST(Utf8, CompletePrefixLeavesOnlyWhatBytesCouldComplete) {
  EXPECT_EQ(complete_utf8_prefix("abc"), 3u);
  EXPECT_EQ(complete_utf8_prefix("ab\xE9\xB9"), 2u);
  EXPECT_EQ(complete_utf8_prefix("ab\xF0\x9F\x9A"), 2u);
  EXPECT_EQ(complete_utf8_prefix("ab\xF0"), 2u);
  EXPECT_EQ(complete_utf8_prefix("ab\x80\x80"), 4u);  // nothing begins here
  EXPECT_EQ(complete_utf8_prefix("\xED\xA0"), 2u);    // a surrogate never completes
  EXPECT_EQ(complete_utf8_prefix("é"), 2u);
  EXPECT_EQ(complete_utf8_prefix(""), 0u);
}

TEST(Normalize, Forms) {
  EXPECT_EQ(normalize("e\u0301 Å \u1100\u1161\u11a8", NormalForm::nfc), "é Å 각");
  EXPECT_EQ(normalize("é각", NormalForm::nfd), "e\u0301\u1100\u1161\u11a8");
  EXPECT_EQ(normalize("ﬁ²ｶﾞ", NormalForm::nfkc), "fi2ガ");
  EXPECT_EQ(normalize("ﬁé", NormalForm::nfkd), "fie\u0301");
  EXPECT_EQ(normalize("a\u0315\u0300", NormalForm::nfc), "à\u0315");  // reordered, then composed
  EXPECT_EQ(normalize("q\u0307\u0323", NormalForm::nfd), "q\u0323\u0307");
  EXPECT_EQ(normalize("plain", NormalForm::nfkc), "plain");
}

TEST(Normalize, CodePointsNewerThanTheReferenceStayAsTheyAre) {
  EXPECT_EQ(normalize("\U00011935\U00011930", NormalForm::nfc), "\U00011935\U00011930");
  EXPECT_EQ(normalize("\U00010781", NormalForm::nfkc), "\U00010781");
  EXPECT_EQ(normalize("x\U00010781e\u0301", NormalForm::nfkc), "x\U00010781é");
}

TEST(CodePoints, Classes) {
  EXPECT_TRUE(is_white_space(0x3000) && is_white_space(0x85) && !is_white_space(0x200B));
  EXPECT_FALSE(is_white_space(0x180E));  // since Unicode 6.3
  EXPECT_TRUE(is_punctuation(U'$') && is_punctuation(U'。') && !is_punctuation(U'€'));
  EXPECT_TRUE(is_control(0x7F) && is_control(0x9F) && !is_control(0xAD));
  EXPECT_TRUE(is_nonspacing_mark(0x301) && !is_nonspacing_mark(0x903));
  EXPECT_TRUE(is_letter(U'é') && is_letter(U'鹤') && !is_letter(U'1'));
  EXPECT_TRUE(is_number(U'½') && is_number(U'Ⅷ') && !is_number(U'x'));
  EXPECT_TRUE(is_decimal_digit(U'٣') && !is_decimal_digit(U'½'));
  EXPECT_TRUE(is_word(U'_') && is_word(0x301) && !is_word(U'-'));
  EXPECT_EQ(script_of(U'a'), script_of(U'é'));
  EXPECT_NE(script_of(U'a'), script_of(U'я'));
  EXPECT_EQ(script_of(0x10FFFF), 0);
}

TEST(CodePoints, CaseMappings) {
  EXPECT_EQ(to_lower("ΣΊΣΥΦΟΣ ΣΑΣ. İ ÉǅẞΣ"), "σίσυφος σας. i\u0307 éǆßς");
  EXPECT_EQ(to_upper("straße ŉ ﬁ éǆ ΐ"), "STRASSE ʼN FI ÉǄ Ι\u0308\u0301");
  std::string each;
  append_lower(each, U'Σ');
  EXPECT_EQ(each, "σ");
}

TEST(CodePoints, Graphemes) {
  EXPECT_EQ(split_graphemes("e\u0301x👩\u200d🚀\r\n"),
            (std::vector<std::string_view>{"e\u0301", "x", "👩\u200d🚀", "\r\n"}));
  EXPECT_TRUE(split_graphemes("").empty());
}

}  // namespace
}  // namespace crane
