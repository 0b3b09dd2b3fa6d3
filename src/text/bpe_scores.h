// SentencePiece BPE: two neighbours merge when their joined text is a token, best score first.
#pragma once

#include <memory>
#include <vector>

#include "text/bpe_merge.h"
#include "text/tokenizer_model.h"

namespace crane {

class ScoredBpeModel : public TokenModel {
 public:
  // One score an id. A character without a token becomes <0xNN> tokens, or `unknown` where one of
  // these is missing (nothing where there is no unknown token either).
  ScoredBpeModel(std::shared_ptr<const Vocabulary> vocabulary, const std::vector<double>& scores,
                 std::optional<int32_t> unknown);

  void encode(std::string_view piece, ModelScratch& scratch,
              std::vector<int32_t>& ids) const override;

 private:
  void encode_part(std::string_view part, ModelScratch& scratch, std::vector<int32_t>& ids) const;
  void emit_bytes(std::string_view text, std::vector<int32_t>& ids) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<uint32_t> ranks_;  // by id; equal scores have equal ranks
  std::vector<int32_t> bytes_;
  std::optional<int32_t> unknown_;
  InnerPairs inner_pairs_;
};

}  // namespace crane
