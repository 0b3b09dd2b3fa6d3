// The merge loop that byte-pair encodings share, and the places where a long text can be cut first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/unicode.h"
#include "text/tokenizer_model.h"

namespace crane {

struct Merge {
  uint32_t rank;  // lower first
  int32_t id;     // of the result
};

inline void append_symbol(std::vector<MergeSymbol>& symbols, int32_t id, size_t begin,
                          size_t length) {
  const auto index = static_cast<int32_t>(symbols.size());
  if (index > 0) symbols.back().next = index;
  symbols.push_back(
      {id, static_cast<uint32_t>(begin), static_cast<uint32_t>(length), index - 1, -1});
}

// Merges neighbours, lowest rank first and leftmost first among equals, until no pair is left.
// find(left, right) gives the std::optional<Merge> of two symbols. O(n log n).
template <class Find>
void merge_symbols(ModelScratch& scratch, const Find& find) {
  std::vector<MergeSymbol>& symbols = scratch.symbols;
  std::vector<MergeCandidate>& heap = scratch.heap;
  const auto later = [](const MergeCandidate& a, const MergeCandidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };
  heap.clear();
  const auto consider = [&](int32_t left) {
    const MergeSymbol& a = symbols[static_cast<size_t>(left)];
    const MergeSymbol& b = symbols[static_cast<size_t>(a.next)];
    const std::optional<Merge> merge = find(a, b);
    if (!merge) return false;
    heap.push_back({merge->rank, static_cast<uint32_t>(left), a.length + b.length, merge->id});
    return true;
  };
  for (size_t i = 0; i + 1 < symbols.size(); ++i) consider(static_cast<int32_t>(i));
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const MergeCandidate top = heap.back();
    heap.pop_back();
    MergeSymbol& left = symbols[top.left];
    if (left.length == 0 || left.next < 0) continue;
    MergeSymbol& right = symbols[static_cast<size_t>(left.next)];
    if (left.length + right.length != top.length) continue;  // one of the two has grown since
    left.id = top.id;
    left.length = top.length;
    right.length = 0;
    left.next = right.next;
    const auto index = static_cast<int32_t>(top.left);
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].prev = index;
    if (left.prev >= 0 && consider(left.prev)) std::push_heap(heap.begin(), heap.end(), later);
    if (left.next >= 0 && consider(index)) std::push_heap(heap.begin(), heap.end(), later);
  }
}

// Which code points may stand side by side inside one token. Between two that may not, no merge
// ever reaches across, so a text can be cut there before merging without changing a single id. May
// say yes without need (a Bloom filter of one hash), never no.
class InnerPairs {
 public:
  InnerPairs() : bits_(kBits / 64) {}

  void add_token(std::string_view text) {
    char32_t previous = 0;
    for (size_t at = 0; at < text.size();) {
      const DecodedCodePoint c = decode_utf8(text, at);
      if (at > 0) bits_[bit(previous, c.code_point) / 64] |= mask(previous, c.code_point);
      previous = c.code_point;
      at += static_cast<size_t>(c.length);
    }
  }
  bool may_join(char32_t left, char32_t right) const {
    return (bits_[bit(left, right) / 64] & mask(left, right)) != 0;
  }

 private:
  static constexpr size_t kBits = size_t{1} << 22;
  static size_t bit(char32_t left, char32_t right) {
    return hash_pair(static_cast<int32_t>(left), static_cast<int32_t>(right)) & (kBits - 1);
  }
  static uint64_t mask(char32_t left, char32_t right) {
    return uint64_t{1} << (bit(left, right) & 63);
  }
  std::vector<uint64_t> bits_;
};

}  // namespace crane
