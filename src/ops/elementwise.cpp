#include "ops/elementwise.h"

#include "ops/checks.h"

namespace crane::ops {

Tensor add(const Tensor& a, const Tensor& b) {
  require(a.shape() == b.shape() && a.dtype() == DType::f32 && b.dtype() == DType::f32, "add",
          "shapes differ", a, b);
  Tensor y = empty_like_rows(a, a.shape());
  a.device().backend().add(y, a, b);
  return y;
}

Tensor scale(const Tensor& x, float factor) {
  Tensor y = empty_like_rows(x, x.shape());
  x.device().backend().scale(y, x, factor);
  return y;
}

Tensor gate(const Tensor& gate, const Tensor& up, Activation activation) {
  require(gate.shape() == up.shape(), "gate", "shapes differ", gate, up);
  Tensor y = empty_like_rows(gate, gate.shape());
  gate.device().backend().gate(y, gate, up, activation);
  return y;
}

}  // namespace crane::ops
