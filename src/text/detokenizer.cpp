#include "text/detokenizer.h"

#include <utility>

#include "base/unicode.h"

namespace crane {

Detokenizer::Detokenizer(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), stream_(tokenizer_->decode_stream(skip_special)) {}

std::string Detokenizer::take_complete() {
  const size_t complete = complete_utf8_prefix(pending_);
  std::string text = replace_invalid_utf8(std::string_view(pending_).substr(0, complete));
  pending_.erase(0, complete);
  return text;
}

std::string Detokenizer::push(int32_t id) {
  pending_ += stream_->push(id);
  return take_complete();
}

std::string Detokenizer::finish() {
  pending_ += stream_->finish();
  return replace_invalid_utf8(std::exchange(pending_, {}));
}

}  // namespace crane
