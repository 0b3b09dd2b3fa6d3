// Element by element.
#pragma once

#include "core/backend.h"

namespace crane::ops {

Tensor add(const Tensor& a, const Tensor& b);
Tensor scale(const Tensor& x, float factor);
// activation(gate) * up
Tensor gate(const Tensor& gate, const Tensor& up, Activation activation);

}  // namespace crane::ops

namespace crane {
inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
}  // namespace crane
