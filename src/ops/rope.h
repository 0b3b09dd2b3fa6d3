// Rotary position embedding, half-split pairing (i, i + d/2). Su et al. 2021; reference:
// transformers, modeling_llama.py, apply_rotary_pos_emb.
#pragma once

#include <span>

#include "core/device.h"

namespace crane::ops {

// [positions, 2h]: the cosines, then the sines, of position * frequencies[0..h), times magnitude.
Tensor rope_angles(Device& device, std::span<const int32_t> positions,
                   std::span<const float> frequencies, float magnitude);

// Rotates x [tokens, heads, head_dim] in place; dimensions past 2h pass through.
Tensor rope(Tensor x, const Tensor& angles);

}  // namespace crane::ops
