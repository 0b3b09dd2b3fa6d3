// Ids and decodings of small tokenizers of every kind, against the reference's
// (tests/golden/tokenizers/make_goldens.py).
#include <gtest/gtest.h>

#include "text/detokenizer.h"
#include "text/support/tokenizer_files.h"

namespace crane {
namespace {

std::vector<int32_t> ids_of(const Json& json) {
  std::vector<int32_t> out;
  for (const Json& id : json.as_array()) out.push_back(static_cast<int32_t>(id.as_integer()));
  return out;
}

class TokenizerGolden : public testing::Test {
 protected:
  static Json load(const std::string& name) {
    return Json::parse(test::read_file(test::golden_folder() + name), name);
  }

  // A base with some of its keys replaced.
  std::shared_ptr<const Tokenizer> assemble(const Json& row) const {
    Json spec = bases_[row["base"].as_string()];
    for (const auto& [key, value] : row["override"].as_object()) spec.as_object()[key] = value;
    return make_tokenizer(spec, Json());
  }

  void check(const std::shared_ptr<const Tokenizer>& tokenizer, const std::string& text,
             const Json& expected) const {
    const std::vector<int32_t> plain = ids_of(expected["n"]);
    EXPECT_EQ(tokenizer->encode(text, {.add_special = false}), plain);
    const std::vector<int32_t> unparsed = expected.contains("p") ? ids_of(expected["p"]) : plain;
    EXPECT_EQ(tokenizer->encode(text, {.add_special = false, .parse_special = false}), unparsed);
    std::vector<int32_t> added = expected.contains("a") ? ids_of(expected["a"]) : plain;
    // The one wanted difference: the token that the template puts first is never there twice.
    const std::vector<int32_t> with = tokenizer->encode("b", {});
    const std::vector<int32_t> without = tokenizer->encode("b", {.add_special = false});
    const bool leads = !with.empty() && !without.empty() && with[0] != without[0];
    if (leads && !plain.empty() && plain[0] == with[0]) added.erase(added.begin());
    EXPECT_EQ(tokenizer->encode(text, {}), added);
    for (const bool skip : {false, true}) {
      const Json& key = skip && expected.as_object().find("s") ? expected["s"] : expected["d"];
      if (!key.is_string()) continue;  // the reference fails, or there is nothing to decode
      EXPECT_EQ(tokenizer->decode(plain, skip), key.as_string());
      Detokenizer stream(tokenizer, skip);
      std::string streamed;
      for (const int32_t id : plain) streamed += stream.push(id);
      EXPECT_EQ(streamed + stream.finish(), key.as_string());
    }
  }

  const Json bases_ = load("bases.json");
  const Json texts_ = load("texts.json");
  const Json cases_ = load("cases.json");
};

TEST_F(TokenizerGolden, EveryCaseEqualsTheReference) {
  size_t checked = 0;
  for (const auto& [name, row] : cases_["cases"].as_object()) {
    SCOPED_TRACE(name);
    const std::shared_ptr<const Tokenizer> tokenizer = assemble(row);
    for (const auto& [index, expected] : row["expected"].as_object()) {
      const std::string& text = texts_.as_array().at(std::stoul(index)).as_string();
      SCOPED_TRACE(json_quote(text));
      check(tokenizer, text, expected);
      ++checked;
    }
  }
  EXPECT_GT(checked, 8000u);
}

TEST_F(TokenizerGolden, TextCutAtAnAddedTokenGivesTheSameIds) {
  const Json& row = cases_["cases"]["bpe_bytes"];
  const std::shared_ptr<const Tokenizer> tokenizer = assemble(row);
  const std::string left = "The crane waits.  ", right = " In the \t water\n";
  const EncodeOptions plain{.add_special = false};
  std::vector<int32_t> parts = tokenizer->encode(left, plain);
  for (const std::string& part : {std::string("<|end|>"), right})
    for (const int32_t id : tokenizer->encode(part, plain)) parts.push_back(id);
  EXPECT_EQ(tokenizer->encode(left + "<|end|>" + right, plain), parts);
}

TEST_F(TokenizerGolden, TokenBytesAreWhatAnIdAppends) {
  for (const char* name : {"bpe_bytes", "bpe_sentencepiece", "unigram", "wordpiece", "bpe_words"}) {
    SCOPED_TRACE(name);
    const std::shared_ptr<const Tokenizer> tokenizer = assemble(cases_["cases"][name]);
    const std::vector<int32_t> ids =
        tokenizer->encode("the crane waits in the shallow water", {.add_special = false});
    ASSERT_GT(ids.size(), 5u);
    const std::vector<int32_t> few(ids.begin(), ids.begin() + 3);
    std::string bytes;
    for (const int32_t id : few) bytes += tokenizer->token_bytes(id);
    std::vector<int32_t> twice = few;
    twice.insert(twice.end(), few.begin(), few.end());
    twice.insert(twice.end(), few.begin(), few.end());
    const std::string once = tokenizer->decode(few, false);
    const std::string thrice = tokenizer->decode(twice, false);
    EXPECT_NE(thrice.find(bytes), std::string::npos) << bytes << " in " << thrice;
    EXPECT_GE(bytes.size(), once.size());
  }
}

TEST_F(TokenizerGolden, FindsTokensBySpelling) {
  const std::shared_ptr<const Tokenizer> tokenizer = assemble(cases_["cases"]["bpe_sentencepiece"]);
  ASSERT_TRUE(tokenizer->find_token("<s>"));
  EXPECT_EQ(*tokenizer->find_token("<s>"), 1);
  EXPECT_TRUE(tokenizer->is_special(1));
  EXPECT_FALSE(tokenizer->find_token("no such token"));
  EXPECT_FALSE(tokenizer->is_special(*tokenizer->find_token("e")));
  EXPECT_EQ(tokenizer->model_name(), "BPE");
}

TEST_F(TokenizerGolden, ConfigurationDecidesOnBosAndEos) {
  Json spec = bases_["bpe_sentencepiece"];
  const Json config =
      Json::parse(R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "add_bos_token": false,
                      "add_eos_token": true})",
                  "config");
  const std::shared_ptr<const Tokenizer> tokenizer = make_tokenizer(spec, config);
  EXPECT_EQ(tokenizer->bos(), std::optional<int32_t>(1));
  EXPECT_EQ(tokenizer->eos(), std::optional<int32_t>(2));
  EXPECT_EQ(tokenizer->encode("", {}), std::vector<int32_t>{2});
  EXPECT_EQ(make_tokenizer(spec, Json())->encode("<s>", {}), std::vector<int32_t>{1});  // not twice
}

}  // namespace
}  // namespace crane
