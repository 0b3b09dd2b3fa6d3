#include "text/tokenizer.h"

#include "base/unicode.h"

namespace crane {
namespace {

class PlainStream : public DecodeStream {
 public:
  PlainStream(const Tokenizer& tokenizer, bool skip_special)
      : tokenizer_(tokenizer), skip_special_(skip_special) {}

  std::string push(int32_t id) override {
    if (skip_special_ && tokenizer_.is_special(id)) return {};
    return tokenizer_.token_bytes(id);
  }
  std::string finish() override { return {}; }

 private:
  const Tokenizer& tokenizer_;
  bool skip_special_;
};

}  // namespace

std::unique_ptr<DecodeStream> Tokenizer::decode_stream(bool skip_special) const {
  return std::make_unique<PlainStream>(*this, skip_special);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  const std::unique_ptr<DecodeStream> stream = decode_stream(skip_special);
  std::string bytes;
  for (const int32_t id : ids) bytes += stream->push(id);
  bytes += stream->finish();
  return replace_invalid_utf8(bytes);
}

}  // namespace crane
