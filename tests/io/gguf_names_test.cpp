// GGUF names and metadata in Hugging Face terms. The tensor names are compared with those that
// gguf-py's own map gives (the golden checkpoints were written by it); here are the keys.
#include "io/gguf_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "io/gguf_builder.h"

namespace crane {
namespace {

using testing::GgufBuilder;
using testing::GgufType;
using ::testing::HasSubstr;

// The keys that every file has.
GgufBuilder dense() {
  GgufBuilder file;
  file.text("general.architecture", "qwen2")
      .scalar<uint32_t>("qwen2.context_length", testing::kU32, 32768)
      .scalar<uint32_t>("qwen2.embedding_length", testing::kU32, 64)
      .scalar<uint32_t>("qwen2.feed_forward_length", testing::kU32, 96)
      .scalar<uint32_t>("qwen2.block_count", testing::kU32, 3)
      .scalar<uint32_t>("qwen2.attention.head_count", testing::kU32, 4)
      .scalar<float>("qwen2.attention.layer_norm_rms_epsilon", testing::kF32, 1e-6f)
      .tensor("token_embd.weight", {64, 131}, 0, 0);
  file.data_bytes = 64 * 131 * 4;
  return file;
}

Json config_of(const GgufBuilder& file) {
  testing::Bytes bytes = file.build();
  GgufPart part = parse_gguf(bytes.span(), "x.gguf");
  return hugging_face_config(gguf_family(part.metadata, "x.gguf"), part.metadata, part.tensors,
                             "x.gguf");
}

Json config_with(const std::function<void(GgufBuilder&)>& change) {
  GgufBuilder file = dense();
  change(file);
  return config_of(file);
}

std::string refusal(const std::function<void(GgufBuilder&)>& change, ErrorCode code) {
  try {
    config_with(change);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), ::testing::StartsWith("x.gguf: "));
    return error.what();
  }
  return "";
}

// `file` without the key, or with another value in its place.
void drop(GgufBuilder& file, std::string_view key) {
  std::erase_if(file.pairs, [&](const testing::Bytes& pair) {
    return pair.text().find(key) == sizeof(uint64_t) &&
           pair.text().size() > sizeof(uint64_t) + key.size() &&
           static_cast<size_t>(pair.text()[0]) == key.size();
  });
}

TEST(GgufNames, TranslatesTensors) {
  testing::Bytes bytes = dense().build();
  GgufPart part = parse_gguf(bytes.span(), "x.gguf");
  const GgufFamily& family = gguf_family(part.metadata, "x.gguf");
  auto name = [&](std::string_view gguf) { return hugging_face_name(family, gguf); };
  EXPECT_EQ(name("token_embd.weight"), "model.embed_tokens.weight");
  EXPECT_EQ(name("output.weight"), "lm_head.weight");
  EXPECT_EQ(name("output_norm.weight"), "model.norm.weight");
  EXPECT_EQ(name("blk.0.attn_norm.weight"), "model.layers.0.input_layernorm.weight");
  EXPECT_EQ(name("blk.12.ffn_norm.weight"), "model.layers.12.post_attention_layernorm.weight");
  EXPECT_EQ(name("blk.3.attn_q.bias"), "model.layers.3.self_attn.q_proj.bias");
  EXPECT_EQ(name("blk.3.attn_k.weight"), "model.layers.3.self_attn.k_proj.weight");
  EXPECT_EQ(name("blk.3.attn_v.weight"), "model.layers.3.self_attn.v_proj.weight");
  EXPECT_EQ(name("blk.3.attn_output.weight"), "model.layers.3.self_attn.o_proj.weight");
  EXPECT_EQ(name("blk.3.ffn_gate.weight"), "model.layers.3.mlp.gate_proj.weight");
  EXPECT_EQ(name("blk.3.ffn_up.weight"), "model.layers.3.mlp.up_proj.weight");
  EXPECT_EQ(name("blk.3.ffn_down.weight"), "model.layers.3.mlp.down_proj.weight");
  for (const char* strange : {"rope_freqs.weight", "blk.0.nothing.weight", "blk.", "blk.0",
                              "weight", ".weight", "blk..weight", "", "token_embd.scale"})
    EXPECT_EQ(name(strange), strange);
}

