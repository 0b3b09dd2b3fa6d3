// Linear and Embedding: a linear map and a token table with their weights.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/backend.h"
#include "io/weights.h"

namespace crane::nn {

enum class Bias { no, yes };

// One named tensor of a joined map.
struct LinearPartSpec {
  std::string_view name;
  int64_t rows;
  Bias bias = Bias::no;
};

// y = x Wᵀ (+ b). Several tensors joined give their results side by side and read x once.
class Linear {
 public:
  Linear() = default;
  // `weights` is scoped to the map itself: it reads "weight" and, if asked, "bias".
  Linear(const Weights& weights, int64_t columns, int64_t rows, Bias bias = Bias::no);
  // Joins weights / name for every part.
  Linear(const Weights& weights, int64_t columns, std::initializer_list<LinearPartSpec> parts);
  explicit Linear(const Tensor& weight) : parts_{{weight, {}}} {}

  Tensor operator()(const Tensor& x) const;
  const std::vector<LinearPart>& parts() const { return parts_; }

 private:
  std::vector<LinearPart> parts_;
};

class Embedding {
 public:
  Embedding(const Weights& weights, int64_t vocab, int64_t dim);
  Tensor operator()(const Batch& batch) const;
  Linear as_linear() const { return Linear(table_); }  // a tied head

 private:
  Tensor table_;
};

// down(activation(gate(x)) * up(x)), the MLP of the Llama family.
class GatedMlp {
 public:
  GatedMlp(const Weights& weights, int64_t dim, int64_t hidden, Activation activation);
  Tensor operator()(const Tensor& x) const;

 private:
  std::array<LinearPart, 2> gate_up_;
  Linear down_;
  Activation activation_;
};

}  // namespace crane::nn
