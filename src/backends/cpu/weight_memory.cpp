#include "backends/cpu/weight_memory.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/error.h"
#include "base/strings.h"

namespace crane::cpu {
namespace {

constexpr size_t kAlignment = 64;

size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

// Kernels prefetch a little past the end of what they read; that never faults, but stays inside
// the region all the same for most weights.
std::shared_ptr<std::byte> map_region(size_t bytes, size_t page) {
  size_t mapped = bytes + page;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory, cat("weights: no ", mapped, " bytes of memory"));
  size_t start = round_up(reinterpret_cast<size_t>(base), page);
  madvise(reinterpret_cast<void*>(start), bytes, MADV_HUGEPAGE);  // a wish; small pages also work
  return {reinterpret_cast<std::byte*>(start),
          [base, mapped](std::byte*) { munmap(base, mapped); }};
}

}  // namespace

StorageRef WeightMemory::allocate(size_t bytes) {
  size_t needed = round_up(std::max<size_t>(bytes, 1), kAlignment);
  if (needed > size_ - used_) {
    size_t size = round_up(std::max(needed, kRegion), kHugePage);
    region_ = map_region(size, kHugePage);
    size_ = size;
    used_ = 0;
  }
  std::byte* data = region_.get() + used_;
  used_ += needed;
  return make_storage(data, bytes, region_);
}

}  // namespace crane::cpu
