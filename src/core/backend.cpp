#include "core/backend.h"

#include "core/device.h"

namespace crane {

void Backend::gated_linear(Tensor& y, const Tensor& x, std::span<const LinearPart, 2> parts,
                           Activation activation) {
  int64_t width = parts[0].weight.dim(0);
  Tensor both = x.device().empty({x.dim(0), 2 * width});
  both.set_prompt_rows(x.prompt_rows());
  linear(both, x, parts);
  gate(y, both.slice(1, 0, width), both.slice(1, width, width), activation);
}

}  // namespace crane
