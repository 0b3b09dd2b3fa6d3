#include "nn/linear.h"

#include "ops/index.h"
#include "ops/linear.h"

namespace crane::nn {
namespace {

LinearPart load_part(const Weights& weights, int64_t columns, int64_t rows, Bias bias) {
  LinearPart part{weights.matrix("weight", rows, columns), {}};
  if (bias == Bias::yes) part.bias = weights.vector("bias", rows);
  return part;
}

}  // namespace

Linear::Linear(const Weights& weights, int64_t columns, int64_t rows, Bias bias)
    : parts_{load_part(weights, columns, rows, bias)} {}

Linear::Linear(const Weights& weights, int64_t columns,
               std::initializer_list<LinearPartSpec> parts) {
  for (const LinearPartSpec& part : parts)
    parts_.push_back(load_part(weights / part.name, columns, part.rows, part.bias));
}

Tensor Linear::operator()(const Tensor& x) const { return ops::linear(x, parts_); }

Embedding::Embedding(const Weights& weights, int64_t vocab, int64_t dim)
    : table_(weights.matrix("weight", vocab, dim)) {}

Tensor Embedding::operator()(const Batch& batch) const { return ops::embed(table_, batch); }

GatedMlp::GatedMlp(const Weights& weights, int64_t dim, int64_t hidden, Activation activation)
    : gate_up_{load_part(weights / "gate_proj", dim, hidden, Bias::no),
               load_part(weights / "up_proj", dim, hidden, Bias::no)},
      down_(weights / "down_proj", hidden, dim),
      activation_(activation) {}

Tensor GatedMlp::operator()(const Tensor& x) const {
  return down_(ops::gated_linear(x, gate_up_, activation_));
}

}  // namespace crane::nn
