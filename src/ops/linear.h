// Linear maps y = x Wᵀ + b, plain and gated.
#pragma once

#include <span>

#include "core/backend.h"

namespace crane::ops {

// x [tokens, columns] f32; each part's weight [rows, columns]. Gives [tokens, sum of rows]: the
// parts' results side by side.
Tensor linear(const Tensor& x, std::span<const LinearPart> parts);

// activation(x Gᵀ + b) * (x Uᵀ + b'), [tokens, rows]; parts are {G, U}.
Tensor gated_linear(const Tensor& x, std::span<const LinearPart, 2> parts, Activation activation);

}  // namespace crane::ops
