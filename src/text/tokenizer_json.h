// Tokenizer from a Hugging Face tokenizer.json, by the rules of the `tokenizers` library.
#pragma once

#include <memory>

#include "base/json.h"
#include "text/tokenizer.h"

namespace crane {

// `tokenizer_config` (tokenizer_config.json, may be null) names bos_token and eos_token and may
// switch add_bos_token and add_eos_token. Throws Error(unsupported) naming an unknown component,
// Error(io) with the JSON path of what is malformed.
std::shared_ptr<const Tokenizer> make_tokenizer(const Json& tokenizer_json,
                                                const Json& tokenizer_config);

}  // namespace crane
