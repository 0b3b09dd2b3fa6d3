// Rows of a packed table as activations.
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/context.h"
#include "core/tensor.h"

namespace crane::cpu {

// y[i] = table[ids[i]], dequantised as the reference does it; y f32 [ids, k].
void embed(Context& context, Tensor& y, const Tensor& table, std::span<const int32_t> ids);

}  // namespace crane::cpu
