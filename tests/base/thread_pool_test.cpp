// ThreadPool: every index once, whoever does it, with many short loops one after the other (run
// under TSan: `cmake --preset tsan`).
#include "base/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"

namespace crane {
namespace {

TEST(ThreadPool, CountsTheCaller) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_EQ(ThreadPool(1).size(), 1);
  EXPECT_EQ(ThreadPool(4).size(), 4);
  EXPECT_THROW(ThreadPool(0), Error);
}

// Unsynchronised counters: two workers with the same index are a race that TSan sees.
TEST(ThreadPool, EveryIndexOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 7, 64, 65, 1000}) {
      for (int64_t grain : {1, 3, 64, 5000}) {
        std::vector<int> hits(static_cast<size_t>(count), 0);
        pool.parallel_for(count, grain, [&](int64_t begin, int64_t end, int worker) {
          EXPECT_LT(begin, end);
          EXPECT_GE(worker, 0);
          EXPECT_LT(worker, threads);
          for (int64_t i = begin; i < end; ++i) ++hits[static_cast<size_t>(i)];
        });
        EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), int64_t{0}), count);
        EXPECT_TRUE(std::all_of(hits.begin(), hits.end(), [](int hit) { return hit == 1; }));
      }
    }
  }
}

TEST(ThreadPool, PiecesAreWholeGrains) {
  ThreadPool pool(3);
  std::atomic<int> pieces{0};
  pool.parallel_for(100, 16, [&](int64_t begin, int64_t end, int) {
    EXPECT_EQ(begin % 16, 0);
    EXPECT_TRUE(end == begin + 16 || end == 100);
    ++pieces;
  });
  EXPECT_EQ(pieces, 7);
}

TEST(ThreadPool, OneThreadRunsInlineInOnePiece) {
  ThreadPool pool(1);
  int calls = 0;
  auto caller = std::this_thread::get_id();
  pool.parallel_for(1000, 1, [&](int64_t begin, int64_t end, int worker) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 1000);
    EXPECT_EQ(worker, 0);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, NothingToDoCallsNothing) {
  ThreadPool pool(2);
  pool.parallel_for(0, 1, [](int64_t, int64_t, int) { FAIL(); });
  pool.parallel_for(-5, 1, [](int64_t, int64_t, int) { FAIL(); });
}

// What one loop writes the next may read, without any lock of the caller's.
TEST(ThreadPool, LoopsFollowEachOther) {
  for (int threads : {2, 3, 5}) {
    ThreadPool pool(threads);
    constexpr int64_t kCount = 24;
    std::vector<int64_t> values(kCount, 0), previous(kCount, 0);
    for (int round = 1; round <= 20000; ++round) {
      pool.parallel_for(kCount, 1, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i)
          values[static_cast<size_t>(i)] = previous[static_cast<size_t>((i + 7) % kCount)] + 1;
      });
      std::swap(values, previous);
    }
    for (int64_t value : previous) ASSERT_EQ(value, 20000);
  }
}

// Bodies on the caller's stack that are gone right after the loop.
TEST(ThreadPool, BodiesMayDieAfterTheLoop) {
  ThreadPool pool(4);
  std::atomic<int64_t> total{0};
  for (int round = 0; round < 20000; ++round) {
    auto data = std::make_unique<int64_t[]>(8);
    pool.parallel_for(8, 1, [&data, &total](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        data[static_cast<size_t>(i)] = i;
        total.fetch_add(data[static_cast<size_t>(i)], std::memory_order_relaxed);
      }
    });
  }
  EXPECT_EQ(total, 20000 * 28);
}

TEST(ThreadPool, WorkersWakeAfterSleep) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 4 * 2));
    std::atomic<int> sum{0};
    pool.parallel_for(
        100, 1, [&](int64_t begin, int64_t end, int) { sum += static_cast<int>(end - begin); });
    EXPECT_EQ(sum, 100);
  }
}

// A worker that is put aside must not be waited for before its piece is done, nor its piece lost.
TEST(ThreadPool, SlowPiecesAreWaitedFor) {
  ThreadPool pool(3);
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> done{0};
    pool.parallel_for(6, 1, [&](int64_t begin, int64_t, int worker) {
      if (worker != 0 || begin == 5) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      ++done;
    });
    EXPECT_EQ(done, 6);
  }
}

TEST(ThreadPool, SeveralPoolsAndCallersInTurn) {
  ThreadPool first(2), second(2);
  std::atomic<int> sum{0};
  auto add = [&](int64_t begin, int64_t end, int) { sum += static_cast<int>(end - begin); };
  std::thread other([&] {
    for (int i = 0; i < 2000; ++i) second.parallel_for(10, 1, add);
  });
  for (int i = 0; i < 2000; ++i) first.parallel_for(10, 1, add);
  other.join();
  second.parallel_for(10, 1, add);  // another thread than before
  EXPECT_EQ(sum, 40010);
}

TEST(ThreadPool, ComesAndGoesQuickly) {
  for (int i = 0; i < 200; ++i) {
    ThreadPool pool(1 + i % 5);
    std::atomic<int> sum{0};
    if (i % 3 != 0)
      pool.parallel_for(
          17, 2, [&](int64_t begin, int64_t end, int) { sum += static_cast<int>(end - begin); });
    EXPECT_EQ(sum, i % 3 != 0 ? 17 : 0);
  }
}

TEST(ThreadPool, LongRangesInManyPieces) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  pool.parallel_for(int64_t{1} << 40, int64_t{1} << 28,
                    [&](int64_t begin, int64_t end, int) { sum += end - begin; });
  EXPECT_EQ(sum, int64_t{1} << 40);
}

}  // namespace
}  // namespace crane
