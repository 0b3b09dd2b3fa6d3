// Linear maps of the CPU backend: x [tokens, k] f32, y [tokens, sum of rows] f32, both with dense
// rows that may lie apart.
#pragma once

#include <span>

#include "backends/cpu/context.h"
#include "core/backend.h"

namespace crane::cpu {

// y = [x W0' + b0, x W1' + b1, …]
void linear(Context& context, Tensor& y, const Tensor& x, std::span<const LinearPart> parts);

// y = activation(x G' + g) * (x U' + u), G = parts[0], U = parts[1]. The result equals linear(),
// then gate(), bit for bit; what lies between them stays in the cache.
void gated_linear(Context& context, Tensor& y, const Tensor& x,
                  std::span<const LinearPart, 2> parts, Activation activation);

}  // namespace crane::cpu
