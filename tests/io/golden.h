// Where the committed checkpoints and the real model lie.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace crane::testing {

inline std::string golden_model(const std::string& name) {
  return std::string(CRANE_SOURCE_DIR) + "/tests/golden/models/" + name;
}

// Path of a real model file, or "" when this machine has none: the test then skips, and fails
// where CRANE_REQUIRE_MODELS is set.
inline std::string real_model(const std::string& name) {
  const char* home = std::getenv("HOME");
  const char* folder = std::getenv("CRANE_TEST_MODELS");
  for (const std::string& root :
       {std::string(folder ? folder : ""), std::string(home ? home : "") + "/.cache/crane/models",
        std::string(home ? home : "") + "/.cache/crane-test-models"}) {
    std::string path = root + "/" + name;
    if (!root.empty() && std::filesystem::exists(path)) return path;
  }
  return "";
}

constexpr const char* kDefaultModel = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf";

}  // namespace crane::testing

// Ends a test that needs a real model which is absent.
#define CRANE_SKIP_WITHOUT_MODEL(path)                                                        \
  if ((path).empty()) {                                                                       \
    if (std::getenv("CRANE_REQUIRE_MODELS")) FAIL() << "the default model is absent";         \
    GTEST_SKIP() << "no default model: get it with README's first command, or name a folder " \
                    "in CRANE_TEST_MODELS";                                                   \
  }
