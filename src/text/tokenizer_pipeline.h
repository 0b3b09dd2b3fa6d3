// PipelineTokenizer: the one tokenizer, put together from parts: added tokens, normalizer,
// pre-tokenizer, model, template of special tokens, decoder. Both file kinds build it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/detokenizer_steps.h"
#include "text/normalizer.h"
#include "text/pretokenize.h"
#include "text/tokenizer.h"
#include "text/tokenizer_added.h"
#include "text/tokenizer_model.h"
#include "text/tokenizer_vocabulary.h"

namespace crane {

struct TokenizerParts {
  static constexpr int32_t kText = -1;  // in special_template: where the text's ids stand

  std::string model_name;
  std::shared_ptr<const Vocabulary> vocabulary;  // every token, added ones included
  AddedTokens raw_tokens;                        // found in the text as it is
  AddedTokens normalized_tokens;                 // found in the normalized text
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<TokenModel> model;
  std::vector<int32_t> special_template{kText};
  std::vector<std::string> decoded;  // by id: what the decoder is given; empty: the token's text
  std::vector<bool> special;         // by id
  DecodeChain decoder;
  std::optional<int32_t> bos, eos;
};

std::shared_ptr<const Tokenizer> make_pipeline_tokenizer(TokenizerParts parts);

}  // namespace crane
