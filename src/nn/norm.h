// RmsNorm with its weight. Zhang & Sennrich 2019.
#pragma once

#include <string_view>

#include "io/weights.h"
#include "ops/norm.h"

namespace crane::nn {

class RmsNorm {
 public:
  RmsNorm(const Weights& weights, int64_t dim, float eps)
      : weight_(weights.vector("weight", dim)), eps_(eps) {}
  Tensor operator()(const Tensor& x) const { return ops::rms_norm(x, weight_, eps_); }

 private:
  Tensor weight_;
  float eps_;
};

}  // namespace crane::nn
