#include "ops/rope.h"

#include "ops/checks.h"

namespace crane::ops {

Tensor rope_angles(Device& device, std::span<const int32_t> positions,
                   std::span<const float> frequencies, float magnitude) {
  Tensor angles = device.empty(
      {static_cast<int64_t>(positions.size()), 2 * static_cast<int64_t>(frequencies.size())});
  device.backend().rope_angles(angles, positions, frequencies, magnitude);
  return angles;
}

Tensor rope(Tensor x, const Tensor& angles) {
  require(x.rank() == 3 && x.dtype() == DType::f32 && x.dim(0) == angles.dim(0) &&
              angles.dim(1) <= x.dim(2),
          "rope", "the angles do not fit [tokens, heads, head_dim]", x, angles);
  x.device().backend().rope(x, angles);
  return x;
}

}  // namespace crane::ops
