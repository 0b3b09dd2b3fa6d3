// Norms, rotations and element-by-element ops of every instruction set level against
// double-precision references.

#include "ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "backends/registry.h"
#include "ops/index.h"
#include "ops/norm.h"
#include "ops/rope.h"

namespace crane {
namespace {

class ElementwiseTest : public testing::TestWithParam<std::string> {
 protected:
  ElementwiseTest()
      : device_(make_device({.isa = GetParam(), .threads = 2, .arena_bytes = size_t{64} << 20})) {}

  Tensor random(const Shape& shape, float spread = 1.0f) {
    Tensor t = device_->empty(shape);
    std::normal_distribution<float> normal(0.0f, spread);
    for (int64_t i = 0; i < t.elements(); ++i) t.data<float>()[i] = normal(engine_);
    return t;
  }
  // Rows of a wider tensor: a row stride that exceeds the width.
  Tensor strided(int64_t rows, int64_t width) {
    return random({rows, width + 5}).slice(1, 3, width);
  }
  static float at(const Tensor& t, int64_t row, int64_t column) {
    return t.data<float>()[row * t.stride(0) + column];
  }

  std::mt19937 engine_{3};
  std::unique_ptr<Device> device_;
};

constexpr int kWidths[] = {1, 3, 8, 15, 16, 33, 896};

TEST_P(ElementwiseTest, RmsNorm) {
  for (int width : kWidths)
    for (int rows : {1, 5, 40}) {
      Tensor x = strided(rows, width), weight = random({width});
      Tensor y = ops::rms_norm(x, weight, 1e-6f);
      for (int r = 0; r < rows; ++r) {
        double squares = 0;
        for (int i = 0; i < width; ++i) squares += double{at(x, r, i)} * at(x, r, i);
        double factor = 1 / std::sqrt(squares / width + 1e-6);
        for (int i = 0; i < width; ++i) {
          double expected = at(x, r, i) * factor * weight.data<float>()[i];
          EXPECT_NEAR(at(y, r, i), expected, 1e-5 * (1 + std::fabs(expected)));
        }
      }
    }
}

TEST_P(ElementwiseTest, RmsNormOverHeads) {
  Tensor x = random({4, 3, 6}), weight = random({6});
  Tensor y = ops::rms_norm(x, weight, 1e-5f);
  Tensor flat = ops::rms_norm(x.view({12, 6}), weight, 1e-5f);
  for (int64_t i = 0; i < y.elements(); ++i) EXPECT_EQ(y.data<float>()[i], flat.data<float>()[i]);
}

TEST_P(ElementwiseTest, AddScaleGate) {
  for (int width : kWidths) {
    Tensor a = strided(6, width), b = strided(6, width);
    Tensor sum = a + b, scaled = ops::scale(a, 0.37f);
    Tensor silu = ops::gate(a, b, Activation::silu), gelu = ops::gate(a, b, Activation::gelu);
    Tensor tanh = ops::gate(a, b, Activation::gelu_tanh), relu = ops::gate(a, b, Activation::relu);
    for (int r = 0; r < 6; ++r)
      for (int i = 0; i < width; ++i) {
        double x = at(a, r, i), y = at(b, r, i);
        EXPECT_EQ(at(sum, r, i), at(a, r, i) + at(b, r, i));
        EXPECT_EQ(at(scaled, r, i), at(a, r, i) * 0.37f);
        EXPECT_NEAR(at(silu, r, i), x / (1 + std::exp(-x)) * y, 1e-6 * (1 + std::fabs(x * y)));
        EXPECT_NEAR(at(gelu, r, i), 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))) * y,
                    2e-6 * (1 + std::fabs(x * y)));
        double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
        EXPECT_NEAR(at(tanh, r, i), 0.5 * x * (1 + std::tanh(inner)) * y,
                    2e-6 * (1 + std::fabs(x * y)));
        EXPECT_EQ(at(relu, r, i), std::max(0.0f, at(a, r, i)) * at(b, r, i));
      }
  }
}

TEST_P(ElementwiseTest, ActivationsAtTheEndsOfTheRange) {
  const float values[] = {-1e30f, -200.0f, -90.0f, -0.0f, 0.0f, 90.0f, 200.0f, 1e30f};
  Tensor x = device_->empty({1, 8}), one = device_->empty({1, 8});
  std::copy_n(values, 8, x.data<float>());
  std::fill_n(one.data<float>(), 8, 1.0f);
  for (Activation activation : {Activation::silu, Activation::gelu, Activation::gelu_tanh}) {
    Tensor y = ops::gate(x, one, activation);
    for (int i = 0; i < 8; ++i)
      EXPECT_NEAR(at(y, 0, i), std::max(values[i], 0.0f), 1e-6f * std::max(1.0f, values[i]))
          << values[i];
  }
}

TEST_P(ElementwiseTest, RotatesHalfSplitPairs) {
  std::vector<float> frequencies = {1.0f, 0.1f, 0.003f};
  std::vector<int32_t> positions = {0, 1, 500, 32000, 1000000};
  Tensor angles = ops::rope_angles(*device_, positions, frequencies, 1.25f);
  Tensor x = random({5, 2, 8});  // dimensions 6 and 7 pass through
  Tensor before = ops::scale(x, 1.0f);
  ops::rope(x, angles);
  for (int t = 0; t < 5; ++t)
    for (int h = 0; h < 2; ++h) {
      const float* old = before.data<float>() + (t * 2 + h) * 8;
      const float* now = x.data<float>() + (t * 2 + h) * 8;
      for (int i = 0; i < 3; ++i) {
        float angle = static_cast<float>(positions[static_cast<size_t>(t)]) *
                      frequencies[static_cast<size_t>(i)];
        double c = std::cos(double{angle}) * 1.25, s = std::sin(double{angle}) * 1.25;
        EXPECT_NEAR(now[i], old[i] * c - old[i + 3] * s, 1e-5);
        EXPECT_NEAR(now[i + 3], old[i + 3] * c + old[i] * s, 1e-5);
      }
      EXPECT_EQ(now[6], old[6]);
      EXPECT_EQ(now[7], old[7]);
    }
}

TEST_P(ElementwiseTest, RowsKeepTheirMode) {
  Tensor x = strided(9, 5);
  x.set_prompt_rows(4);
  std::vector<int32_t> wanted = {1, 3, 4, 8};
  Tensor y = ops::rows(x, wanted);
  EXPECT_EQ(y.prompt_rows(), 2);
  for (int i = 0; i < 4; ++i)
    for (int d = 0; d < 5; ++d) EXPECT_EQ(at(y, i, d), at(x, wanted[static_cast<size_t>(i)], d));
  EXPECT_EQ((y + y).prompt_rows(), 2);
}

TEST_P(ElementwiseTest, WrongShapesAreRefusedByName) {
  Tensor a = random({2, 3}), b = random({3, 2});
  try {
    ops::add(a, b);
    FAIL() << "shapes were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "add: shapes differ, got [2, 3] F32 and [3, 2] F32");
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, ElementwiseTest, testing::ValuesIn(available_isa_levels()),
                         [](const auto& level) { return level.param; });

}  // namespace
}  // namespace crane
