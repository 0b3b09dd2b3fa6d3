// The arena: first fit, joined gaps, and the same addresses for the same requests.
#include "core/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/error.h"

namespace crane {
namespace {

constexpr size_t kUnit = Arena::kAlignment;

TEST(Arena, AlignsAndCounts) {
  Arena arena(16 * kUnit);
  EXPECT_EQ(arena.capacity(), 16 * kUnit);
  StorageRef a = arena.allocate(1), b = arena.allocate(kUnit + 1), c = arena.allocate(0);
  for (const StorageRef& storage : {a, b, c})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage.get()->data) % kUnit, 0u);
  EXPECT_EQ(arena.in_use(), 4 * kUnit);
  EXPECT_EQ(b.get()->data - a.get()->data, static_cast<ptrdiff_t>(kUnit));
  EXPECT_NE(c.get()->data, b.get()->data);
  a = StorageRef();
  EXPECT_EQ(arena.in_use(), 3 * kUnit);
  EXPECT_EQ(arena.peak(), 4 * kUnit);
  arena.check_integrity();
}

TEST(Arena, LowestGapThatFitsIsTaken) {
  Arena arena(8 * kUnit);
  std::vector<StorageRef> all;
  for (int i = 0; i < 8; ++i) all.push_back(arena.allocate(kUnit));
  std::byte* base = all[0].get()->data;
  all[1] = all[4] = all[5] = StorageRef();
  StorageRef two = arena.allocate(2 * kUnit), one = arena.allocate(kUnit);
  EXPECT_EQ(two.get()->data, base + 4 * kUnit);
  EXPECT_EQ(one.get()->data, base + kUnit);
  arena.check_integrity();
}

TEST(Arena, NeighbouringGapsJoin) {
  for (std::vector<size_t> order :
       {std::vector<size_t>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
    Arena arena(3 * kUnit);
    std::vector<StorageRef> all;
    for (int i = 0; i < 3; ++i) all.push_back(arena.allocate(kUnit));
    for (size_t i : order) {
      all[i] = StorageRef();
      arena.check_integrity();
    }
    EXPECT_EQ(arena.in_use(), 0u);
    EXPECT_TRUE(static_cast<bool>(arena.allocate(3 * kUnit)));
  }
}

TEST(Arena, FullIsAnErrorWithBothSizes) {
  Arena arena(4 * kUnit);
  StorageRef most = arena.allocate(3 * kUnit);
  try {
    arena.allocate(2 * kUnit);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("128 bytes wanted, 64 of 256 free"));
  }
  EXPECT_TRUE(static_cast<bool>(arena.allocate(kUnit)));
  EXPECT_THROW(arena.allocate(SIZE_MAX), Error);
  EXPECT_THROW(arena.allocate(SIZE_MAX - 10), Error);
}

TEST(Arena, LastReferenceFrees) {
  Arena arena(2 * kUnit);
  StorageRef a = arena.allocate(kUnit);
  StorageRef b = a;
  StorageRef c = std::move(a);
  EXPECT_FALSE(static_cast<bool>(a));
  EXPECT_EQ(b.get(), c.get());
  b = StorageRef();
  EXPECT_EQ(arena.in_use(), kUnit);
  StorageRef& same = c;
  c = same;
  EXPECT_EQ(arena.in_use(), kUnit);
  c = StorageRef();
  EXPECT_EQ(arena.in_use(), 0u);
}

TEST(Arena, SameRequestsGiveTheSameAddresses) {
  Arena arena(1 << 20);
  auto step = [&] {
    std::vector<std::byte*> places;
    StorageRef kept = arena.allocate(1000);
    for (int i = 1; i < 20; ++i) {
      StorageRef temporary = arena.allocate(static_cast<size_t>(i) * 100);
      StorageRef next = arena.allocate(64);
      places.push_back(temporary.get()->data);
      places.push_back(next.get()->data);
      kept = next;
    }
    return places;
  };
  std::vector<std::byte*> first = step();
  EXPECT_EQ(step(), first);
  EXPECT_EQ(arena.in_use(), 0u);
}

// Random requests: pieces never overlap and the books always balance.
TEST(Arena, RandomSequencesKeepTheirContent) {
  Arena arena(256 * kUnit);
  std::mt19937 random(7);
  struct Piece {
    StorageRef storage;
    int mark;
    size_t bytes;
  };
  std::vector<Piece> live;
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    if (live.empty() || random() % 2 == 0) {
      size_t bytes = random() % (20 * kUnit);
      try {
        Piece piece{arena.allocate(bytes), static_cast<int>(random() % 256), bytes};
        std::memset(piece.storage.get()->data, piece.mark, bytes);
        live.push_back(std::move(piece));
      } catch (const Error&) {
        ++refused;
      }
    } else {
      size_t at = random() % live.size();
      const Piece& piece = live[at];
      for (size_t i = 0; i < piece.bytes; ++i)
        ASSERT_EQ(piece.storage.get()->data[i], static_cast<std::byte>(piece.mark));
      std::swap(live[at], live.back());
      live.pop_back();
    }
    if (round % 64 == 0) arena.check_integrity();
  }
  EXPECT_GT(refused, 0);
  live.clear();
  EXPECT_EQ(arena.in_use(), 0u);
  arena.check_integrity();
}

TEST(Storage, KeepsItsOwner) {
  auto owner = std::make_shared<std::vector<std::byte>>(16);
  std::weak_ptr<void> watch = owner;
  StorageRef storage = make_storage(owner->data(), 16, owner);
  owner.reset();
  EXPECT_FALSE(watch.expired());
  storage = StorageRef();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace crane
