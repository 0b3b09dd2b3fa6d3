#include "backends/registry.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace crane {
namespace {

std::string refusal(const DeviceOptions& options) {
  try {
    make_device(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Registry, EveryLevelOfThisMachineMakesADevice) {
  std::vector<std::string> levels = available_isa_levels();
  EXPECT_NE(std::find(levels.begin(), levels.end(), "generic"), levels.end());
  for (const std::string& level : levels) {
    auto device = make_device({.isa = level, .threads = 3, .arena_bytes = 1 << 20});
    EXPECT_EQ(device->backend().description(), "cpu, " + level + ", 3 threads");
  }
}

TEST(Registry, AutoTakesTheBestLevel) {
  auto device = make_device({.threads = 1, .arena_bytes = 1 << 20});
  EXPECT_EQ(device->backend().description(),
            "cpu, " + available_isa_levels().front() + ", 1 thread");
}

TEST(Registry, RefusesByName) {
  EXPECT_NE(refusal({.dtype = "bf16"}).find("bf16"), std::string::npos);
  EXPECT_NE(refusal({.dtype = "f64"}).find("expected auto or f32"), std::string::npos);
  EXPECT_NE(refusal({.isa = "sse9"}).find("sse9"), std::string::npos);
  EXPECT_NE(refusal({.threads = -2}).find("-2"), std::string::npos);
}

TEST(Registry, ReferenceModeKeepsKeysAndValuesInF32) {
  auto reference = make_device({.dtype = "f32", .threads = 1, .arena_bytes = 1 << 20});
  auto everyday = make_device({.dtype = "auto", .threads = 1, .arena_bytes = 1 << 20});
  EXPECT_EQ(reference->backend().default_kv_type(true), DType::f32);
  EXPECT_EQ(everyday->backend().default_kv_type(true), DType::f16);
}

}  // namespace
}  // namespace crane
