// BlockPool: who owns which K/V block, and which blocks hold a prefix that can be used again.
//
// Pure integers: it knows no tensors and no requests. A block is in one of three states:
//   free    no owner, content worthless
//   owned   one or more owners (sequences); with more than one it is read-only
//   cached  no owner, but a node of the prefix tree: reusable until it is evicted
//
// The prefix tree. A node is a block whose tokens (their "keys": id and, where it matters, mode)
// are known; its parent is the block before it. Only full blocks have children; a partly filled
// block is a leaf whose head can be copied. A node is found by a hash of (parent, keys), and its
// real keys are compared before it is used. Because parents are compared by block, a hit on the
// last block proves the whole chain.
//
// Invariants (check_integrity):
//   1. Every block is free, owned or cached, and the counts add up.
//   2. Parents are nodes, full, and have at least as many owners as each child, because callers own
//      whole paths from the root. So a cached node has only cached nodes below it, and every cached
//      block can be evicted, leaves first.
//   3. The eviction list holds exactly the cached leaves, least recently used first.
//   4. The hash table holds exactly the full nodes; no two nodes have equal parent and keys.
//
// Not thread-safe. No allocation after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace crane {

class BlockPool {
 public:
  static constexpr int kNone = -1;

  BlockPool(int block_count, int block_size);

  int block_size() const { return block_size_; }
  int total() const { return static_cast<int>(blocks_.size()); }
  int free() const { return free_count_; }
  int cached() const { return cached_count_; }
  int available() const { return free_count_ + cached_count_; }  // what allocate() can give
  int owners(int block) const { return at(block).owners; }

  // A block with one owner and no content, or kNone. Evicts the least recently used cached leaf
  // when no block is free.
  int allocate();
  // One more owner of a block that is owned or cached.
  void acquire(int block);
  // One owner less. Release the blocks of a sequence from the last to the first.
  void release(int block);

  // The full node below `parent` (kNone: the root) with exactly these keys, or kNone.
  int find(int parent, std::span<const int32_t> keys) const;

  // The node below `parent` that shares the longest head with `keys`.
  struct PartialMatch {
    int block = kNone;
    int tokens = 0;
  };
  PartialMatch find_partial(int parent, std::span<const int32_t> keys) const;

  // Makes an owned block a node below `parent`; `keys` are its tokens, block_size of them for a
  // full block. Where an equal node exists already, the caller's ownership moves to that one, which
  // is returned, and `block` is freed: both hold the same keys and values. A partly filled block
  // that an existing child already covers stays what it was.
  int publish(int parent, int block, std::span<const int32_t> keys);

  // Throws Error(internal) naming the broken invariant.
  void check_integrity() const;

 private:
  struct Block {
    int owners = 0;
    bool node = false;
    int length = 0;  // tokens of a node
    int parent = kNone;
    int first_child = kNone, next_sibling = kNone, previous_sibling = kNone;
    int next_in_bucket = kNone;
    int older = kNone, newer = kNone;  // eviction list
    bool listed = false;
    uint64_t last_used = 0;
  };

  Block& at(int block) { return blocks_[static_cast<size_t>(block)]; }
  const Block& at(int block) const { return blocks_[static_cast<size_t>(block)]; }
  std::span<const int32_t> keys_of(int block) const;
  int* bucket(int parent, std::span<const int32_t> keys);
  int first_child(int parent) const;
  void link_child(int parent, int block);
  void unlink_child(int block);
  void list_if_evictable(int block);
  void unlist(int block);
  void remove_node(int block);
  int evict();
  void check_lists() const;
  void check_block(int block) const;

  int block_size_;
  std::vector<Block> blocks_;
  std::vector<int32_t> keys_;  // [blocks, block_size]
  std::vector<int> free_;
  std::vector<int> buckets_;
  int root_child_ = kNone;
  int oldest_ = kNone, newest_ = kNone;
  int free_count_ = 0;
  int cached_count_ = 0;
  uint64_t clock_ = 0;
};

}  // namespace crane
