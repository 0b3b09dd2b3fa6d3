// Normalisation over the last axis.
#pragma once

#include "core/tensor.h"

namespace crane::ops {

// x / sqrt(mean(x²) + eps) * weight, in f32; x [tokens, dim] or [tokens, heads, dim], weight [dim].
Tensor rms_norm(const Tensor& x, const Tensor& weight, float eps);

}  // namespace crane::ops
