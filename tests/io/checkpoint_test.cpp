// Checkpoint: both formats in one form, which files a path means, and what stands beside weights.
#include "io/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "io/golden.h"
#include "io/temporary_folder.h"

namespace crane {
namespace {

namespace fs = std::filesystem;
using testing::golden_model;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::string refusal(const std::string& path, ErrorCode code) {
  try {
    Checkpoint::open(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "";
}

// The same weights in both formats must be the same tensors, byte for byte where the type is.
class TwoFormats : public ::testing::TestWithParam<const char*> {};

TEST_P(TwoFormats, GiveTheSameTensorsAndConfig) {
  std::string name = GetParam();
  Checkpoint folder = Checkpoint::open(golden_model(name));
  Checkpoint gguf = Checkpoint::open(golden_model(name + ".gguf"));
  EXPECT_EQ(folder.format(), "safetensors");
  EXPECT_EQ(gguf.format(), "gguf");
  EXPECT_EQ(folder.tensor_names(), gguf.tensor_names());
  for (const std::string& tensor : folder.tensor_names()) {
    const CheckpointTensor &a = *folder.find(tensor), &b = *gguf.find(tensor);
    EXPECT_EQ(a.shape, b.shape) << tensor;
    if (a.dtype == b.dtype) {
      EXPECT_EQ(std::memcmp(a.data, b.data, static_cast<size_t>(a.bytes)), 0) << tensor;
    }
  }
  for (const char* key :
       {"model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
        "num_attention_heads", "num_key_value_heads", "max_position_embeddings",
        "tie_word_embeddings", "hidden_act", "architectures"})
    EXPECT_EQ(folder.config()[key], gguf.config()[key]) << key;
  EXPECT_EQ(folder.config().get<float>("rms_norm_eps"), gguf.config().get<float>("rms_norm_eps"));
}

INSTANTIATE_TEST_SUITE_P(Goldens, TwoFormats,
                         ::testing::Values("qwen2-f32-tied", "qwen2-f16-untied", "qwen2-bf16-mqa",
                                           "qwen2-chat"),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Checkpoint, ReadsShardsFromFolderShardOrIndex) {
  for (const char* path :
       {"qwen2-sharded", "qwen2-sharded/", "qwen2-sharded/model.safetensors.index.json",
        "qwen2-sharded/model-00002-of-00004.safetensors", "qwen2-sharded/config.json"}) {
    Checkpoint checkpoint = Checkpoint::open(golden_model(path));
    EXPECT_EQ(checkpoint.tensor_names().size(), 39u) << path;
    EXPECT_EQ(checkpoint.find("model.embed_tokens.weight")->shape, (Shape{137, 48}));
    EXPECT_EQ(checkpoint.config().get<int>("num_key_value_heads"), 3);
    EXPECT_EQ(checkpoint.files().size(), 5u);  // four shards and config.json
  }
}

TEST(Checkpoint, ReadsSplitGgufFromAnyPart) {
  for (const char* path : {"qwen2-split-00001-of-00004.gguf", "qwen2-split-00003-of-00004.gguf"}) {
    Checkpoint checkpoint = Checkpoint::open(golden_model(path));
    EXPECT_EQ(checkpoint.tensor_names().size(), 38u);
    EXPECT_EQ(checkpoint.files().size(), 4u);
    EXPECT_EQ(checkpoint.find("model.layers.2.mlp.down_proj.weight")->dtype, DType::q8_0);
    EXPECT_EQ(checkpoint.find("model.layers.2.self_attn.q_proj.bias")->dtype, DType::f32);
  }
}

TEST(Checkpoint, KeepsTheTypesOfAMixedFile) {
  Checkpoint checkpoint = Checkpoint::open(golden_model("qwen2-k-quants.gguf"));
  auto type_of = [&](const char* name) { return checkpoint.find(name)->dtype; };
  EXPECT_EQ(type_of("model.embed_tokens.weight"), DType::q5_0);
  EXPECT_EQ(type_of("lm_head.weight"), DType::q8_0);
  EXPECT_EQ(type_of("model.layers.0.self_attn.q_proj.weight"), DType::q4_k);
  EXPECT_EQ(type_of("model.layers.1.self_attn.v_proj.weight"), DType::q6_k);
  EXPECT_EQ(checkpoint.find("model.layers.1.self_attn.v_proj.weight")->shape, (Shape{16, 256}));
  EXPECT_EQ(checkpoint.config().get<int>("head_dim"), 16);
}

TEST(Checkpoint, GivesWhatStandsBesideTheWeights) {
  Checkpoint folder = Checkpoint::open(golden_model("qwen2-chat"));
  Checkpoint gguf = Checkpoint::open(golden_model("qwen2-chat.gguf"));
  EXPECT_EQ(folder.tokenizer_json()["model"]["type"], Json("BPE"));
  EXPECT_EQ(&folder.tokenizer_json(), &folder.tokenizer_json());
  EXPECT_EQ(folder.generation_config()["eos_token_id"].as_array().size(), 2u);
  EXPECT_EQ(folder.tokenizer_config().get<std::string>("eos_token"), "<|im_end|>");
  EXPECT_EQ(folder.gguf_metadata(), nullptr);
  EXPECT_TRUE(gguf.tokenizer_json().is_null());
  EXPECT_TRUE(gguf.generation_config().is_null());
  ASSERT_NE(gguf.gguf_metadata(), nullptr);
  EXPECT_EQ(gguf.gguf_metadata()->find_strings("tokenizer.ggml.tokens")->size(), 320u);
  EXPECT_EQ(gguf.config().get<int>("eos_token_id"), 302);
  EXPECT_THAT(folder.chat_template_text(), HasSubstr("You are a crane."));
  EXPECT_EQ(folder.chat_template_text(), gguf.chat_template_text());
  EXPECT_EQ(folder.chat_template_text("tool_use"), "");
  EXPECT_EQ(gguf.chat_template_text("tool_use"), "");
}

TEST(Checkpoint, OutlivesTheMoveOfItself) {
  Checkpoint first = Checkpoint::open(golden_model("qwen2-chat.gguf"));
  const std::byte* data = first.find("model.norm.weight")->data;
  Checkpoint second = std::move(first);
  EXPECT_EQ(second.find("model.norm.weight")->data, data);
  EXPECT_EQ(second.gguf_metadata()->find_string("general.architecture"), "qwen2");
}

struct Folder : ::testing::Test {
  Folder() {
    for (const char* name : {"config.json", "model.safetensors", "tokenizer_config.json"})
      fs::copy(golden_model("qwen2-chat/") + name, folder.file(name));
  }
  TemporaryFolder folder;
};

TEST_F(Folder, TemplateFileWinsOverTheOlderPlaces) {
  folder.write("chat_template.json", R"({"chat_template": "from json"})");
  EXPECT_EQ(Checkpoint::open(folder.path()).chat_template_text(), "from json");
  folder.write("chat_template.jinja", "from jinja");
  folder.write("additional_chat_templates/tool_use.jinja", "tools");
  Checkpoint checkpoint = Checkpoint::open(folder.path());
  EXPECT_EQ(checkpoint.chat_template_text(), "from jinja");
  EXPECT_EQ(checkpoint.chat_template_text("tool_use"), "tools");
  EXPECT_EQ(checkpoint.chat_template_text("../chat_template"), "");
}

TEST_F(Folder, TemplateMayBeAListOfNamedOnes) {
  folder.write("tokenizer_config.json", R"({"chat_template":[{"name":"default","template":"d"},)"
                                        R"({"name":"rag","template":"r"}]})");
  Checkpoint checkpoint = Checkpoint::open(folder.path());
  EXPECT_EQ(checkpoint.chat_template_text(), "d");
  EXPECT_EQ(checkpoint.chat_template_text("rag"), "r");
  EXPECT_EQ(checkpoint.chat_template_text("none"), "");
  folder.write("tokenizer_config.json", R"({"chat_template":7})");
  EXPECT_THROW(Checkpoint::open(folder.path()).chat_template_text(), Error);
}

TEST_F(Folder, BadJsonNamesTheFile) {
  folder.write("config.json", "{\"a\": }");
  EXPECT_THAT(refusal(folder.path(), ErrorCode::io), HasSubstr("config.json: not valid JSON"));
  folder.write("config.json", "[]");
  EXPECT_THAT(refusal(folder.path(), ErrorCode::io), HasSubstr("config.json: got an array"));
}

TEST_F(Folder, BadTokenizerIsReportedWhenItIsRead) {
  folder.write("tokenizer.json", "{");
  Checkpoint checkpoint = Checkpoint::open(folder.path());
  EXPECT_THROW(checkpoint.tokenizer_json(), Error);
  EXPECT_THROW(checkpoint.tokenizer_json(), Error);
}

TEST_F(Folder, ParamsStandsInForConfig) {
  fs::remove(folder.file("config.json"));
  EXPECT_TRUE(Checkpoint::open(folder.path()).config().is_null());
  folder.write("params.json", R"({"dim": 3})");
  EXPECT_EQ(Checkpoint::open(folder.path()).config().get<int>("dim"), 3);
}

TEST_F(Folder, GgufBesideAConfigSpeaksForItself) {
  fs::copy(golden_model("qwen2-q8_0.gguf"), folder.file("m.gguf"));
  EXPECT_EQ(Checkpoint::open(folder.file("m.gguf")).config().get<int>("hidden_size"), 64);
  EXPECT_EQ(Checkpoint::open(folder.path()).format(), "safetensors");
}

TEST(CheckpointPath, FolderWithOneGguf) {
  TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.path(), ErrorCode::not_found), HasSubstr("no safetensors"));
  for (int i = 1; i <= 4; ++i) {
    std::string name = cat("qwen2-split-0000", i, "-of-00004.gguf");
    fs::copy(golden_model(name), folder.file(name));
  }
  EXPECT_EQ(Checkpoint::open(folder.path()).tensor_names().size(), 38u);
  fs::copy(golden_model("qwen2-q8_0.gguf"), folder.file("another.gguf"));
  EXPECT_THAT(refusal(folder.path(), ErrorCode::invalid_argument),
              HasSubstr("name one of: another.gguf, qwen2-split-00001-of-00004.gguf"));
}

TEST(CheckpointPath, MagicDecidesWithoutAnEnding) {
  TemporaryFolder folder;
  fs::copy(golden_model("qwen2-q8_0.gguf"), folder.file("sha256-abc"));
  EXPECT_EQ(Checkpoint::open(folder.file("sha256-abc")).format(), "gguf");
}

TEST(CheckpointPath, OtherFormatsAreRefusedByName) {
  TemporaryFolder folder;
  for (const char* name : {"a.pt", "b.pkl", "c.ckpt", "d.bin", "e.onnx", "f"})
    EXPECT_THAT(refusal(folder.write(name, "PK\x03\x04 whatever"), ErrorCode::unsupported),
                HasSubstr("unsupported format"));
  folder.write("pytorch_model.bin", "x");
  EXPECT_THAT(refusal(folder.path(), ErrorCode::unsupported), HasSubstr("weights in d.bin"));
  // W1: what calls itself safetensors and is a zip.
  EXPECT_THAT(refusal(folder.write("z.safetensors", "PK\x03\x04 whatever"), ErrorCode::io),
              HasSubstr("z.safetensors: header length"));
  EXPECT_THAT(refusal(folder.file("nothing"), ErrorCode::not_found), HasSubstr("no such file"));
  EXPECT_THAT(refusal("/dev/zero", ErrorCode::io), HasSubstr("not a regular file"));
}

TEST(Checkpoint, DefaultModelOpensInMilliseconds) {
  std::string path = testing::real_model(testing::kDefaultModel);
  CRANE_SKIP_WITHOUT_MODEL(path);
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    auto begin = std::chrono::steady_clock::now();
    Checkpoint checkpoint = Checkpoint::open(path);
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
    EXPECT_EQ(checkpoint.tensor_names().size(), 291u);
    EXPECT_EQ(checkpoint.find("model.embed_tokens.weight")->dtype, DType::q5_0);
    EXPECT_EQ(checkpoint.find("lm_head.weight")->dtype, DType::q8_0);
    EXPECT_EQ(checkpoint.config()["tie_word_embeddings"], Json(false));
    EXPECT_EQ(checkpoint.config().get<int>("vocab_size"), 151936);
    EXPECT_EQ(checkpoint.config()["rope_parameters"].get<double>("rope_theta"), 1e6);
    EXPECT_EQ(checkpoint.config().get<float>("rms_norm_eps"), 1e-6f);
    EXPECT_EQ(checkpoint.config().get<int>("eos_token_id"), 151645);
  }
  RecordProperty("milliseconds", cat(best));
  EXPECT_LT(best, 500.0);  // some 10 in a release build; sanitizers and busy machines take more
}

}  // namespace
}  // namespace crane