TEST(GgufNames, UnknownArchitectureListsTheKnown) {
  EXPECT_THAT(refusal(
                  [](GgufBuilder& f) {
                    drop(f, "general.architecture");
                    f.text("general.architecture", "qwen2moe");
                  },
                  ErrorCode::unsupported),
              HasSubstr("GGUF architecture qwen2moe is not built, known: qwen2"));
  EXPECT_THAT(refusal([](GgufBuilder& f) { drop(f, "general.architecture"); }, ErrorCode::io),
              HasSubstr("key general.architecture: missing"));
  EXPECT_THAT(refusal(
                  [](GgufBuilder& f) {
                    drop(f, "general.architecture");
                    f.scalar<int32_t>("general.architecture", testing::kI32, 2);
                  },
                  ErrorCode::io),
              HasSubstr("general.architecture: got an integer, expected a string"));
}

TEST(GgufNames, GivesTheKeysOfConfigJson) {
  Json config = config_of(dense());
  EXPECT_EQ(config["model_type"], Json("qwen2"));
  EXPECT_EQ(config["architectures"], Json(JsonArray{Json("Qwen2ForCausalLM")}));
  EXPECT_EQ(config.get<int>("max_position_embeddings"), 32768);
  EXPECT_EQ(config.get<int>("hidden_size"), 64);
  EXPECT_EQ(config.get<int>("intermediate_size"), 96);
  EXPECT_EQ(config.get<int>("num_hidden_layers"), 3);
  EXPECT_EQ(config.get<int>("num_attention_heads"), 4);
  EXPECT_FALSE(config.contains("num_key_value_heads"));
  EXPECT_FALSE(config.contains("head_dim"));
  EXPECT_FALSE(config.contains("use_sliding_window"));
  EXPECT_EQ(config.get<float>("rms_norm_eps"), 1e-6f);
  EXPECT_EQ(config["rope_parameters"].dump(), R"({"rope_theta":10000.0,"rope_type":"default"})");
  EXPECT_EQ(config.get<int>("vocab_size"), 131);
  EXPECT_TRUE(config.get<bool>("tie_word_embeddings"));
}

TEST(GgufNames, AHeadOfItsOwnUnties) {
  EXPECT_FALSE(config_with([](GgufBuilder& f) {
                 f.tensor("output.weight", {64, 131}, 0, f.data_bytes);
                 f.data_bytes *= 2;
               }).get<bool>("tie_word_embeddings"));
}

TEST(GgufNames, IntegersOfAnyWidthAndLayersThatAgree) {
  Json config = config_with([](GgufBuilder& f) {
    drop(f, "qwen2.feed_forward_length");
    drop(f, "qwen2.attention.head_count");
    drop(f, "qwen2.context_length");
    f.array("qwen2.feed_forward_length", testing::kI32, std::vector<int32_t>{96, 96, 96});
    f.scalar<uint64_t>("qwen2.attention.head_count", testing::kU64, 4);
    f.scalar<float>("qwen2.context_length", testing::kF32, 1024.0f);
    f.array("qwen2.attention.head_count_kv", testing::kU32, std::vector<uint32_t>{2, 2, 2});
  });
  EXPECT_EQ(config.get<int>("intermediate_size"), 96);
  EXPECT_EQ(config.get<int>("num_attention_heads"), 4);
  EXPECT_EQ(config.get<int>("num_key_value_heads"), 2);
  EXPECT_EQ(config.get<int>("max_position_embeddings"), 1024);
  EXPECT_THAT(
      refusal(
          [](GgufBuilder& f) {
            f.array("qwen2.attention.head_count_kv", testing::kU32, std::vector<uint32_t>{2, 1, 2});
          },
          ErrorCode::unsupported),
      HasSubstr("key qwen2.attention.head_count_kv: differs from layer to layer"));
}

// G10 as far as the reader can tell: each size missing, 0, negative, too large, of another kind.
TEST(GgufNames, EachSizeIsCheckedByName) {
  for (std::string key :
       {"context_length", "embedding_length", "feed_forward_length", "block_count",
        "attention.head_count", "attention.head_count_kv", "attention.key_length"}) {
    std::string full = "qwen2." + key;
    for (int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1} << 31, int64_t{1} << 62}) {
      auto change = [&](GgufBuilder& f) {
        drop(f, full);
        f.scalar(full, testing::kI64, value);
      };
      EXPECT_THAT(refusal(change, ErrorCode::io), HasSubstr("key " + full + ": got ")) << value;
    }
    auto text = [&](GgufBuilder& f) {
      drop(f, full);
      f.text(full, "64");
    };
    EXPECT_THAT(refusal(text, ErrorCode::io), HasSubstr(full + ": got a string"));
    if (key.find("kv") == std::string::npos && key != "attention.key_length") {
      auto missing = [&](GgufBuilder& f) { drop(f, full); };
      EXPECT_THAT(refusal(missing, ErrorCode::io), HasSubstr("key " + full + ": missing"));
    }
  }
  for (float value : {-1.0f, 0.0f / 0.0f, 1.0f / 0.0f}) {
    auto change = [&](GgufBuilder& f) { f.scalar("qwen2.rope.freq_base", testing::kF32, value); };
    EXPECT_THAT(refusal(change, ErrorCode::io), HasSubstr("key qwen2.rope.freq_base: got"));
  }
}

