#include "engine/block_pool.h"

#include <algorithm>

#include "base/error.h"

namespace crane {
namespace {

uint64_t mix(uint64_t value) {  // the finaliser of splitmix64
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

uint64_t hash_of(int parent, std::span<const int32_t> keys) {
  uint64_t hash = mix(static_cast<uint64_t>(parent) + 0x9e3779b97f4a7c15ull);
  for (int32_t key : keys) hash = mix(hash + static_cast<uint32_t>(key) + 0x9e3779b97f4a7c15ull);
  return hash;
}

size_t table_size(int blocks) {
  size_t size = 16;
  while (size < 2 * static_cast<size_t>(blocks)) size *= 2;
  return size;
}

int common_head(std::span<const int32_t> a, std::span<const int32_t> b) {
  size_t limit = std::min(a.size(), b.size());
  auto end = a.begin() + static_cast<std::ptrdiff_t>(limit);
  return static_cast<int>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

}  // namespace

BlockPool::BlockPool(int block_count, int block_size)
    : block_size_(block_size),
      blocks_(static_cast<size_t>(block_count)),
      keys_(static_cast<size_t>(block_count) * static_cast<size_t>(block_size)),
      buckets_(table_size(block_count), kNone),
      free_count_(block_count) {
  free_.reserve(blocks_.size());
  for (int block = block_count; block-- > 0;) free_.push_back(block);  // block 0 is given first
}

std::span<const int32_t> BlockPool::keys_of(int block) const {
  return std::span(keys_).subspan(static_cast<size_t>(block) * static_cast<size_t>(block_size_),
                                  static_cast<size_t>(at(block).length));
}

int* BlockPool::bucket(int parent, std::span<const int32_t> keys) {
  return &buckets_[hash_of(parent, keys) & (buckets_.size() - 1)];
}

int BlockPool::first_child(int parent) const {
  return parent == kNone ? root_child_ : at(parent).first_child;
}

int BlockPool::allocate() {
  int block = kNone;
  if (!free_.empty()) {
    block = free_.back();
    free_.pop_back();
    --free_count_;
  } else {
    block = evict();
    if (block == kNone) return kNone;
  }
  at(block).owners = 1;
  return block;
}

int BlockPool::evict() {
  int block = oldest_;
  if (block == kNone) return kNone;
  unlist(block);
  int parent = at(block).parent;
  remove_node(block);
  --cached_count_;
  if (parent != kNone) list_if_evictable(parent);
  return block;
}

void BlockPool::acquire(int block) {
  Block& b = at(block);
  check(b.owners > 0 || b.node, "block pool: acquire of a free block");
  if (b.owners++ == 0) {
    --cached_count_;
    if (b.listed) unlist(block);
  }
}

void BlockPool::release(int block) {
  Block& b = at(block);
  check(b.owners > 0, "block pool: release of a block without an owner");
  b.last_used = ++clock_;
  if (--b.owners > 0) return;
  if (b.node) {
    ++cached_count_;
    list_if_evictable(block);
  } else {
    free_.push_back(block);
    ++free_count_;
  }
}

int BlockPool::find(int parent, std::span<const int32_t> keys) const {
  int block = buckets_[hash_of(parent, keys) & (buckets_.size() - 1)];
  for (; block != kNone; block = at(block).next_in_bucket) {
    if (at(block).parent != parent) continue;
    auto own = keys_of(block);
    if (std::equal(own.begin(), own.end(), keys.begin(), keys.end())) return block;
  }
  return kNone;
}

BlockPool::PartialMatch BlockPool::find_partial(int parent, std::span<const int32_t> keys) const {
  PartialMatch best;
  for (int child = first_child(parent); child != kNone; child = at(child).next_sibling) {
    int tokens = common_head(keys_of(child), keys);
    if (tokens > best.tokens) best = {child, tokens};
  }
  return best;
}

int BlockPool::publish(int parent, int block, std::span<const int32_t> keys) {
  check(at(block).owners > 0 && !at(block).node, "block pool: only a private block is published");
  check(parent == kNone || at(parent).length == block_size_, "block pool: the parent is not full");
  bool full = keys.size() == static_cast<size_t>(block_size_);
  if (full) {
    int twin = find(parent, keys);
    if (twin != kNone) {
      acquire(twin);
      release(block);
      return twin;
    }
  } else if (keys.empty() || find_partial(parent, keys).tokens == static_cast<int>(keys.size())) {
    return block;
  }
  Block& b = at(block);
  b.node = true;
  b.length = static_cast<int>(keys.size());
  std::copy(keys.begin(), keys.end(),
            keys_.begin() + static_cast<std::ptrdiff_t>(block) * block_size_);
  link_child(parent, block);
  if (full) {
    int* head = bucket(parent, keys);
    b.next_in_bucket = *head;
    *head = block;
  }
  return block;
}

void BlockPool::link_child(int parent, int block) {
  Block& b = at(block);
  int& head = parent == kNone ? root_child_ : at(parent).first_child;
  b.parent = parent;
  b.previous_sibling = kNone;
  b.next_sibling = head;
  if (head != kNone) at(head).previous_sibling = block;
  head = block;
}

void BlockPool::unlink_child(int block) {
  Block& b = at(block);
  if (b.previous_sibling != kNone) {
    at(b.previous_sibling).next_sibling = b.next_sibling;
  } else {
    (b.parent == kNone ? root_child_ : at(b.parent).first_child) = b.next_sibling;
  }
  if (b.next_sibling != kNone) at(b.next_sibling).previous_sibling = b.previous_sibling;
  b.parent = b.next_sibling = b.previous_sibling = kNone;
}

void BlockPool::remove_node(int block) {
  Block& b = at(block);
  if (b.length == block_size_) {
    int* link = bucket(b.parent, keys_of(block));
    while (*link != block) link = &at(*link).next_in_bucket;
    *link = b.next_in_bucket;
    b.next_in_bucket = kNone;
  }
  unlink_child(block);
  b.node = false;
  b.length = 0;
}

// Sorted by last use. A released leaf belongs at the new end; the parent of an evicted leaf
// usually near the old end, so the walk from there is short.
void BlockPool::list_if_evictable(int block) {
  Block& b = at(block);
  if (!b.node || b.owners > 0 || b.first_child != kNone || b.listed) return;
  int newer = kNone;
  if (newest_ != kNone && at(newest_).last_used > b.last_used) {
    newer = oldest_;
    while (at(newer).last_used < b.last_used) newer = at(newer).newer;
  }
  b.newer = newer;
  b.older = newer == kNone ? newest_ : at(newer).older;
  (b.older == kNone ? oldest_ : at(b.older).newer) = block;
  (newer == kNone ? newest_ : at(newer).older) = block;
  b.listed = true;
}

void BlockPool::unlist(int block) {
  Block& b = at(block);
  (b.older == kNone ? oldest_ : at(b.older).newer) = b.newer;
  (b.newer == kNone ? newest_ : at(b.newer).older) = b.older;
  b.older = b.newer = kNone;
  b.listed = false;
}

void BlockPool::check_block(int block) const {
  const Block& b = at(block);
  check(b.owners >= 0, "block pool: negative owners");
  if (!b.node) {
    check(b.length == 0 && b.first_child == kNone && b.parent == kNone && !b.listed,
          "block pool: a block outside the tree has links");
    return;
  }
  check(b.length > 0 && b.length <= block_size_, "block pool: length of a node");
  check(b.first_child == kNone || b.length == block_size_, "block pool: child of a partial block");
  if (b.parent != kNone) {
    check(at(b.parent).node, "block pool: the parent is no node");
    check(at(b.parent).owners >= b.owners, "block pool: a child has more owners than its parent");
  }
  check(b.listed == (b.owners == 0 && b.first_child == kNone),
        "block pool: the eviction list misses or has too much");
  if (b.length == block_size_)
    check(find(b.parent, keys_of(block)) == block, "block pool: a full node is not found");
  for (int child = b.first_child; child != kNone; child = at(child).next_sibling)
    check(at(child).parent == block, "block pool: a child has another parent");
}

void BlockPool::check_lists() const {
  int listed = 0, hashed = 0, full = 0, flagged = 0;
  uint64_t last = 0;
  for (int block = oldest_; block != kNone; block = at(block).newer, ++listed) {
    check(at(block).last_used >= last && listed < total(),
          "block pool: eviction list out of order");
    last = at(block).last_used;
  }
  for (int head : buckets_)
    for (int block = head; block != kNone; block = at(block).next_in_bucket, ++hashed)
      check(hashed < total(), "block pool: a bucket is a ring");
  for (const Block& b : blocks_) {
    full += b.node && b.length == block_size_;
    flagged += b.listed;
  }
  check(hashed == full, "block pool: the hash table has stale entries");
  check(listed == flagged, "block pool: the eviction list has stale entries");
}

void BlockPool::check_integrity() const {
  int free = 0, cached = 0;
  for (int block = 0; block < total(); ++block) {
    const Block& b = at(block);
    free += b.owners == 0 && !b.node;
    cached += b.owners == 0 && b.node;
    check_block(block);
  }
  check(free == free_count_ && static_cast<size_t>(free) == free_.size(),
        "block pool: free blocks miscounted");
  check(cached == cached_count_, "block pool: cached blocks miscounted");
  std::vector<bool> seen(blocks_.size(), false);
  for (int block : free_) {
    check(!seen[static_cast<size_t>(block)], "block pool: a block is free twice");
    check(at(block).owners == 0 && !at(block).node, "block pool: a free block is in use");
    seen[static_cast<size_t>(block)] = true;
  }
  check_lists();
}

}  // namespace crane
