#include "text/normalizer_sentencepiece.h"

#include "base/unicode.h"

namespace crane {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581

class SentencePieceStep : public NormalizerStep {
 public:
  explicit SentencePieceStep(SentencePieceOptions options) : options_(std::move(options)) {
    for (const std::string& text : options_.protected_texts)
      if (!text.empty()) protected_.insert(text, 0);
  }

  bool apply(std::string& text) const override {
    std::string out;
    bool in_word = false, prefixed = false;
    for (size_t at = 0; at < text.size();) {
      size_t consumed = 0;
      const std::string_view part = next_part(std::string_view(text).substr(at), consumed);
      at += consumed;
      for (const char c : part) {
        if (c == ' ') {
          in_word = false;
          if (!options_.remove_extra_whitespaces) out += kSpace;
          continue;
        }
        if (!in_word &&
            ((options_.add_space_prefix && !prefixed) || options_.remove_extra_whitespaces)) {
          out += kSpace;
          prefixed = true;
        }
        in_word = true;
        out += c;
      }
    }
    text = std::move(out);
    return false;
  }

 private:
  // What the begin of `rest` becomes, and how much of it that is.
  std::string_view next_part(std::string_view rest, size_t& consumed) const {
    int32_t node = Trie::kRoot;
    for (size_t end = 0; end < rest.size();) {
      node = protected_.step(node, rest[end++]);
      if (node == Trie::kNone) break;
      if (protected_.value(node) != Trie::kNone) consumed = end;
    }
    if (consumed > 0) return rest.substr(0, consumed);
    if (options_.charsmap) {
      if (const auto match = options_.charsmap->find_longest(rest)) {
        consumed = match->length;
        return match->replacement;
      }
    }
    consumed = static_cast<size_t>(decode_utf8(rest, 0).length);
    return rest.substr(0, consumed);
  }

  SentencePieceOptions options_;
  Trie protected_;
};

}  // namespace

std::unique_ptr<NormalizerStep> make_sentencepiece_step(SentencePieceOptions options) {
  return std::make_unique<SentencePieceStep>(std::move(options));
}

}  // namespace crane
