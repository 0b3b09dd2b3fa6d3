// Norms, rotations and element-by-element ops of the CPU backend. Small inputs run on the calling
// thread: they are done before a second one would have woken.
#pragma once

#include <span>

#include "backends/cpu/context.h"
#include "core/backend.h"

namespace crane::cpu {

void select_rows(Tensor& y, const Tensor& x, std::span<const int32_t> rows);
void rms_norm(Context& context, Tensor& y, const Tensor& x, const Tensor& weight, float eps);
void gate(Context& context, Tensor& y, const Tensor& gate, const Tensor& up, Activation activation);
void add(Context& context, Tensor& y, const Tensor& a, const Tensor& b);
void scale(Context& context, Tensor& y, const Tensor& x, float factor);
void rope_angles(Context& context, Tensor& angles, std::span<const int32_t> positions,
                 std::span<const float> frequencies, float magnitude);
void rope(Context& context, Tensor& x, const Tensor& angles);

}  // namespace crane::cpu