TEST(GgufNames, LayersWithoutReasonDoNotAllocate) {
  auto change = [](GgufBuilder& f) {
    drop(f, "qwen2.block_count");
    f.scalar<uint32_t>("qwen2.block_count", testing::kU32, 0x7fffffff);
    f.scalar<uint32_t>("qwen2.attention.sliding_window", testing::kU32, 8);
  };
  EXPECT_THAT(refusal(change, ErrorCode::io), HasSubstr("key qwen2.block_count: got 2147483647"));
}

TEST(GgufNames, Yarn) {
  Json rope = config_with([](GgufBuilder& f) {
    f.scalar("qwen2.rope.freq_base", testing::kF32, 1e6f);
    f.text("qwen2.rope.scaling.type", "yarn");
    f.scalar("qwen2.rope.scaling.factor", testing::kF32, 4.0f);
    f.scalar<uint32_t>("qwen2.rope.scaling.original_context_length", testing::kU32, 32);
  })["rope_parameters"];
  EXPECT_EQ(rope, Json::parse(R"({"rope_theta":1e6,"rope_type":"yarn","factor":4,
                                  "original_max_position_embeddings":32})",
                              "test"));
}

TEST(GgufNames, YarnWithAllItsKeys) {
  auto keys = [](GgufBuilder& f) {
    f.text("qwen2.rope.scaling.type", "yarn");
    f.scalar("qwen2.rope.scaling.factor", testing::kF32, 4.0f);
    f.scalar("qwen2.rope.scaling.yarn_attn_factor", testing::kF32, 1.25f);
    f.scalar("qwen2.rope.scaling.yarn_beta_fast", testing::kF32, 8.0f);
    f.scalar("qwen2.rope.scaling.yarn_beta_slow", testing::kF32, 0.5f);
    f.scalar("qwen2.rope.scaling.yarn_ext_factor", testing::kF32, 1.0f);
  };
  Json rope = config_with(keys)["rope_parameters"];
  EXPECT_EQ(rope.get<double>("attention_factor"), 1.25);
  EXPECT_EQ(rope.get<double>("beta_fast"), 8.0);
  EXPECT_EQ(rope.get<double>("beta_slow"), 0.5);
  // llama.cpp multiplies its default of 0.1 ln(4) + 1 = 1.1386294 by attn_factor.
  Json multiplied = config_with([](GgufBuilder& f) {
    f.text("qwen2.rope.scaling.type", "yarn");
    f.scalar("qwen2.rope.scaling.factor", testing::kF32, 4.0f);
    f.scalar("qwen2.rope.scaling.attn_factor", testing::kF32, 2.0f);
  })["rope_parameters"];
  EXPECT_NEAR(multiplied.get<double>("attention_factor"), 2 * 1.1386294361, 1e-9);
  EXPECT_THAT(refusal(
                  [](GgufBuilder& f) {
                    f.text("qwen2.rope.scaling.type", "yarn");
                    f.scalar("qwen2.rope.scaling.factor", testing::kF32, 4.0f);
                    f.scalar("qwen2.rope.scaling.yarn_ext_factor", testing::kF32, 0.5f);
                  },
                  ErrorCode::unsupported),
              HasSubstr("yarn_ext_factor: got 0.5, expected 1"));
}

