// Replaces the global operator new of the test program by one that counts, for the promise that
// the token loop does not allocate. In a file of its own, so that nothing inlines it.
#include "engine/allocation_count.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

static std::atomic<int64_t> allocations{0};

[[gnu::noinline]] void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size ? size : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace crane {

int64_t allocation_count() { return allocations.load(std::memory_order_relaxed); }

namespace {

TEST(AllocationCount, Counts) {
  int64_t before = allocation_count();
  auto number = std::make_unique<int>(1);
  EXPECT_GT(allocation_count(), before);
}

}  // namespace
}  // namespace crane
