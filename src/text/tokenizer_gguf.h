// Tokenizer from the `tokenizer.ggml.*` keys of a GGUF header, by llama.cpp's rules
// (src/llama-vocab.cpp).
#pragma once

#include <memory>

#include "base/metadata.h"
#include "text/tokenizer.h"

namespace crane {

// Copies what it needs from the header. Throws Error(unsupported) naming an unknown model or
// pre-tokenizer, Error(io) naming the key of what is malformed or missing.
std::shared_ptr<const Tokenizer> make_tokenizer(const Metadata& gguf_header);

}  // namespace crane
