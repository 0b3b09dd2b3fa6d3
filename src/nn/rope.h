// Rope: the frequencies of a rotary embedding, from a model's config. Reference: transformers,
// modeling_rope_utils.py.
#pragma once

#include <vector>

#include "base/json.h"
#include "core/batch.h"
#include "core/device.h"

namespace crane::nn {

// Frequencies are computed once; the angles of a step once per step, for all layers.
class Rope {
 public:
  // `parameters` holds rope_theta, rope_type ("default", "linear", "yarn") and that type's own
  // values. Another type throws Error(unsupported) naming it. `rotary_dim` dimensions of a head
  // rotate; `max_positions` is the model's max_position_embeddings.
  Rope(const Json& parameters, int rotary_dim, int max_positions);

  Tensor operator()(Device& device, const Batch& batch) const;

  const std::vector<float>& frequencies() const { return frequencies_; }
  float magnitude() const { return magnitude_; }

 private:
  std::vector<float> frequencies_;
  float magnitude_ = 1.0f;  // YaRN's attention factor, on cosines and sines
};

}  // namespace crane::nn
