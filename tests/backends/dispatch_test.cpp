// Levels by name.

#include "backends/cpu/dispatch.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace crane::cpu {
namespace {

TEST(DispatchTest, AutoIsTheBestLevelAndGenericIsAlwaysThere) {
  std::vector<std::string_view> levels = available_levels();
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels.back(), "generic");
  EXPECT_EQ(select_kernels("auto").name, levels.front());
  for (std::string_view level : levels) EXPECT_EQ(select_kernels(level).name, level);
}

TEST(DispatchTest, AnUnknownLevelNamesTheOnesThatExist) {
  try {
    select_kernels("sse9");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("sse9"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("generic"), std::string::npos);
  }
}

}  // namespace
}  // namespace crane::cpu
