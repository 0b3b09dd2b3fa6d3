#include "models/config.h"

#include <gtest/gtest.h>

namespace crane {
namespace {

Json parse(const char* text) { return Json::parse(text, "test"); }

template <class Function>
std::string message(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ConfigReader, SizesAreBounded) {
  Json config = parse(R"({"good": 7, "zero": 0, "huge": 2000000000, "text": "7", "none": null})");
  ConfigReader reader(config);
  EXPECT_EQ(reader.size("good"), 7);
  EXPECT_EQ(reader.size("absent", 3), 3);
  EXPECT_EQ(reader.size("none", 4), 4);
  for (const char* key : {"zero", "huge", "text", "absent"})
    EXPECT_NE(message([&] { reader.size(key); }).find(key), std::string::npos) << key;
}

TEST(ConfigReader, RopeParametersFromEverySpelling) {
  Json newer =
      parse(R"({"rope_parameters": {"rope_type": "yarn", "rope_theta": 5.0, "factor": 4}})");
  EXPECT_EQ(ConfigReader(newer).rope_parameters(1.0).get<double>("rope_theta"), 5.0);
  Json older = parse(R"({"rope_theta": 7.0, "rope_scaling": {"type": "linear", "factor": 2}})");
  Json merged = ConfigReader(older).rope_parameters(1.0);
  EXPECT_EQ(merged.get<double>("rope_theta"), 7.0);
  EXPECT_EQ(merged.get<std::string>("type"), "linear");
  Json empty = parse("{}");
  EXPECT_EQ(ConfigReader(empty).rope_parameters(3.0).get<double>("rope_theta"), 3.0);
}

TEST(ConfigReader, WindowsOfLayers) {
  Json config =
      parse(R"({"use_sliding_window": true, "sliding_window": 8, "max_window_layers": 1})");
  EXPECT_EQ(ConfigReader(config).layer_windows(3, 28), (std::vector<int>{0, 8, 8}));
  Json off = parse(R"({"use_sliding_window": false, "sliding_window": 8, "max_window_layers": 0})");
  EXPECT_EQ(ConfigReader(off).layer_windows(2, 28), (std::vector<int>{0, 0}));
  Json listed = parse(R"({"use_sliding_window": true, "sliding_window": 4,
                          "layer_types": ["sliding_attention", "full_attention"]})");
  EXPECT_EQ(ConfigReader(listed).layer_windows(2, 28), (std::vector<int>{4, 0}));
  EXPECT_NE(message([&] { ConfigReader(listed).layer_windows(3, 28); }).find("layer_types"),
            std::string::npos);
  Json odd = parse(R"({"layer_types": ["linear_attention"]})");
  EXPECT_NE(message([&] { ConfigReader(odd).layer_windows(1, 28); }).find("linear_attention"),
            std::string::npos);
}

TEST(ConfigReader, RefusesOptionsThatNobodyReads) {
  Json neutral = parse(R"({"attention_bias": false, "rope_scaling": null, "pretraining_tp": 1,
                           "partial_rotary_factor": 1.0, "my_own_note": "x"})");
  EXPECT_EQ(message([&] { ConfigReader(neutral).refuse_unread(); }), "accepted");
  for (const char* option : {R"({"attention_bias": true})", R"({"partial_rotary_factor": 0.5})",
                             R"({"final_logit_softcapping": 30.0})", R"({"num_experts": 8})",
                             R"({"quantization_config": {"quant_method": "gptq"}})"}) {
    Json config = parse(option);
    std::string key = config.as_object().begin()->first;
    EXPECT_NE(message([&] { ConfigReader(config).refuse_unread(); }).find(key), std::string::npos);
    ConfigReader reader(config);
    if (key == "attention_bias") {
      reader.get<bool>("attention_bias");
      EXPECT_EQ(message([&] { reader.refuse_unread(); }), "accepted");
    }
  }
}

TEST(ConfigReader, HeadsMustDivide) {
  EXPECT_EQ(message([] { check_heads(14, 2, 64); }), "accepted");
  EXPECT_NE(message([] { check_heads(14, 4, 64); }).find("14"), std::string::npos);
  EXPECT_NE(message([] { check_heads(2, 4, 64); }).find("4"), std::string::npos);
  EXPECT_NE(message([] { check_heads(2, 2, 3); }).find("3"), std::string::npos);
}

TEST(ConfigReader, Activations) {
  Json config = parse(R"({"tanh": "gelu_pytorch_tanh", "odd": "mish"})");
  EXPECT_EQ(ConfigReader(config).activation("hidden_act"), Activation::silu);
  EXPECT_EQ(ConfigReader(config).activation("tanh"), Activation::gelu_tanh);
  EXPECT_NE(message([&] { ConfigReader(config).activation("odd"); }).find("mish"),
            std::string::npos);
}

}  // namespace
}  // namespace crane
