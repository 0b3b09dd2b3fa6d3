#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace crane {
namespace {

using ::testing::ElementsAre;

struct LogTest : ::testing::Test {
  ~LogTest() override { set_log_sink(nullptr); }
  std::vector<std::string> lines;
  LogSink sink = [this](LogLevel, std::string_view text) { lines.emplace_back(text); };
};

TEST_F(LogTest, WithoutASinkNothingHappens) {
  set_log_sink(nullptr);
  log(LogLevel::error, "lost");
  EXPECT_TRUE(lines.empty());
}

TEST_F(LogTest, PassesLinesFromTheLowestLevelOn) {
  set_log_sink(sink, LogLevel::warning);
  log(LogLevel::debug, "d");
  log(LogLevel::info, "i");
  log(LogLevel::warning, "w");
  log(LogLevel::error, "e");
  EXPECT_THAT(lines, ElementsAre("w", "e"));
}

TEST_F(LogTest, InfoIsTheDefault) {
  set_log_sink(sink);
  log(LogLevel::debug, "d");
  log(LogLevel::info, "i");
  EXPECT_THAT(lines, ElementsAre("i"));
}

TEST_F(LogTest, SinkIsCalledByOneThreadAtATime) {
  std::atomic<int> inside{0}, calls{0};
  std::atomic<bool> overlapped{false};
  set_log_sink([&](LogLevel, std::string_view) {
    if (inside.fetch_add(1) != 0) overlapped = true;
    ++calls;
    inside.fetch_sub(1);
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 500; ++j) log(LogLevel::info, "x");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 2000);
  EXPECT_FALSE(overlapped);
}

}  // namespace
}  // namespace crane
