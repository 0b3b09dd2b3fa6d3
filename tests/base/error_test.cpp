#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crane {
namespace {

TEST(Error, KeepsCodeAndMessage) {
  Error error(ErrorCode::not_found, "x.gguf: missing");
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_STREQ(error.what(), "x.gguf: missing");
}

TEST(Check, PassesQuietlyAndThrowsInternalWithItsPlace) {
  check(true, "never");
  int line = 0;
  try {
    line = __LINE__ + 1;
    check(false, "pool: a block is free twice");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_THAT(error.what(),
                ::testing::EndsWith(":" + std::to_string(line) + ": pool: a block is free twice"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("error_test.cpp"));
  }
}

TEST(Check, ShortensPathsToBeginBelowSrc) {
  try {
    throw_check_failed("what", "/home/someone/crane/src/engine/engine.cpp", 7);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "engine/engine.cpp:7: what");
  }
}

}  // namespace
}  // namespace crane
