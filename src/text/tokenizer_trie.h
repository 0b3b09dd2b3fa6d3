// Trie: prefixes of byte strings, each string with an id. Edges lie in one hash table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace crane {

class Trie {
 public:
  static constexpr int32_t kRoot = 0, kNone = -1;

  Trie() : values_(1, kNone) { grow(64); }

  void insert(std::string_view text, int32_t value) {
    int32_t node = kRoot;
    for (const char c : text) {
      int32_t next = step(node, c);
      if (next == kNone) {
        next = static_cast<int32_t>(values_.size());
        values_.push_back(kNone);
        add_edge(key_of(node, c), next);
      }
      node = next;
    }
    values_[static_cast<size_t>(node)] = value;
  }

  // The node behind `node` by this byte, or kNone.
  int32_t step(int32_t node, char c) const {
    const uint64_t key = key_of(node, c);
    for (size_t slot = slot_of(key);; slot = (slot + 1) & (edges_.size() - 1)) {
      if (edges_[slot].key == key) return edges_[slot].node;
      if (edges_[slot].key == 0) return kNone;
    }
  }

  // The id of the string that ends in this node, or kNone.
  int32_t value(int32_t node) const { return values_[static_cast<size_t>(node)]; }

 private:
  struct Edge {
    uint64_t key = 0;  // never 0 for a real edge
    int32_t node = kNone;
  };
  static uint64_t key_of(int32_t node, char c) {
    return (static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(c)) + 1;
  }
  size_t slot_of(uint64_t key) const {
    const uint64_t hash = key * 0x9E3779B97F4A7C15u;
    return (hash ^ hash >> 32) & (edges_.size() - 1);
  }
  void grow(size_t slots) {
    std::vector<Edge> old(slots);
    old.swap(edges_);
    for (const Edge& edge : old)
      if (edge.key != 0) place(edge.key, edge.node);
  }
  void place(uint64_t key, int32_t node) {
    size_t slot = slot_of(key);
    while (edges_[slot].key != 0) slot = (slot + 1) & (edges_.size() - 1);
    edges_[slot] = {key, node};
  }
  void add_edge(uint64_t key, int32_t node) {
    if (values_.size() * 2 > edges_.size()) grow(edges_.size() * 2);
    place(key, node);
  }

  std::vector<int32_t> values_;
  std::vector<Edge> edges_;
};

}  // namespace crane
