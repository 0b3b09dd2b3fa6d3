// Byte-pair encoding with ranked merges: GPT-2's and its descendants, and SentencePiece models that
// were converted to merges.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "text/bpe_merge.h"
#include "text/tokenizer_model.h"

namespace crane {

// What becomes of a character without a token.
enum class MissingCharacter {
  skip,        // it never was there: its neighbours may merge (Hugging Face, without unknown token)
  drop,        // it separates its neighbours and gives no id (llama.cpp, byte-level)
  byte_tokens  // it separates its neighbours and becomes <0xNN> tokens (llama.cpp, gemma4)
};

struct BpeOptions {
  static constexpr int32_t kNoSuchToken = -1;  // as `unknown`: to need it is an error
  MissingCharacter missing = MissingCharacter::skip;
  bool byte_fallback = false;      // a missing character becomes <0xNN> tokens where all exist
  std::optional<int32_t> unknown;  // else this id
  bool fuse_unknown = false;       // one for a run of missing characters
  bool ignore_merges = false;      // a whole piece that is a token is taken as it is
  bool whole_newlines = false;     // the same for pieces of nothing but line feeds (gemma4)
  std::string prefix;              // of every character but the first of a piece
  std::string suffix;              // of the last character of a piece
};

class BpeModel : public TokenModel {
 public:
  using MergeText = std::pair<std::string_view, std::string_view>;

  // `merges` in order of rank. With MissingCharacter::skip (tokenizer.json) both sides and the
  // result must be tokens, else Error(io); the last of two equal merges counts. Otherwise (GGUF)
  // any texts will do, and the first counts.
  BpeModel(std::shared_ptr<const Vocabulary> vocabulary, const std::vector<MergeText>& merges,
           BpeOptions options);

  void encode(std::string_view piece, ModelScratch& scratch,
              std::vector<int32_t>& ids) const override;

 private:
  struct Slot {
    int32_t left = -1, right = -1, result = -1;
    uint32_t rank = 0;
  };
  static constexpr size_t kDirect = 0x3000;  // code points whose ids lie in a plain array

  void add_merge(const MergeText& merge, uint32_t rank);
  int32_t merge_token(std::string_view text);
  std::optional<Merge> find_merge(int32_t left, int32_t right) const;
  int32_t find_symbol(std::string_view text) const;
  int32_t character_id(char32_t c, std::string_view text) const {
    return c < kDirect ? direct_[c] : find_symbol(text);
  }
  void encode_long(std::string_view piece, ModelScratch& scratch, std::vector<int32_t>& ids) const;
  void encode_cached(std::string_view piece, ModelScratch& scratch,
                     std::vector<int32_t>& ids) const;
  void append_symbols(std::string_view piece, std::vector<MergeSymbol>& symbols) const;
  void append_missing(std::string_view text, size_t begin, std::vector<MergeSymbol>& symbols,
                      std::optional<MergeSymbol>& unknown) const;
  void emit(std::string_view piece, const MergeSymbol& symbol, std::vector<int32_t>& ids) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  BpeOptions options_;
  Vocabulary extra_;  // texts of GGUF merges that are no tokens; ids from vocabulary_->size()
  std::vector<Slot> slots_;
  std::vector<int32_t> direct_;
  std::vector<int32_t> bytes_;  // ids of <0x00>…<0xFF>, -1 where absent
  InnerPairs inner_pairs_;
};

// The id of the byte token <0xNN> for each byte, -1 where there is none.
std::vector<int32_t> byte_token_ids(const Vocabulary& vocabulary);

}  // namespace crane
