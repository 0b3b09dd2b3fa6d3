// How a pre-tokenizer's matches become pieces; shared by the steps in pretokenize*.cpp.
#pragma once

#include <vector>

#include "text/pretokenize.h"

namespace crane {

// A stretch of one span; the parts of a span follow each other without gaps, and may be empty.
struct Part {
  size_t begin, end;
  bool is_match;
};

// Appends the pieces that `parts` give under `behavior`, empty ones left out.
void append_pieces(const std::vector<Part>& parts, SplitBehavior behavior, std::vector<Span>& out);

// Appends a match, and before it the unmatched text since the last part.
inline void append_match(std::vector<Part>& parts, size_t& covered, size_t begin, size_t end) {
  if (covered != begin) parts.push_back({covered, begin, false});
  parts.push_back({begin, end, true});
  covered = end;
}

// A step that cuts spans and leaves the text alone.
class CuttingStep : public PreTokenizerStep {
 public:
  void apply(Pieces& pieces) const final;

 protected:
  // Appends the pieces of text[span.begin, span.end).
  virtual void cut(std::string_view text, Span span, std::vector<Span>& out) const = 0;
};

}  // namespace crane
