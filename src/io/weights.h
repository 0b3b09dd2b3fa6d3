// Weights: a name-scoped view of a checkpoint that hands tensors to a device.
//
//   nn::Linear(w / "model.layers" / 3 / "self_attn" / "q_proj", …) reads `weight` and `bias` there.
//
// All scopes made from one Weights share the list of what was asked for, so that unused() can tell
// at the end of loading what no one read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/tensor.h"
#include "io/checkpoint.h"

namespace crane {

struct LoadProgress {
  int64_t bytes = 0;  // of tensors taken so far
  int64_t total = 0;  // of all tensors in the checkpoint
};
using ProgressCallback = std::function<void(const LoadProgress&)>;

class Weights {
 public:
  // Both must outlive this and its scopes. `progress` is called after each tensor, by the caller's
  // own thread.
  Weights(const Checkpoint& checkpoint, Device& device, ProgressCallback progress = nullptr);

  Weights operator/(std::string_view name) const;
  Weights operator/(int index) const;

  Device& device() const;
  const Checkpoint& checkpoint() const;
  bool has(std::string_view name) const;
  std::string full_name(std::string_view name) const;

  // A weight for Backend::linear or embed. In the file: [rows, columns], or more axes of the same
  // memory (a convolution kernel). Throws Error(not_found) with the full name and the shape wanted,
  // Error(io) with both shapes.
  Tensor matrix(std::string_view name, int64_t rows, int64_t columns) const;

  // f32 values: a norm weight, a bias, a table. In the file: one axis of `size`, others of 1.
  Tensor vector(std::string_view name, int64_t size) const;

  // Full names of tensors that nobody asked for, sorted, without those that are known to mean
  // nothing here (stored rotary tables, position ids, MTP layers; a head beside
  // tied embeddings).
  std::vector<std::string> unused() const;

 private:
  struct Shared;
  Weights(std::shared_ptr<Shared> shared, std::string scope);
  const CheckpointTensor& take(const std::string& name, const Shape& wanted) const;
  void report(const CheckpointTensor& tensor) const;

  std::shared_ptr<Shared> shared_;
  std::string scope_;
};

}  // namespace crane
