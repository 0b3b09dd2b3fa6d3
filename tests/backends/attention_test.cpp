// Attention and the K/V store of every instruction set level against a plain double-precision
// softmax, and bit for bit against itself however the work is cut.

#include "ops/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backends/registry.h"

namespace crane {
namespace {

struct Shape4 {
  int heads, kv_heads, key_dim, value_dim;
};

// One sequence's queries, keys and values, and a device that can attend over them in any cut.
class Scene {
 public:
  Scene(const std::string& isa, int threads, DType type, const Shape4& shape, int tokens)
      : shape_(shape), tokens_(tokens), cache_(spec(shape), type, 40) {
    device_ = make_device(
        {.dtype = "auto", .isa = isa, .threads = threads, .arena_bytes = size_t{256} << 20});
    device_->backend().allocate(*device_, cache_, 1);
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (auto* values : {&q_, &k_, &v_}) {
      int width = values == &q_
                      ? shape.heads * shape.key_dim
                      : shape.kv_heads * (values == &k_ ? shape.key_dim : shape.value_dim);
      values->resize(static_cast<size_t>(tokens * width));
      for (float& x : *values) x = normal(random);
      if (type == DType::f16)  // so that storing them rounds nothing
        for (float& x : *values) x = std::round(x * 64) / 64;
    }
  }

  // The output of all tokens, computed in chunks; blocks are handed out in a scrambled order.
  std::vector<float> run(const std::vector<int>& chunks, const AttentionOptions& options) {
    std::vector<float> out;
    int past = 0;
    for (int chunk : chunks) {
      Batch batch;
      batch.tokens.resize(static_cast<size_t>(chunk));
      batch.prompt_tokens = chunk;
      batch.runs.push_back({.past = past, .begin = 0, .count = chunk});
      for (int block = 0; block * KvCache::kBlockSize < past + chunk; ++block)
        batch.block_tables.push_back((block * 7 + 3) % 40);
      Tensor q = tensor(q_, past, chunk, shape_.heads, shape_.key_dim);
      Tensor k = tensor(k_, past, chunk, shape_.kv_heads, shape_.key_dim);
      Tensor v = tensor(v_, past, chunk, shape_.kv_heads, shape_.value_dim);
      Tensor y = ops::attention(q, k, v, cache_.layer(0), batch, options);
      out.insert(out.end(), y.data<float>(), y.data<float>() + y.elements());
      past += chunk;
    }
    return out;
  }

  std::vector<double> reference(const AttentionOptions& options) const {
    std::vector<double> out;
    int group = shape_.heads / shape_.kv_heads;
    for (int t = 0; t < tokens_; ++t)
      for (int h = 0; h < shape_.heads; ++h) {
        int first = options.window > 0 ? std::max(0, t - options.window + 1) : 0;
        std::vector<double> weights;
        double total = 0;
        for (int s = first; s <= t; ++s) {
          double score = 0;
          for (int d = 0; d < shape_.key_dim; ++d)
            score += double{q_[at(t, h, d, shape_.heads, shape_.key_dim)]} *
                     k_[at(s, h / group, d, shape_.kv_heads, shape_.key_dim)];
          score *= options.scale;
          if (options.soft_cap > 0) score = options.soft_cap * std::tanh(score / options.soft_cap);
          weights.push_back(std::exp(score));
          total += weights.back();
        }
        for (int d = 0; d < shape_.value_dim; ++d) {
          double sum = 0;
          for (int s = first; s <= t; ++s)
            sum += weights[static_cast<size_t>(s - first)] *
                   v_[at(s, h / group, d, shape_.kv_heads, shape_.value_dim)];
          out.push_back(sum / total);
        }
      }
    return out;
  }

 private:
  static StateSpec spec(const Shape4& s) {
    return {{{LayerState::Kind::attention, s.kv_heads, s.key_dim, s.value_dim, 0}}};
  }
  static size_t at(int token, int head, int d, int heads, int dim) {
    return static_cast<size_t>((token * heads + head) * dim + d);
  }
  Tensor tensor(const std::vector<float>& values, int first, int count, int heads, int dim) {
    Tensor t = device_->empty({count, heads, dim});
    std::copy_n(values.begin() + first * heads * dim, count * heads * dim, t.data<float>());
    return t;
  }

  Shape4 shape_;
  int tokens_;
  std::unique_ptr<Device> device_;
  KvCache cache_;
  std::vector<float> q_, k_, v_;
};

std::vector<int> chunks_of(int tokens, int size) {
  std::vector<int> chunks(static_cast<size_t>(tokens / size), size);
  if (tokens % size) chunks.push_back(tokens % size);
  return chunks;
}

constexpr Shape4 kShapes[] = {{1, 1, 2, 2},   {6, 2, 12, 12},  {14, 2, 64, 64},
                              {4, 4, 80, 80}, {16, 1, 24, 40}, {7, 1, 128, 128}};

void expect_near(const std::vector<float>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::fabs(got[i] - expected[i]));
  EXPECT_LT(worst, 2e-5);
}

class AttentionTest : public testing::TestWithParam<std::string> {};

TEST_P(AttentionTest, EqualsTheReference) {
  for (const Shape4& shape : kShapes)
    for (DType type : {DType::f32, DType::f16})
      for (int tokens : {1, 17, 64, 200}) {
        SCOPED_TRACE(testing::Message() << "heads " << shape.heads << " key_dim " << shape.key_dim
                                        << " " << name(type) << " tokens " << tokens);
        AttentionOptions options{.scale = 1.0f / std::sqrt(static_cast<float>(shape.key_dim))};
        Scene scene(GetParam(), 2, type, shape, tokens);
        expect_near(scene.run({tokens}, options), scene.reference(options));
      }
}

TEST_P(AttentionTest, WindowsAndSoftCaps) {
  Shape4 shape{6, 2, 16, 16};
  for (int window : {0, 1, 8, 64, 100})
    for (float soft_cap : {0.0f, 2.0f}) {
      SCOPED_TRACE(testing::Message() << "window " << window << " soft cap " << soft_cap);
      AttentionOptions options{.scale = 0.3f, .window = window, .soft_cap = soft_cap};
      Scene scene(GetParam(), 2, DType::f32, shape, 230);
      expect_near(scene.run({230}, options), scene.reference(options));
    }
}

// 1100 tokens reach over two span borders: chunk sizes and thread counts must change no bit.
TEST_P(AttentionTest, SameBitsInEveryCut) {
  Shape4 shape{7, 1, 16, 16};
  std::vector<int> one_by_one(101, 1);
  one_by_one[0] = 1000;
  for (int window : {0, 300}) {
    AttentionOptions options{.scale = 0.25f, .window = window};
    std::vector<float> whole = Scene(GetParam(), 1, DType::f16, shape, 1100).run({1100}, options);
    for (const auto& chunks : {chunks_of(1100, 37), chunks_of(1100, 512), one_by_one})
      for (int threads : {1, 2, 3}) {
        Scene scene(GetParam(), threads, DType::f16, shape, 1100);
        EXPECT_EQ(scene.run(chunks, options), whole)
            << chunks.size() << " chunks, " << threads << " threads, window " << window;
      }
  }
}

TEST_P(AttentionTest, LargeScoresStayFinite) {
  AttentionOptions options{.scale = 1000.0f};
  for (float x : Scene(GetParam(), 2, DType::f32, {2, 1, 8, 8}, 150).run({150}, options))
    EXPECT_TRUE(std::isfinite(x));
}

INSTANTIATE_TEST_SUITE_P(Isa, AttentionTest, testing::ValuesIn(available_isa_levels()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace crane
