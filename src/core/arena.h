// Arena: memory for the activations of a step, and the reference-counted storage behind tensors.
//
// First fit from the lowest address, so the same sequence of requests gives the same addresses
// (what graph capture on a GPU relies on) and hot memory stays hot. One thread allocates and
// frees; that is the engine's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace crane {

class Arena;

// What a tensor's bytes live in. Released when the last tensor that refers to it goes.
struct Storage {
  std::atomic<int> references{0};
  std::byte* data = nullptr;
  size_t bytes = 0;
  Arena* arena = nullptr;             // gives the bytes back there, or
  std::shared_ptr<const void> owner;  // keeps this alive: a weight buffer, a mapped file
};

// Intrusive pointer: copying a tensor costs one increment and no allocation.
class StorageRef {
 public:
  StorageRef() = default;
  explicit StorageRef(Storage* storage) : storage_(storage) { acquire(); }
  StorageRef(const StorageRef& other) : storage_(other.storage_) { acquire(); }
  StorageRef(StorageRef&& other) noexcept : storage_(other.storage_) { other.storage_ = nullptr; }
  StorageRef& operator=(StorageRef other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StorageRef() { release(); }
  Storage* get() const { return storage_; }
  explicit operator bool() const { return storage_ != nullptr; }

 private:
  void acquire() {
    if (storage_) storage_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release();
  Storage* storage_ = nullptr;
};

// Storage that keeps `owner` alive and points at bytes inside it.
StorageRef make_storage(std::byte* data, size_t bytes, std::shared_ptr<const void> owner);

class Arena {
 public:
  static constexpr size_t kAlignment = 64;

  // Reserves address space for `capacity` bytes; memory is touched only as it is used.
  explicit Arena(size_t capacity);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Throws Error(out_of_memory) with both sizes when no gap is large enough.
  StorageRef allocate(size_t bytes);
  size_t in_use() const { return in_use_; }
  size_t peak() const { return peak_; }
  size_t capacity() const { return capacity_; }
  // Gaps are sorted, apart and inside the range, and sizes add up.
  void check_integrity() const;

 private:
  friend class StorageRef;
  struct Gap {
    size_t offset, bytes;
  };
  void release(Storage* storage);

  std::byte* base_ = nullptr;
  size_t capacity_ = 0;
  size_t in_use_ = 0;
  size_t peak_ = 0;
  std::vector<Gap> gaps_;
  std::vector<std::unique_ptr<Storage>> nodes_;
  std::vector<Storage*> free_nodes_;
};

}  // namespace crane
