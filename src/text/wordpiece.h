// WordPiece: the longest token first, from left to right; a word that does not come out whole is
// unknown. And word level: a piece is a token or unknown.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "text/tokenizer_model.h"

namespace crane {

struct WordPieceOptions {
  std::string first_prefix;       // before the text of a word's first token ("▁" in GGUF)
  std::string continuing_prefix;  // before the text of every other token ("##")
  size_t max_characters = 100;    // a longer word is unknown
  std::optional<int32_t> unknown;
};

class WordPieceModel : public TokenModel {
 public:
  WordPieceModel(std::shared_ptr<const Vocabulary> vocabulary, WordPieceOptions options);
  void encode(std::string_view piece, ModelScratch& scratch,
              std::vector<int32_t>& ids) const override;

 private:
  bool append_tokens(std::string_view word, std::vector<int32_t>& ids) const;
  std::shared_ptr<const Vocabulary> vocabulary_;
  WordPieceOptions options_;
};

class WordLevelModel : public TokenModel {
 public:
  WordLevelModel(std::shared_ptr<const Vocabulary> vocabulary, std::optional<int32_t> unknown);
  void encode(std::string_view piece, ModelScratch& scratch,
              std::vector<int32_t>& ids) const override;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::optional<int32_t> unknown_;
};

}  // namespace crane
