// Vocabulary: token texts by id and ids by text. The texts are in the spelling of the file (GPT-2's
// byte alphabet, "▁" for a space, …).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crane {

inline uint64_t hash_bytes(std::string_view text) {
  // FNV-1a over eight bytes at a time: short keys, and nobody chooses them to collide for long.
  uint64_t hash = 0xcbf29ce484222325u ^ text.size();
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    __builtin_memcpy(&word, text.data() + at, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  uint64_t tail = 0;
  __builtin_memcpy(&tail, text.data() + at, text.size() - at);
  hash = (hash ^ tail) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

inline uint64_t hash_pair(int32_t left, int32_t right) {
  uint64_t hash = (uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right)) *
                  0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

class Vocabulary {
 public:
  static constexpr int32_t kMaxSize = 1 << 22;

  void reserve(size_t count);

  // Appends with the next id. False, and nothing done, when the text is already there.
  bool push_back(std::string_view text);

  // Gives `id` its text; ids between stay without one. False, and nothing done, when the text or
  // the id is taken.
  bool insert(std::string_view text, int32_t id);

  std::optional<int32_t> find(std::string_view text) const;
  bool has(int32_t id) const {
    return id >= 0 && id < size() && spans_[static_cast<size_t>(id)].begin != kAbsent;
  }
  std::string_view text(int32_t id) const {  // of an id that has one
    const Span& span = spans_[static_cast<size_t>(id)];
    return std::string_view(texts_).substr(span.begin, span.length);
  }
  int32_t size() const { return static_cast<int32_t>(spans_.size()); }  // largest id plus one
  size_t count() const { return count_; }                               // ids with a text
  size_t longest() const { return longest_; }                           // bytes

 private:
  static constexpr uint32_t kAbsent = 0xFFFFFFFF;
  struct Span {
    uint32_t begin = kAbsent, length = 0;
  };
  void grow_index(size_t count);

  std::string texts_;
  std::vector<Span> spans_;
  std::vector<int32_t> index_;  // open addressing, power of two; -1 is free
  size_t count_ = 0;
  size_t longest_ = 0;
};

}  // namespace crane
