// Pre-tokenizers: cut a text into the pieces that a model encodes one by one. The whole family of
// Hugging Face `tokenizers`, and the lists of patterns that llama.cpp names.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace crane {

struct Span {
  size_t begin, end;  // bytes of Pieces::text; never empty
};

struct Pieces {
  std::string text;
  std::vector<Span> spans;
  bool starts_input = false;  // the first span begins where the whole input begins
};

class PreTokenizerStep {
 public:
  virtual ~PreTokenizerStep() = default;
  virtual void apply(Pieces& pieces) const = 0;
};

struct PreTokenizer {
  std::string name;  // "Sequence[Split, ByteLevel]", "qwen2"; empty when there is none
  std::vector<std::unique_ptr<PreTokenizerStep>> steps;
};

// What happens to the part that a pattern matched.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

// From the "pre_tokenizer" of a tokenizer.json (null: none). Throws Error(unsupported) naming an
// unknown component, Error(io) with the JSON path on a malformed one.
PreTokenizer make_pre_tokenizer(const Json& spec);

// What `tokenizer.ggml.pre` stands for.
struct GgufPreTokenizer {
  std::vector<std::string_view> patterns;  // applied in turn, each match on its own
  bool ignore_merges = false;
  bool escape_spaces = false;   // raw UTF-8 with ▁, no byte alphabet (gemma4)
  bool whole_newlines = false;  // a run of line feeds that is a token is taken whole
  bool add_bos = false;         // unless the file says otherwise
};

// Nothing when llama.cpp knows no such name.
const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name);

std::unique_ptr<PreTokenizerStep> make_split_step(std::string_view pattern);  // regex, isolated
std::unique_ptr<PreTokenizerStep> make_byte_level_step();  // the byte alphabet only, no cut
std::unique_ptr<PreTokenizerStep> make_white_space_split_step();

}  // namespace crane
