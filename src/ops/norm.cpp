#include "ops/norm.h"

#include "ops/checks.h"

namespace crane::ops {

Tensor rms_norm(const Tensor& x, const Tensor& weight, float eps) {
  require(x.dtype() == DType::f32 && x.stride(-1) == 1 && weight.elements() == x.dim(-1),
          "rms_norm", "the weight does not fit the last axis", x, weight);
  Tensor y = empty_like_rows(x, x.shape());
  x.device().backend().rms_norm(y, x, weight, eps);
  return y;
}

}  // namespace crane::ops
