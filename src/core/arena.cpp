#include "core/arena.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"

namespace crane {

void StorageRef::release() {
  if (!storage_ || storage_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (storage_->arena) {
    storage_->arena->release(storage_);
  } else {
    delete storage_;
  }
}

StorageRef make_storage(std::byte* data, size_t bytes, std::shared_ptr<const void> owner) {
  auto* storage = new Storage;
  storage->data = data;
  storage->bytes = bytes;
  storage->owner = std::move(owner);
  return StorageRef(storage);
}

Arena::Arena(size_t capacity) : capacity_(capacity) {
  void* memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory, cat("arena: cannot reserve ", capacity, " bytes"));
  madvise(memory, capacity, MADV_HUGEPAGE);  // a hint; without it the arena works all the same
  base_ = static_cast<std::byte*>(memory);
  gaps_.push_back({0, capacity});
}

Arena::~Arena() { munmap(base_, capacity_); }

StorageRef Arena::allocate(size_t bytes) {
  size_t needed = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                          [needed](const Gap& g) { return g.bytes >= needed; });
  if (gap == gaps_.end() || bytes > capacity_)  // a huge size wraps when it is rounded up
    throw Error(ErrorCode::out_of_memory,
                cat("arena: ", bytes, " bytes wanted, ", capacity_ - in_use_, " of ", capacity_,
                    " free: lower the batch size"));
  if (free_nodes_.empty()) {
    nodes_.push_back(std::make_unique<Storage>());
    free_nodes_.push_back(nodes_.back().get());
  }
  Storage* storage = free_nodes_.back();
  free_nodes_.pop_back();
  storage->data = base_ + gap->offset;
  storage->bytes = needed;
  storage->arena = this;
  gap->offset += needed;
  gap->bytes -= needed;
  if (gap->bytes == 0) gaps_.erase(gap);
  in_use_ += needed;
  peak_ = std::max(peak_, in_use_);
  return StorageRef(storage);
}

void Arena::release(Storage* storage) {
  size_t offset = static_cast<size_t>(storage->data - base_);
  size_t bytes = storage->bytes;
  in_use_ -= bytes;
  free_nodes_.push_back(storage);
  auto after = std::lower_bound(gaps_.begin(), gaps_.end(), offset,
                                [](const Gap& g, size_t at) { return g.offset < at; });
  bool joins_before =
      after != gaps_.begin() && std::prev(after)->offset + std::prev(after)->bytes == offset;
  bool joins_after = after != gaps_.end() && offset + bytes == after->offset;
  if (joins_before && joins_after) {
    std::prev(after)->bytes += bytes + after->bytes;
    gaps_.erase(after);
  } else if (joins_before) {
    std::prev(after)->bytes += bytes;
  } else if (joins_after) {
    after->offset = offset;
    after->bytes += bytes;
  } else {
    gaps_.insert(after, {offset, bytes});
  }
}

void Arena::check_integrity() const {
  size_t free_bytes = 0, end = 0;
  for (const Gap& gap : gaps_) {
    check(gap.bytes > 0, "arena: empty gap");
    check(&gap == &gaps_.front() || gap.offset > end, "arena: gaps touch or overlap");
    end = gap.offset + gap.bytes;
    free_bytes += gap.bytes;
  }
  check(end <= capacity_, "arena: gap outside the range");
  check(free_bytes + in_use_ == capacity_, "arena: sizes do not add up");
}

}  // namespace crane
