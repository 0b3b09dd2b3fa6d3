// Detokenizer: an answer's text as its tokens arrive, one per answer.
#pragma once

#include <memory>
#include <string>

#include "text/tokenizer.h"

namespace crane {

// Everything that push() and finish() give, joined, is Tokenizer::decode() of the same ids.
class Detokenizer {
 public:
  Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special);

  // The text that is now certain: whole code points only; never changes what it has emitted.
  std::string push(int32_t id);

  // What is left; an incomplete code point becomes U+FFFD.
  std::string finish();

 private:
  std::string take_complete();

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<DecodeStream> stream_;
  std::string pending_;  // bytes that later bytes may complete
};

}  // namespace crane
