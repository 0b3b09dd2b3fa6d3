// The public vocabularies of the shared data folder: each `.inp` text gives the ids of its `.out`
// line.
#include <gtest/gtest.h>

#include <sstream>

#include "text/detokenizer.h"
#include "text/support/tokenizer_files.h"

namespace crane {
namespace {

struct VocabCase {
  const char* name;
  const char* model;
  const char* pre_tokenizer;
  bool round_trips;  // decoding gives the text back
};

class TokenizerVocab : public testing::TestWithParam<VocabCase> {
 protected:
  void SetUp() override {
    path_ = test::shared_data() + "/vocab/ggml-vocab-" + GetParam().name + ".gguf";
    if (!test::file_exists(path_)) GTEST_SKIP() << path_ << " is not here";
    tokenizer_ = test::load_gguf_tokenizer(path_);
    const std::string separator = "\n__ggml_vocab_test__\n";
    const std::string all = test::read_file(path_ + ".inp");
    for (size_t at = 0; at <= all.size();) {
      const size_t end = std::min(all.find(separator, at), all.size());
      texts_.push_back(all.substr(at, end - at));
      at = end + separator.size();
    }
    std::istringstream lines(test::read_file(path_ + ".out"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream numbers(line);
      expected_.emplace_back();
      for (int32_t id; numbers >> id;) expected_.back().push_back(id);
    }
    // The files end with or without a separator.
    if (texts_.size() == expected_.size() + 1 && texts_.back().empty()) texts_.pop_back();
    ASSERT_EQ(texts_.size(), expected_.size());
    ASSERT_GT(texts_.size(), 40u);
  }

  std::string path_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<std::string> texts_;
  std::vector<std::vector<int32_t>> expected_;
};

TEST_P(TokenizerVocab, Names) {
  EXPECT_EQ(tokenizer_->model_name(), GetParam().model);
  EXPECT_EQ(tokenizer_->pre_tokenizer_name(), GetParam().pre_tokenizer);
}

TEST_P(TokenizerVocab, Ids) {
  for (size_t i = 0; i < texts_.size(); ++i)
    EXPECT_EQ(tokenizer_->encode(texts_[i], {.add_special = false}), expected_[i]) << texts_[i];
}

TEST_P(TokenizerVocab, StreamedTextIsTheDecodedText) {
  for (size_t i = 0; i < texts_.size(); ++i) {
    const std::string whole = tokenizer_->decode(expected_[i], false);
    if (GetParam().round_trips) {
      EXPECT_EQ(whole, texts_[i]);
    }
    Detokenizer stream(tokenizer_, false);
    std::string streamed;
    for (const int32_t id : expected_[i]) streamed += stream.push(id);
    streamed += stream.finish();
    EXPECT_EQ(streamed, whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Public, TokenizerVocab,
                         testing::Values(VocabCase{"qwen2", "gpt2", "qwen2", true},
                                         VocabCase{"qwen35", "gpt2", "qwen35", true},
                                         VocabCase{"llama-bpe", "gpt2", "llama-bpe", true},
                                         VocabCase{"llama-spm", "llama", "default", true},
                                         VocabCase{"phi-3", "llama", "default", true},
                                         VocabCase{"gemma-4", "gemma4", "gemma4", true},
                                         VocabCase{"bert-bge", "bert", "bert-bge", false}),
                         [](const testing::TestParamInfo<VocabCase>& vocab) {
                           std::string name = vocab.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace crane
