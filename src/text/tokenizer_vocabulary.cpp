#include "text/tokenizer_vocabulary.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"

namespace crane {

void Vocabulary::reserve(size_t count) {
  spans_.reserve(count);
  texts_.reserve(count * 8);
  grow_index(count);
}

void Vocabulary::grow_index(size_t count) {
  size_t slots = 64;
  while (slots < count * 2) slots *= 2;
  if (slots <= index_.size()) return;
  index_.assign(slots, -1);
  for (int32_t id = 0; id < size(); ++id) {
    if (!has(id)) continue;
    size_t slot = hash_bytes(text(id)) & (slots - 1);
    while (index_[slot] >= 0) slot = (slot + 1) & (slots - 1);
    index_[slot] = id;
  }
}

bool Vocabulary::push_back(std::string_view text) { return insert(text, size()); }

bool Vocabulary::insert(std::string_view text, int32_t id) {
  if (id < 0 || id >= kMaxSize)
    throw Error(ErrorCode::io, cat("vocabulary: id ", id, ", expected 0..", kMaxSize - 1));
  if (texts_.size() + text.size() >= kAbsent)
    throw Error(ErrorCode::io, "vocabulary: more than 4 GB of token texts");
  if (has(id) || find(text)) return false;
  if (id >= size()) spans_.resize(static_cast<size_t>(id) + 1);
  spans_[static_cast<size_t>(id)] = {static_cast<uint32_t>(texts_.size()),
                                     static_cast<uint32_t>(text.size())};
  texts_ += text;
  longest_ = std::max(longest_, text.size());
  ++count_;
  if (count_ * 2 > index_.size()) {
    grow_index(count_ * 2);
    return true;
  }
  size_t slot = hash_bytes(text) & (index_.size() - 1);
  while (index_[slot] >= 0) slot = (slot + 1) & (index_.size() - 1);
  index_[slot] = id;
  return true;
}

std::optional<int32_t> Vocabulary::find(std::string_view text) const {
  if (index_.empty()) return std::nullopt;
  size_t slot = hash_bytes(text) & (index_.size() - 1);
  for (; index_[slot] >= 0; slot = (slot + 1) & (index_.size() - 1))
    if (this->text(index_[slot]) == text) return index_[slot];
  return std::nullopt;
}

}  // namespace crane
