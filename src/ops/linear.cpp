#include "ops/linear.h"

#include "ops/checks.h"

namespace crane::ops {
namespace {

int64_t checked_rows(const char* op, const Tensor& x, std::span<const LinearPart> parts) {
  check(x.defined() && x.rank() == 2 && x.dtype() == DType::f32 && x.stride(1) == 1,
        "linear: x is not a [tokens, columns] f32 tensor");
  int64_t rows = 0;
  for (const LinearPart& part : parts) {
    require(part.weight.rank() == 2 && part.weight.dim(1) == x.dim(1), op,
            "x and the weight differ in their inner size", x, part.weight);
    if (part.bias.defined())
      require(part.bias.elements() == part.weight.dim(0), op, "the bias does not fit the weight",
              part.bias, part.weight);
    rows += part.weight.dim(0);
  }
  return rows;
}

}  // namespace

Tensor linear(const Tensor& x, std::span<const LinearPart> parts) {
  int64_t rows = checked_rows("linear", x, parts);
  Tensor y = empty_like_rows(x, {x.dim(0), rows});
  x.device().backend().linear(y, x, parts);
  return y;
}

Tensor gated_linear(const Tensor& x, std::span<const LinearPart, 2> parts, Activation activation) {
  int64_t rows = checked_rows("gated_linear", x, parts);
  require(parts[0].weight.dim(0) == parts[1].weight.dim(0), "gated_linear",
          "gate and up differ in their rows", parts[0].weight, parts[1].weight);
  Tensor y = empty_like_rows(x, {x.dim(0), rows / 2});
  x.device().backend().gated_linear(y, x, parts, activation);
  return y;
}

}  // namespace crane::ops
