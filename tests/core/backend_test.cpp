// The default of gated_linear: both halves in one linear, then the gate.
#include "core/backend.h"

#include <gtest/gtest.h>

#include <string>

#include "core/device.h"
#include "core/fake_backend.h"

namespace crane {
namespace {

struct Recorder : testing::FakeBackend {
  void linear(Tensor& y, const Tensor& x, std::span<const LinearPart> parts) override {
    calls += "linear ";
    EXPECT_EQ(parts.size(), 2u);
    EXPECT_EQ(y.shape(), (Shape{x.dim(0), 10}));
    EXPECT_EQ(y.prompt_rows(), x.prompt_rows());
    for (int64_t i = 0; i < y.elements(); ++i) y.data<float>()[i] = static_cast<float>(i);
  }
  void gate(Tensor& y, const Tensor& gate, const Tensor& up, Activation activation) override {
    calls += "gate";
    EXPECT_EQ(y.shape(), (Shape{3, 5}));
    EXPECT_EQ(gate.shape(), (Shape{3, 5}));
    EXPECT_EQ(gate.data<float>()[0], 0.0f);
    EXPECT_EQ(up.data<float>()[0], 5.0f);
    EXPECT_EQ(up.data<float>()[up.stride(0)], 15.0f);
    EXPECT_EQ(activation, Activation::silu);
  }
  std::string calls;
};

TEST(Backend, GatedLinearIsMadeOfLinearAndGate) {
  auto* backend = new Recorder;
  Device device(std::unique_ptr<Backend>(backend), 1 << 16);
  Tensor x = device.empty({3, 4}), y = device.empty({3, 5}), weight = device.empty({5, 4});
  x.set_prompt_rows(2);
  LinearPart parts[2] = {{weight, {}}, {weight, {}}};
  // Through the base class: a backend that fuses overrides it.
  backend->Backend::gated_linear(y, x, parts, Activation::silu);
  EXPECT_EQ(backend->calls, "linear gate");
}

}  // namespace
}  // namespace crane
