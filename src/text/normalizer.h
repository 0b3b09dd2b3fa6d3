// Normalizers: rewrite a text before it is cut into pieces. The whole family of Hugging Face
// `tokenizers`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace crane {

class NormalizerStep {
 public:
  virtual ~NormalizerStep() = default;

  // Rewrites `text`. True when the first code point of the text was removed: what follows does not
  // count as the begin of the input (Metaspace's "first").
  virtual bool apply(std::string& text) const = 0;
};

using Normalizer = std::vector<std::unique_ptr<NormalizerStep>>;

// From the "normalizer" of a tokenizer.json (null: none). Throws Error(unsupported) naming an
// unknown component, Error(io) with the JSON path on a malformed one.
Normalizer make_normalizer(const Json& spec);

std::unique_ptr<NormalizerStep> make_prepend_step(std::string text);  // empty texts stay empty
std::unique_ptr<NormalizerStep> make_replace_step(std::string literal, std::string content);
std::unique_ptr<NormalizerStep> make_lowercase_step();

struct BertNormalizerOptions {
  bool clean_text = true, handle_chinese_chars = true, strip_accents = true, lowercase = true;
};
std::unique_ptr<NormalizerStep> make_bert_step(const BertNormalizerOptions& options);

}  // namespace crane
