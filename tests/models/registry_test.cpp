#include "models/registry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/registry.h"
#include "io/checkpoint.h"

namespace crane {
namespace {

std::string refusal(const char* config) {
  Checkpoint checkpoint = Checkpoint::open(CRANE_SOURCE_DIR "/tests/golden/models/qwen2-f32-tied");
  auto device = make_device({.threads = 1, .arena_bytes = 1 << 20});
  Weights weights(checkpoint, *device);
  try {
    make_text_model(Json::parse(config, "test"), weights);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ModelRegistry, NamesAreExact) {
  std::string message = refusal(R"({"model_type": "qwen2_moe"})");
  EXPECT_NE(message.find("qwen2_moe"), std::string::npos) << message;
  EXPECT_NE(message.find("qwen2"), std::string::npos) << message;
  EXPECT_NE(refusal(R"({"architectures": ["Qwen2MoeForCausalLM"]})").find("Qwen2MoeForCausalLM"),
            std::string::npos);
  EXPECT_NE(refusal("{}").find("model_type"), std::string::npos);
}

// A config that does not fit its tensors is refused with the tensor's name and both shapes.
TEST(ModelRegistry, ConfigAndTensorsMustAgree) {
  std::string message = refusal(
      R"({"model_type": "qwen2", "vocab_size": 131, "hidden_size": 64, "intermediate_size": 56,
          "num_hidden_layers": 3, "num_attention_heads": 8, "num_key_value_heads": 2})");
  EXPECT_NE(message.find("model.embed_tokens.weight"), std::string::npos) << message;
  EXPECT_NE(message.find("64"), std::string::npos) << message;
}

TEST(ModelRegistry, ListsWhatIsBuilt) {
  std::vector<std::string> names = known_architectures();
  EXPECT_NE(std::find(names.begin(), names.end(), "qwen2"), names.end());
}

}  // namespace
}  // namespace crane
