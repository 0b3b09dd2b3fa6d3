// The matrix products of every level and weight type against a double-precision product, and
// bit for bit against themselves however columns and threads are cut.

#include "backends/cpu/linear.h"

#include <gtest/gtest.h>

#include "backends/quant_support.h"

namespace crane {
namespace {

using cpu::Precision;
using testing::TestWeight;

constexpr Activation kActivations[] = {Activation::silu, Activation::gelu, Activation::gelu_tanh,
                                       Activation::relu};

std::vector<DType> all_types() {
  std::vector<DType> types;
  for (DType type : testing::kBlockTypes) types.push_back(type);
  for (DType type : testing::kScalarTypes) types.push_back(type);
  return types;
}

// Weights side by side, and what their product should be.
struct Stage {
  std::vector<TestWeight> weights;
  std::vector<std::vector<float>> biases;  // one per weight, or empty

  std::vector<LinearPart> upload(Device& device) const {
    std::vector<LinearPart> parts;
    for (size_t i = 0; i < weights.size(); ++i) {
      LinearPart part{device.backend().upload(device, weights[i].host()), {}};
      if (!biases.empty() && !biases[i].empty())
        part.bias = device.backend().upload_vector(
            device,
            {DType::f32, 1, weights[i].rows, reinterpret_cast<const std::byte*>(biases[i].data())});
      parts.push_back(part);
    }
    return parts;
  }
};

// Runs linear() over rows [begin, end) of x, with x and y strided.
std::vector<float> run(Device& device, const std::vector<LinearPart>& parts,
                       const std::vector<float>& x, int64_t k, int64_t begin, int64_t end) {
  int64_t rows = 0;
  for (const LinearPart& part : parts) rows += part.weight.dim(0);
  std::vector<float> part(x.begin() + begin * k, x.begin() + end * k);
  Tensor input = testing::strided_tensor(device, part, end - begin, k, k + 5);
  Tensor all = device.empty({end - begin, rows + 3});
  Tensor y = all.slice(1, 0, rows);
  device.backend().linear(y, input, parts);
  return testing::read_rows(y);
}

struct Expected {
  std::vector<double> value, magnitude;  // the product, and the sum of |w x|
};

Expected multiply(const Stage& stage, const std::vector<float>& x, int64_t k) {
  Expected expected;
  for (int64_t t = 0; t < static_cast<int64_t>(x.size()) / k; ++t)
    for (size_t part = 0; part < stage.weights.size(); ++part) {
      const TestWeight& weight = stage.weights[part];
      for (int64_t r = 0; r < weight.rows; ++r) {
        double sum = 0, magnitude = 0;
        for (int64_t i = 0; i < k; ++i) {
          double term = double{weight.values[static_cast<size_t>(r * k + i)]} *
                        x[static_cast<size_t>(t * k + i)];
          sum += term;
          magnitude += std::fabs(term);
        }
        if (!stage.biases.empty() && !stage.biases[part].empty())
          sum += stage.biases[part][static_cast<size_t>(r)];
        expected.value.push_back(sum);
        expected.magnitude.push_back(magnitude + std::fabs(sum));
      }
    }
  return expected;
}

void expect_near(const std::vector<float>& got, const Expected& expected, double relative) {
  ASSERT_EQ(got.size(), expected.value.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected.value[i], relative * expected.magnitude[i] + 1e-30) << "at " << i;
}

class LinearTest : public ::testing::TestWithParam<std::string_view> {};

// Integer products are exact, so what is left is the rounding of the f32 sums.
TEST_P(LinearTest, EveryTypeAndShapeEqualsTheProductOfRoundedActivations) {
  auto device = testing::cpu_device(GetParam(), 2);
  for (DType type : all_types()) {
    int64_t unit = is_block_type(type) ? info(type).block_length : 1;
    for (int64_t k : {unit, unit * 3, unit == 1 ? int64_t{257} : unit * 5})
      for (int64_t rows : {1, 16, 31, 50}) {
        Stage stage{{testing::random_weight(type, rows, k, static_cast<uint32_t>(rows))}, {}};
        std::vector<LinearPart> parts = stage.upload(*device);
        for (int64_t tokens : {1, 2, 3, 5, 13, 70}) {
          SCOPED_TRACE(cat(name(type), " k ", k, " rows ", rows, " tokens ", tokens));
          std::vector<float> x = testing::random_floats(tokens * k, 3);
          Expected expected =
              multiply(stage, is_block_type(type) ? testing::rounded_to_8_bits(x) : x, k);
          expect_near(run(*device, parts, x, k, 0, tokens), expected, 2e-6);
        }
      }
  }
}

// Against the true product: rounding an activation costs at most half a step of its block.
TEST_P(LinearTest, ErrorOfTheEverydayModeIsWithinTheRoundingOfActivations) {
  auto device = testing::cpu_device(GetParam());
  for (DType type : testing::kBlockTypes) {
    int64_t k = 1536;
    Stage stage{{testing::random_weight(type, 40, k, 1)}, {}};
    std::vector<float> x = testing::random_floats(9 * k, 4), steps = x;
    for (size_t at = 0; at < x.size(); at += 32) {
      float peak = 0;
      for (size_t i = at; i < at + 32; ++i) peak = std::max(peak, std::fabs(x[i]));
      for (size_t i = at; i < at + 32; ++i) steps[i] = peak / 254;
    }
    Expected expected = multiply(stage, x, k), bound = multiply(stage, steps, k);
    std::vector<float> got = run(*device, stage.upload(*device), x, k, 0, 9);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected.value[i], bound.magnitude[i] + 1e-5 * expected.magnitude[i])
          << name(type) << " at " << i;
  }
}

TEST_P(LinearTest, ReferenceModeMultipliesDequantisedWeights) {
  auto device = testing::cpu_device(GetParam(), 2, Precision::f32);
  for (DType type : all_types()) {
    int64_t k = 1536;
    Stage stage{{testing::random_weight(type, 37, k, 8)}, {}};
    std::vector<LinearPart> parts = stage.upload(*device);
    for (int64_t tokens : {1, 2, 29}) {
      SCOPED_TRACE(cat(name(type), " tokens ", tokens));
      std::vector<float> x = testing::random_floats(tokens * k, 5);
      expect_near(run(*device, parts, x, k, 0, tokens), multiply(stage, x, k), 2e-6);
    }
  }
}

TEST_P(LinearTest, PartsOfDifferentTypesAndBiasesStandSideBySide) {
  auto device = testing::cpu_device(GetParam(), 2);
  int64_t k = 512;
  Stage stage;
  uint32_t seed = 0;
  for (DType type : {DType::q5_0, DType::q6_k, DType::f32, DType::q8_0, DType::q4_k}) {
    int64_t rows = 11 + 16 * static_cast<int64_t>(seed % 3);
    stage.weights.push_back(testing::random_weight(type, rows, k, ++seed));
    stage.biases.push_back(seed % 2 ? testing::random_floats(rows, seed) : std::vector<float>());
  }
  std::vector<LinearPart> parts = stage.upload(*device);
  for (int64_t tokens : {1, 4, 21}) {
    std::vector<float> x = testing::rounded_to_8_bits(testing::random_floats(tokens * k, 6));
    expect_near(run(*device, parts, x, k, 0, tokens), multiply(stage, x, k), 1e-5);
  }
}

TEST_P(LinearTest, ColumnsNeverDependOnTheirNeighboursOrThreads) {
  for (Precision precision : {Precision::automatic, Precision::f32})
    for (DType type : all_types()) {
      int64_t k = 2560, rows = 83, tokens = 23;
      Stage stage{{testing::random_weight(type, rows, k, 2)}, {testing::random_floats(rows, 1)}};
      std::vector<float> x = testing::random_floats(tokens * k, 7);
      auto one = testing::cpu_device(GetParam(), 1, precision);
      std::vector<LinearPart> parts = stage.upload(*one);
      std::vector<float> alone;
      for (int64_t t = 0; t < tokens; ++t) {
        std::vector<float> row = run(*one, parts, x, k, t, t + 1);
        alone.insert(alone.end(), row.begin(), row.end());
      }
      for (int threads : {1, 2, 3}) {
        auto device = testing::cpu_device(GetParam(), threads, precision);
        std::vector<LinearPart> theirs = stage.upload(*device);
        for (int64_t batch : {1, 2, 3, 4, 6, 7, 9, 23}) {
          SCOPED_TRACE(cat(name(type), " batch ", batch, " threads ", threads));
          std::vector<float> got = run(*device, theirs, x, k, 0, batch);
          ASSERT_EQ(0, std::memcmp(got.data(), alone.data(), got.size() * sizeof(float)));
        }
      }
    }
}

TEST_P(LinearTest, MoreColumnsThanOneSweepTakes) {
  auto device = testing::cpu_device(GetParam(), 2);
  int64_t k = 64, rows = 20, tokens = 1025;
  Stage stage{{testing::random_weight(DType::q8_0, rows, k, 2)}, {}};
  std::vector<LinearPart> parts = stage.upload(*device);
  std::vector<float> x = testing::random_floats(tokens * k, 7);
  std::vector<float> all = run(*device, parts, x, k, 0, tokens);
  for (int64_t t : {0, 1, 1023, 1024}) {
    std::vector<float> row = run(*device, parts, x, k, t, t + 1);
    EXPECT_EQ(0, std::memcmp(all.data() + t * rows, row.data(), row.size() * sizeof(float))) << t;
  }
}

TEST_P(LinearTest, GatedMapEqualsItsPartsBitForBit) {
  for (Precision precision : {Precision::automatic, Precision::f32}) {
    auto device = testing::cpu_device(GetParam(), 2, precision);
    for (DType type : {DType::q5_0, DType::q4_k, DType::q8_0, DType::bf16}) {
      int64_t k = 512, rows = 309;
      Stage stage{
          {testing::random_weight(type, rows, k, 1), testing::random_weight(type, rows, k, 2)},
          {testing::random_floats(rows, 3), {}}};
      std::vector<LinearPart> parts = stage.upload(*device);
      for (Activation activation : kActivations)
        for (int64_t tokens : {1, 2, 19}) {
          SCOPED_TRACE(cat(name(type), " tokens ", tokens));
          std::vector<float> x = testing::random_floats(tokens * k, 4);
          Tensor input = testing::strided_tensor(*device, x, tokens, k, k + 1);
          Tensor both = device->empty({tokens, 2 * rows}), expected = device->empty({tokens, rows});
          device->backend().linear(both, input, parts);
          device->backend().gate(expected, both.slice(1, 0, rows), both.slice(1, rows, rows),
                                 activation);
          Tensor y = device->empty({tokens, rows + 7}).slice(1, 0, rows);
          device->backend().gated_linear(y, input, std::span<const LinearPart, 2>(parts.data(), 2),
                                         activation);
          std::vector<float> got = testing::read_rows(y), want = testing::read_rows(expected);
          ASSERT_EQ(0, std::memcmp(got.data(), want.data(), got.size() * sizeof(float)));
        }
    }
  }
}

TEST_P(LinearTest, ZeroInputsGiveTheBias) {
  auto device = testing::cpu_device(GetParam());
  for (DType type : all_types()) {
    Stage stage{{testing::random_weight(type, 18, 256, 2)}, {testing::random_floats(18, 1)}};
    for (int64_t tokens : {1, 5}) {
      std::vector<float> x(static_cast<size_t>(tokens * 256), 0.0f);
      std::vector<float> got = run(*device, stage.upload(*device), x, 256, 0, tokens);
      for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], stage.biases[0][i % 18]);
    }
  }
}