TEST(GgufNames, OtherScalings) {
  Json linear = config_with([](GgufBuilder& f) {
    f.text("qwen2.rope.scaling.type", "linear");
    f.scalar("qwen2.rope.scaling.factor", testing::kF32, 2.0f);
  })["rope_parameters"];
  EXPECT_EQ(linear.get<std::string>("rope_type"), "linear");
  EXPECT_EQ(linear.get<double>("factor"), 2.0);
  Json old = config_with([](GgufBuilder& f) {
    f.scalar("qwen2.rope.scale_linear", testing::kF32, 2.0f);
  })["rope_parameters"];
  EXPECT_EQ(old, linear);
  EXPECT_EQ(config_with([](GgufBuilder& f) { f.text("qwen2.rope.scaling.type", "none"); }),
            config_of(dense()));
  EXPECT_THAT(refusal([](GgufBuilder& f) { f.text("qwen2.rope.scaling.type", "longrope"); },
                      ErrorCode::unsupported),
              HasSubstr("rope.scaling.type: got longrope"));
  EXPECT_THAT(
      refusal([](GgufBuilder& f) { f.scalar("qwen2.rope.scaling.factor", testing::kF32, 2.0f); },
              ErrorCode::unsupported),
      HasSubstr("without a scaling type"));
  EXPECT_THAT(refusal(
                  [](GgufBuilder& f) {
                    f.text("qwen2.rope.scaling.type", "yarn");
                    f.scalar("qwen2.rope.scaling.factor", testing::kF32, 0.0f);
                  },
                  ErrorCode::io),
              HasSubstr("rope.scaling.factor: got 0"));
}

TEST(GgufNames, Windows) {
  auto types = [](const std::function<void(GgufBuilder&)>& change) {
    Json config = config_with([&](GgufBuilder& f) {
      f.scalar<uint32_t>("qwen2.attention.sliding_window", testing::kU32, 8);
      change(f);
    });
    EXPECT_TRUE(config.get<bool>("use_sliding_window"));
    EXPECT_EQ(config.get<int>("sliding_window"), 8);
    std::string out;
    for (const Json& type : config["layer_types"].as_array()) out += type.as_string()[0];
    return out;
  };
  constexpr const char* kPattern = "qwen2.attention.sliding_window_pattern";
  EXPECT_EQ(types([](GgufBuilder&) {}), "sss");
  EXPECT_EQ(types([](GgufBuilder& f) {
              f.array(kPattern, testing::kBool, std::vector<uint8_t>{0, 1, 1});
            }),
            "fss");
  EXPECT_EQ(types([](GgufBuilder& f) { f.scalar<uint32_t>(kPattern, testing::kU32, 2); }), "sfs");
  EXPECT_EQ(types([](GgufBuilder& f) { f.scalar<uint32_t>(kPattern, testing::kU32, 1); }), "fff");
  auto wrong = [](GgufBuilder& f) {
    f.scalar<uint32_t>("qwen2.attention.sliding_window", testing::kU32, 8);
    f.array(kPattern, testing::kBool, std::vector<uint8_t>{0, 1});
  };
  EXPECT_THAT(refusal(wrong, ErrorCode::io), HasSubstr("got 2 layers, expected 3"));
  EXPECT_FALSE(config_with([](GgufBuilder& f) {
                 f.scalar<uint32_t>("qwen2.attention.sliding_window", testing::kU32, 0);
               }).contains("use_sliding_window"));
}

TEST(GgufNames, KeysThatChangeTheComputationAreRefused) {
  auto with = [](const char* key, GgufType type, auto value) {
    return [=](GgufBuilder& f) { f.scalar(key, type, value); };
  };
  EXPECT_THAT(
      refusal(with("qwen2.expert_count", testing::kU32, uint32_t{8}), ErrorCode::unsupported),
      HasSubstr("key qwen2.expert_count: not built for architecture qwen2"));
  EXPECT_EQ(refusal(with("qwen2.expert_count", testing::kU32, uint32_t{0}), ErrorCode::io), "");
  EXPECT_NE(
      refusal(with("qwen2.final_logit_softcapping", testing::kF32, 30.0f), ErrorCode::unsupported),
      "");
  EXPECT_NE(
      refusal(with("qwen2.attention.causal", testing::kBool, uint8_t{0}), ErrorCode::unsupported),
      "");
  EXPECT_EQ(refusal(with("qwen2.attention.causal", testing::kBool, uint8_t{1}), ErrorCode::io), "");
  EXPECT_THAT(refusal(with("qwen2.rope.dimension_count", testing::kU32, uint32_t{8}),
                      ErrorCode::unsupported),
              HasSubstr("rope.dimension_count: got 8, expected the head size 16"));
  EXPECT_EQ(refusal(with("qwen2.rope.dimension_count", testing::kU32, uint32_t{16}), ErrorCode::io),
            "");
  EXPECT_NE(refusal(with("qwen2.attention.value_length", testing::kU32, uint32_t{8}),
                    ErrorCode::unsupported),
            "");
}

}  // namespace
}  // namespace crane
