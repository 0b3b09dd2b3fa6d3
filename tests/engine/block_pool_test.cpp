#include "engine/block_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "base/error.h"

namespace crane {
namespace {

using Keys = std::vector<int32_t>;

constexpr int kSize = 4;

TEST(BlockPool, GivesEachBlockOnce) {
  BlockPool pool(3, kSize);
  EXPECT_EQ(pool.allocate(), 0);
  EXPECT_EQ(pool.allocate(), 1);
  EXPECT_EQ(pool.allocate(), 2);
  EXPECT_EQ(pool.allocate(), BlockPool::kNone);
  pool.release(1);
  EXPECT_EQ(pool.free(), 1);
  EXPECT_EQ(pool.allocate(), 1);
  pool.check_integrity();
}

TEST(BlockPool, MisuseIsNoticed) {
  BlockPool pool(2, kSize);
  EXPECT_THROW(pool.release(0), Error);
  EXPECT_THROW(pool.acquire(0), Error);
  int block = pool.allocate();
  pool.publish(BlockPool::kNone, block, Keys{1, 2, 3, 4});
  EXPECT_THROW(pool.publish(BlockPool::kNone, block, Keys{1, 2, 3, 4}), Error);
  EXPECT_THROW(pool.publish(1, pool.allocate(), Keys{1, 2, 3, 4}), Error);  // no node: not full
}

TEST(BlockPool, FindsAChainByContent) {
  BlockPool pool(8, kSize);
  int a = pool.allocate(), b = pool.allocate();
  EXPECT_EQ(pool.publish(BlockPool::kNone, a, Keys{1, 2, 3, 4}), a);
  EXPECT_EQ(pool.publish(a, b, Keys{5, 6, 7, 8}), b);
  EXPECT_EQ(pool.find(BlockPool::kNone, Keys{1, 2, 3, 4}), a);
  EXPECT_EQ(pool.find(a, Keys{5, 6, 7, 8}), b);
  EXPECT_EQ(pool.find(BlockPool::kNone, Keys{5, 6, 7, 8}), BlockPool::kNone);  // other parent
  EXPECT_EQ(pool.find(a, Keys{5, 6, 7, 9}), BlockPool::kNone);
  auto partial = pool.find_partial(a, Keys{5, 6, 0, 8});
  EXPECT_EQ(partial.block, b);
  EXPECT_EQ(partial.tokens, 2);
  EXPECT_EQ(pool.find_partial(a, Keys{6}).block, BlockPool::kNone);
  pool.check_integrity();
}

TEST(BlockPool, EqualBlocksBecomeOne) {
  BlockPool pool(8, kSize);
  int a = pool.allocate(), twin = pool.allocate();
  pool.publish(BlockPool::kNone, a, Keys{1, 2, 3, 4});
  EXPECT_EQ(pool.publish(BlockPool::kNone, twin, Keys{1, 2, 3, 4}), a);
  EXPECT_EQ(pool.owners(a), 2);
  EXPECT_EQ(pool.owners(twin), 0);
  EXPECT_EQ(pool.free(), 7);
  pool.check_integrity();
}

TEST(BlockPool, PartialBlocksAreLeavesAndCoveredOnesAreNotKept) {
  BlockPool pool(8, kSize);
  int a = pool.allocate(), b = pool.allocate();
  pool.publish(BlockPool::kNone, a, Keys{1, 2, 3});
  pool.publish(BlockPool::kNone, b, Keys{1, 2});
  pool.release(a);
  pool.release(b);
  EXPECT_EQ(pool.cached(), 1);
  EXPECT_EQ(pool.find(BlockPool::kNone, Keys{1, 2, 3}), BlockPool::kNone);  // only full ones
  EXPECT_EQ(pool.find_partial(BlockPool::kNone, Keys{1, 2, 3, 4}).tokens, 3);
  EXPECT_THROW(pool.publish(a, pool.allocate(), Keys{4}), Error);
  pool.check_integrity();
}

TEST(BlockPool, EvictsTheLeastRecentlyUsedLeafFirst) {
  BlockPool pool(4, kSize);
  int a = pool.allocate(), b = pool.allocate(), c = pool.allocate(), d = pool.allocate();
  pool.publish(BlockPool::kNone, a, Keys{1, 1, 1, 1});
  pool.publish(a, b, Keys{2, 2, 2, 2});
  pool.publish(a, c, Keys{3, 3, 3, 3});
  pool.publish(BlockPool::kNone, d, Keys{4, 4, 4, 4});
  pool.acquire(a);  // the sequence a-b and the sequence a-c
  pool.release(b);
  pool.release(a);
  pool.release(d);
  pool.release(c);
  pool.release(a);
  EXPECT_EQ(pool.available(), 4);
  pool.check_integrity();
  EXPECT_EQ(pool.allocate(), b);  // oldest leaf
  EXPECT_EQ(pool.allocate(), d);
  pool.acquire(a);
  pool.acquire(c);
  EXPECT_EQ(pool.allocate(), BlockPool::kNone);
  pool.release(c);
  pool.release(a);
  EXPECT_EQ(pool.allocate(), c);  // the inner node after its child
  EXPECT_EQ(pool.allocate(), a);
  EXPECT_EQ(pool.find(BlockPool::kNone, Keys{1, 1, 1, 1}), BlockPool::kNone);
  pool.check_integrity();
}

TEST(BlockPool, ParentOfAnEvictedLeafKeepsItsAge) {
  BlockPool pool(4, kSize);
  int a = pool.allocate(), b = pool.allocate(), c = pool.allocate(), d = pool.allocate();
  pool.publish(BlockPool::kNone, a, Keys{1, 1, 1, 1});
  pool.publish(a, b, Keys{2, 2, 2, 2});
  pool.publish(BlockPool::kNone, c, Keys{3, 3, 3, 3});
  pool.publish(BlockPool::kNone, d, Keys{4, 4, 4, 4});
  for (int block : {b, a, c, d}) pool.release(block);
  EXPECT_EQ(pool.allocate(), b);
  EXPECT_EQ(pool.allocate(), a);  // older than c and d
  EXPECT_EQ(pool.allocate(), c);
  pool.check_integrity();
}

// Random paths are taken, published and released, against a model that remembers contents.
TEST(BlockPool, RandomOperations) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 rng(seed);
    BlockPool pool(5 + static_cast<int>(rng() % 20), kSize);
    struct Path {
      std::vector<int> blocks;
      std::vector<Keys> keys;
    };
    std::vector<Path> paths;
    std::map<int, std::pair<int, Keys>> content;  // block -> parent, keys, when published
    for (int i = 0; i < 2000; ++i) {
      if (rng() % 2 == 0 || paths.empty()) {
        Path path;
        int parent = BlockPool::kNone;
        for (size_t depth = rng() % 5 + 1; depth-- > 0;) {
          Keys keys(kSize);
          for (int32_t& key : keys) key = static_cast<int32_t>(rng() % 2);
          int block = pool.find(parent, keys);
          if (block != BlockPool::kNone) {
            ASSERT_EQ(content.at(block), std::make_pair(parent, keys));
            pool.acquire(block);
          } else {
            block = pool.allocate();
            if (block == BlockPool::kNone) break;
            content.erase(block);
            block = pool.publish(parent, block, keys);
            content[block] = {parent, keys};
          }
          path.blocks.push_back(block);
          parent = block;
        }
        paths.push_back(path);
      } else {
        std::swap(paths[rng() % paths.size()], paths.back());
        for (size_t b = paths.back().blocks.size(); b-- > 0;) pool.release(paths.back().blocks[b]);
        paths.pop_back();
      }
      pool.check_integrity();
    }
    for (Path& path : paths)
      for (size_t b = path.blocks.size(); b-- > 0;) pool.release(path.blocks[b]);
    EXPECT_EQ(pool.available(), pool.total());
    while (pool.allocate() != BlockPool::kNone) pool.check_integrity();  // all can be evicted
    EXPECT_EQ(pool.cached(), 0);
  }
}

}  // namespace
}  // namespace crane
