// The default model through the program: what the README's first command does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/subprocess.h"
#include "base/json.h"

namespace crane::test {
namespace {

// The model's path, or empty after a skip (a failure where CRANE_REQUIRE_MODELS is set).
std::string require_default_model() {
  const char* required = std::getenv("CRANE_REQUIRE_MODELS");
  const char* skipped = std::getenv("CRANE_SKIP_MODELS");
  if (skipped && *skipped) return "";
  std::string model = default_model();
  if (model.empty() && required && *required) ADD_FAILURE() << "no model; tools/get-model gets it";
  return model;
}

#define CRANE_NEEDS_MODEL(model)               \
  std::string model = require_default_model(); \
  if (model.empty()) GTEST_SKIP() << "tools/get-model gets the model that this test needs"

TEST(RealModel, AnswersACodeQuestion) {
  CRANE_NEEDS_MODEL(model);
  Outcome outcome = run_crane({"run", model, "-p", "What is the capital of France? One word.",
                               "--temp", "0", "-n", "16", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Json result = Json::parse(outcome.out, "run");
  EXPECT_THAT(result["text"].as_string(), ::testing::HasSubstr("Paris"));
  EXPECT_EQ(result["finish_reason"].as_string(), "stop");
}

TEST(RealModel, ShowNamesTypesAndTokenizer) {
  CRANE_NEEDS_MODEL(model);
  Outcome outcome = run_crane({"show", model, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Json shown = Json::parse(outcome.out, "show");
  EXPECT_EQ(shown["architecture"].as_string(), "qwen2");
  EXPECT_EQ(shown["tensor_types"]["Q5_0"].get<int64_t>("count"), 133);
  EXPECT_EQ(shown["tensor_types"]["F32"].get<int64_t>("count"), 121);
  EXPECT_EQ(shown["pre_tokenizer"].as_string(), "qwen2");
  EXPECT_EQ(shown["files"].as_array().at(0).get<int64_t>("bytes"), 491400064);
}

}  // namespace
}  // namespace crane::test
