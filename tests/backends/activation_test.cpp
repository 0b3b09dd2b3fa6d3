// The activation functions of every level against double precision, over the whole range of f32.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "backends/cpu/dispatch.h"
#include "backends/cpu/vector_kernels.h"

namespace crane {
namespace {

struct Case {
  Activation activation;
  std::function<double(double)> exact;
};

const Case kCases[] = {
    {Activation::silu, [](double x) { return x / (1 + std::exp(-x)); }},
    {Activation::gelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
    {Activation::gelu_tanh,
     [](double x) {
       return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
    {Activation::relu, [](double x) { return x > 0 ? x : 0; }},
};

class ActivationTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(ActivationTest, CloseToDoublePrecision) {
  const auto& kernels = *cpu::select_kernels(GetParam()).vectors;
  std::vector<float> x = {0.0f,   -0.0f,  1e-30f,  -1e-30f, 88.0f,
                          -88.0f, 104.0f, -104.0f, 3e4f,    -3e4f};
  for (float value = -20.0f; value < 20.0f; value += 0.0137f) x.push_back(value);
  std::vector<float> ones(x.size(), 1.0f), y(x.size());
  for (const Case& of : kCases) {
    kernels.gate(y.data(), x.data(), ones.data(), static_cast<int64_t>(x.size()), of.activation);
    for (size_t i = 0; i < x.size(); ++i) {
      double exact = of.exact(x[i]);
      ASSERT_NEAR(y[i], exact, 5e-7 * std::fabs(x[i]) + 3e-7 * std::fabs(exact))
          << "activation " << static_cast<int>(of.activation) << " of " << x[i];
    }
  }
}

TEST_P(ActivationTest, NotANumberStaysAndInfinityIsReached) {
  const auto& kernels = *cpu::select_kernels(GetParam()).vectors;
  const float x[] = {NAN, INFINITY, -1e38f}, ones[] = {1, 1, 1};
  for (const Case& of : kCases) {
    float y[3];
    kernels.gate(y, x, ones, 3, of.activation);
    EXPECT_TRUE(std::isnan(y[0])) << static_cast<int>(of.activation);
    EXPECT_EQ(y[1], INFINITY) << static_cast<int>(of.activation);
    EXPECT_EQ(y[2], 0.0f) << static_cast<int>(of.activation);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ActivationTest, ::testing::ValuesIn(cpu::available_levels()),
                         [](const auto& level) { return std::string(level.param); });

}  // namespace
}  // namespace crane
