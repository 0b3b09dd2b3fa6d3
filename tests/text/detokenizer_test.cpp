#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "base/unicode.h"
#include "text/support/tokenizer_files.h"

namespace crane {
namespace {

// Ids are bytes; 256 is a special token "<end>".
class ByteTokenizer : public Tokenizer {
 public:
  std::vector<int32_t> encode(std::string_view text, const EncodeOptions&) const override {
    std::vector<int32_t> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  int vocab_size() const override { return 257; }
  std::string token_bytes(int32_t id) const override {
    return id == 256 ? "<end>" : std::string(1, static_cast<char>(id));
  }
  bool is_special(int32_t id) const override { return id == 256; }
  std::optional<int32_t> find_token(std::string_view) const override { return std::nullopt; }
  std::string model_name() const override { return "bytes"; }
  std::string pre_tokenizer_name() const override { return ""; }
};

std::vector<std::string> stream(std::string_view bytes) {
  const auto tokenizer = std::make_shared<ByteTokenizer>();
  Detokenizer detokenizer(tokenizer, true);
  std::vector<std::string> out;
  for (const char c : bytes) out.push_back(detokenizer.push(static_cast<unsigned char>(c)));
  out.push_back(detokenizer.finish());
  return out;
}

TEST(Detokenizer, HoldsBackIncompleteCodePoints) {
  EXPECT_EQ(stream("a\xF0\x9F\x9A\x80z"),
            (std::vector<std::string>{"a", "", "", "", "\xF0\x9F\x9A\x80", "z", ""}));
  EXPECT_EQ(stream("\xE9\xB9"), (std::vector<std::string>{"", "", "\xEF\xBF\xBD"}));
}

TEST(Detokenizer, IllFormedBytesBecomeReplacementsAtOnce) {
  EXPECT_EQ(stream("\xFFq"), (std::vector<std::string>{"\xEF\xBF\xBD", "q", ""}));
  EXPECT_EQ(stream("\xE9q"), (std::vector<std::string>{"", "\xEF\xBF\xBDq", ""}));
}

TEST(Detokenizer, SpecialTokensAreHiddenOrShown) {
  const auto tokenizer = std::make_shared<ByteTokenizer>();
  Detokenizer hidden(tokenizer, true), shown(tokenizer, false);
  EXPECT_EQ(hidden.push(256) + hidden.push('x') + hidden.finish(), "x");
  EXPECT_EQ(shown.push(256) + shown.push('x') + shown.finish(), "<end>x");
}

TEST(Detokenizer, RandomBytesStreamToWhatDecodeGives) {
  std::mt19937 random(7);
  const auto tokenizer = std::make_shared<ByteTokenizer>();
  for (int round = 0; round < 2000; ++round) {
    std::vector<int32_t> ids;
    for (int i = 0; i < 12; ++i) {
      static constexpr int kBytes[] = {'a',  0x80, 0xBF, 0xC3, 0xE2, 0x82, 0xAC, 0xF0,
                                       0x9F, 0xED, 0xA0, 0xFF, 0xF4, 0x90, 0xC0, 256};
      ids.push_back(kBytes[random() % std::size(kBytes)]);
    }
    Detokenizer detokenizer(tokenizer, true);
    std::string streamed;
    for (const int32_t id : ids) {
      const std::string part = detokenizer.push(id);
      EXPECT_FALSE(find_invalid_utf8(part));
      streamed += part;
    }
    streamed += detokenizer.finish();
    EXPECT_EQ(streamed, tokenizer->decode(ids, true));
  }
}

// A vocabulary with byte tokens: SentencePiece's leading space and byte fallback.
std::shared_ptr<const Tokenizer> byte_fallback_tokenizer() {
  const Json bases = Json::parse(test::read_file(test::golden_folder() + "bases.json"), "bases");
  return make_tokenizer(bases["bpe_sentencepiece"], Json());
}

TEST(Detokenizer, ByteFallbackKeepsWellFormedParts) {
  const auto tokenizer = byte_fallback_tokenizer();
  const auto byte = [&](const char* name) { return *tokenizer->find_token(name); };
  Detokenizer detokenizer(tokenizer, true);
  EXPECT_EQ(detokenizer.push(byte("<0xE9>")), "");
  EXPECT_EQ(detokenizer.push(byte("<0xB9>")), "");
  EXPECT_EQ(detokenizer.push(byte("<0xA4>")), "\xE9\xB9\xA4");
  EXPECT_EQ(detokenizer.push(byte("<0xE9>")), "");
  EXPECT_EQ(detokenizer.push(byte("<0x41>")),
            "\xEF\xBF\xBD"
            "A");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, OnlyTheFirstSpaceOfTheTextIsTakenAway) {
  const auto tokenizer = byte_fallback_tokenizer();
  const int32_t space = *tokenizer->find_token("▁");
  Detokenizer detokenizer(tokenizer, true);
  EXPECT_EQ(detokenizer.push(space), "");
  EXPECT_EQ(detokenizer.push(space), " ");
  EXPECT_EQ(detokenizer.push(space), " ");
}

TEST(Detokenizer, IdsWithoutATokenGiveNothing) {
  const auto tokenizer = byte_fallback_tokenizer();
  Detokenizer detokenizer(tokenizer, true);
  EXPECT_EQ(detokenizer.push(-1), "");
  EXPECT_EQ(detokenizer.push(1 << 30), "");
  EXPECT_EQ(detokenizer.finish(), "");
}

}  // namespace
}  // namespace crane
