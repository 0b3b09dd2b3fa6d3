// Tokenizer: text to ids and back. Built from a GGUF header (text/tokenizer_gguf.h) or from a
// tokenizer.json (text/tokenizer_json.h); immutable and thread-safe once built.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crane {

struct EncodeOptions {
  bool add_special = true;    // the tokenizer's own rule: BOS/EOS/[CLS]…[SEP]; BOS never twice
  bool parse_special = true;  // text of special tokens becomes their ids; false: plain text
};

// The bytes of an answer, token by token. What it has given never changes; together with finish()
// they are the bytes of the whole. One user at a time.
class DecodeStream {
 public:
  virtual ~DecodeStream() = default;
  virtual std::string push(int32_t id) = 0;
  virtual std::string finish() = 0;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Throws Error(invalid_argument) with the byte offset when `text` is not UTF-8.
  virtual std::vector<int32_t> encode(std::string_view text,
                                      const EncodeOptions& options) const = 0;

  // Ids without a token give nothing. Each maximal ill-formed part of the bytes becomes one U+FFFD.
  virtual std::string decode(std::span<const int32_t> ids, bool skip_special) const;

  // Ids with a token lie in 0..vocab_size()-1; some may have none.
  virtual int vocab_size() const = 0;

  // Raw bytes that this id appends when it is decoded in the middle of a text.
  virtual std::string token_bytes(int32_t id) const = 0;

  // A control token: hidden when special tokens are skipped.
  virtual bool is_special(int32_t id) const = 0;

  // The id of a token that is spelt exactly so, special tokens included.
  virtual std::optional<int32_t> find_token(std::string_view text) const = 0;

  virtual std::optional<int32_t> bos() const { return std::nullopt; }
  virtual std::optional<int32_t> eos() const { return std::nullopt; }

  virtual std::string model_name() const = 0;          // "gpt2", "llama", "BPE", "Unigram", …
  virtual std::string pre_tokenizer_name() const = 0;  // "qwen2", "Sequence[Split, ByteLevel]", …

  // The default strings token_bytes() together.
  virtual std::unique_ptr<DecodeStream> decode_stream(bool skip_special) const;
};

}  // namespace crane