TEST_P(LinearTest, StrangeInputsStayInTheirColumn) {
  auto device = testing::cpu_device(GetParam());
  for (DType type : all_types()) {
    int64_t k = 512, rows = 18;
    Stage stage{{testing::random_weight(type, rows, k, 2)}, {}};
    std::vector<LinearPart> parts = stage.upload(*device);
    std::vector<float> plain = testing::random_floats(5 * k, 3);
    std::vector<float> expected = run(*device, parts, plain, k, 0, 5);
    for (float strange : {NAN, INFINITY, -INFINITY, 3e38f, 1e-38f, 1e-45f}) {
      std::vector<float> x = plain;
      x[static_cast<size_t>(2 * k + 40)] = strange;
      std::vector<float> got = run(*device, parts, x, k, 0, 5);
      for (size_t i = 0; i < got.size(); ++i) {
        bool own = static_cast<int64_t>(i) / rows == 2;
        if (!own) {
          ASSERT_EQ(got[i], expected[i]) << name(type) << " " << strange;
        } else if (std::isnan(strange)) {
          ASSERT_TRUE(std::isnan(got[i])) << name(type);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, LinearTest, ::testing::ValuesIn(cpu::available_levels()),
                         [](const auto& level) { return std::string(level.param); });

}  // namespace
}  // namespace crane
