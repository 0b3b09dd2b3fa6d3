// Weights: scopes, shapes, messages, progress, and what nobody asked for. G12 of the robustness
// list: a tensor missing, extra or of the wrong shape.
#include "io/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "base/strings.h"
#include "core/fake_backend.h"
#include "io/golden.h"
#include "io/temporary_folder.h"

namespace crane {
namespace {

using ::testing::ElementsAre;
using testing::FakeBackend;
using testing::golden_model;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

struct WeightsTest : ::testing::Test {
  WeightsTest()
      : checkpoint(Checkpoint::open(golden_model("qwen2-k-quants.gguf"))),
        backend(new FakeBackend),
        device(std::unique_ptr<Backend>(backend), 1 << 20) {}

  template <class Call>
  std::string refusal(ErrorCode code, const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    return "";
  }

  Checkpoint checkpoint;
  FakeBackend* backend;
  Device device;
};

TEST_F(WeightsTest, ScopesBuildFullNames) {
  Weights root(checkpoint, device);
  Weights q = root / "model.layers" / 1 / "self_attn" / "q_proj";
  EXPECT_EQ(q.full_name("weight"), "model.layers.1.self_attn.q_proj.weight");
  EXPECT_EQ(root.full_name("x"), "x");
  EXPECT_TRUE(q.has("weight"));
  EXPECT_TRUE(q.has("bias"));
  EXPECT_FALSE((root / "model.layers" / 2).has("input_layernorm.weight"));
  EXPECT_EQ(&q.device(), &device);
  EXPECT_EQ(&q.checkpoint(), &checkpoint);
}

TEST_F(WeightsTest, HandsTheFileBytesToTheBackend) {
  Weights root(checkpoint, device);
  Weights q = root / "model.layers.0.self_attn.q_proj";
  Tensor matrix = q.matrix("weight", 64, 256);
  Tensor bias = q.vector("bias", 64);
  ASSERT_EQ(backend->uploads.size(), 1u);
  EXPECT_EQ(backend->uploads[0].dtype, DType::q4_k);
  EXPECT_EQ(backend->uploads[0].rows, 64);
  EXPECT_EQ(backend->uploads[0].columns, 256);
  EXPECT_EQ(backend->uploads[0].data,
            checkpoint.find("model.layers.0.self_attn.q_proj.weight")->data);
  ASSERT_EQ(backend->vectors.size(), 1u);
  EXPECT_EQ(backend->vectors[0].rows * backend->vectors[0].columns, 64);
  EXPECT_TRUE(matrix.is_packed());
  EXPECT_EQ(bias.shape(), Shape{64});
}

TEST_F(WeightsTest, MissingTensorIsNamedWithItsShape) {
  Weights layer = Weights(checkpoint, device) / "model.layers" / 7;
  EXPECT_THAT(refusal(ErrorCode::not_found, [&] { layer.matrix("mlp.up_proj.weight", 3, 4); }),
              HasSubstr("qwen2-k-quants.gguf: tensor model.layers.7.mlp.up_proj.weight: missing, "
                        "expected [3, 4]"));
  EXPECT_THAT(refusal(ErrorCode::not_found, [&] { layer.vector("x", 3); }),
              HasSubstr("tensor model.layers.7.x: missing, expected [3]"));
}

TEST_F(WeightsTest, WrongShapeNamesBoth) {
  Weights root(checkpoint, device);
  auto matrix = [&](const char* name, int64_t rows, int64_t columns) {
    return refusal(ErrorCode::io, [&] { root.matrix(name, rows, columns); });
  };
  constexpr const char* kEmbedding = "model.embed_tokens.weight";
  EXPECT_THAT(matrix(kEmbedding, 131, 255), HasSubstr("got [131, 256], expected [131, 255]"));
  EXPECT_THAT(matrix(kEmbedding, 256, 131), HasSubstr("got [131, 256], expected [256, 131]"));
  EXPECT_THAT(matrix(kEmbedding, 0, 0), HasSubstr("expected [0, 0]"));
  EXPECT_THAT(matrix("model.norm.weight", 1, 256), HasSubstr("got [256], expected [1, 256]"));
  EXPECT_THAT(refusal(ErrorCode::io, [&] { root.vector("model.norm.weight", 255); }),
              HasSubstr("got [256], expected [255]"));
  EXPECT_THAT(refusal(ErrorCode::io, [&] { root.vector(kEmbedding, 131 * 256); }),
              HasSubstr("got [131, 256], expected [33536]"));
  EXPECT_TRUE(backend->uploads.empty());
}

TEST_F(WeightsTest, ReportsProgressUpToTheTotal) {
  Checkpoint small = Checkpoint::open(golden_model("qwen2-f32-tied"));
  std::vector<LoadProgress> seen;
  Weights root(small, device, [&](const LoadProgress& progress) { seen.push_back(progress); });
  for (const std::string& name : small.tensor_names()) {
    const Shape& shape = small.find(name)->shape;
    if (shape.rank == 2) {
      root.matrix(name, shape[0], shape[1]);
    } else {
      root.vector(name, shape[0]);
    }
  }
  ASSERT_EQ(seen.size(), small.tensor_names().size());
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_GT(seen[i].bytes, seen[i - 1].bytes);
  EXPECT_EQ(seen.back().bytes, seen.back().total);
  EXPECT_EQ(seen.back().total, small.tensor_bytes());
  EXPECT_TRUE(root.unused().empty());
}

// A safetensors file with these tensors, of one byte each, and this config.
Checkpoint made_of(const TemporaryFolder& folder, const std::vector<std::string>& names,
                   std::string_view config) {
  std::string header = "{";
  for (size_t i = 0; i < names.size(); ++i)
    header += cat(i ? "," : "", "\"", names[i], R"(":{"dtype":"U8","shape":[1,1],"data_offsets":[)",
                  i, ",", i + 1, "]}");
  header += "}";
  uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), 8);
  folder.write("model.safetensors", file + header + std::string(names.size(), 'x'));
  folder.write("config.json", config);
  return Checkpoint::open(folder.path());
}

TEST_F(WeightsTest, UnusedTensorsAreListedHarmlessOnesAreNot) {
  TemporaryFolder folder;
  std::vector<std::string> names = {"a.weight",
                                    "b.weight",
                                    "extra.weight",
                                    "lm_head.weight",
                                    "model.layers.0.self_attn.rotary_emb.inv_freq",
                                    "model.position_ids",
                                    "mtp.layers.0.weight"};
  Checkpoint tied = made_of(folder, names, R"({"tie_word_embeddings":true})");
  Weights root(tied, device);
  (root / "a").matrix("weight", 1, 1);
  Weights scope = root / "b";
  scope.vector("weight", 1);
  EXPECT_FALSE(root.has("none"));
  EXPECT_THAT(scope.unused(), ElementsAre("extra.weight"));

  Checkpoint untied = made_of(folder, names, "{}");
  EXPECT_THAT(Weights(untied, device).unused(),
              ElementsAre("a.weight", "b.weight", "extra.weight", "lm_head.weight"));
}

TEST_F(WeightsTest, AskingAndFailingStillCounts) {
  TemporaryFolder folder;
  Checkpoint one = made_of(folder, {"a.weight"}, "{}");
  Weights root(one, device);
  EXPECT_THROW(root.matrix("a.weight", 2, 2), Error);
  EXPECT_TRUE(root.unused().empty());
}

TEST_F(WeightsTest, MoreAxesOfTheSameMemoryAreAMatrix) {
  TemporaryFolder folder;
  std::string header = R"({"conv":{"dtype":"F32","shape":[2,3,1,2],"data_offsets":[0,48]}})";
  uint64_t length = header.size();
  folder.write("model.safetensors", std::string(reinterpret_cast<const char*>(&length), 8) +
                                        header + std::string(48, '\0'));
  Checkpoint conv = Checkpoint::open(folder.path());
  Weights root(conv, device);
  EXPECT_EQ(root.matrix("conv", 2, 6).shape(), (Shape{2, 6}));
  EXPECT_THROW(root.matrix("conv", 3, 4), Error);
}

TEST_F(WeightsTest, DataIsAlignedWhateverTheFileSays) {
  TemporaryFolder folder;
  std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})";
  uint64_t length = header.size();
  float values[2] = {1.5f, -2.0f};
  folder.write("model.safetensors", std::string(reinterpret_cast<const char*>(&length), 8) +
                                        header + "x" +
                                        std::string(reinterpret_cast<const char*>(values), 8));
  Checkpoint odd = Checkpoint::open(folder.path());
  const CheckpointTensor* b = odd.find("b");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data) % 4, 0u);
  EXPECT_EQ(std::memcmp(b->data, values, 8), 0);
}

}  // namespace
}  // namespace crane
