#include "engine/cache_size.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace crane {
namespace {

CacheSizing sizing(int64_t requested, int64_t free) {
  CacheSizing result;
  result.bytes_per_block = 1000;
  result.blocks_per_context = 50;
  result.max_running = 4;
  result.requested_bytes = requested;
  result.free_bytes = free;
  return result;
}

TEST(CacheSize, ChoosesFromTheFreeMemory) {
  EXPECT_EQ(choose_block_count(sizing(0, 100'000'000)), 200);  // all four contexts
  EXPECT_EQ(choose_block_count(sizing(0, 400'000)), 100);      // a quarter
  EXPECT_EQ(choose_block_count(sizing(0, 120'000)), 50);       // one context at least
  EXPECT_EQ(choose_block_count(sizing(0, 40'000)), 20);        // half of what there is
  EXPECT_EQ(choose_block_count(sizing(0, 0)), 50);             // unknown
  EXPECT_THROW(choose_block_count(sizing(0, 100)), Error);
}

TEST(CacheSize, ObeysARequest) {
  EXPECT_EQ(choose_block_count(sizing(7'999, 1)), 7);
  EXPECT_EQ(choose_block_count(sizing(1'000'000'000, 1)), 200);  // more could not be used
  try {
    choose_block_count(sizing(999, 0));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

TEST(CacheSize, FreeMemoryIsKnownOnLinux) { EXPECT_GT(free_memory_bytes(), 1 << 20); }

}  // namespace
}  // namespace crane
