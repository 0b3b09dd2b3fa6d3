// Backend: memory and one virtual per op. It trusts its arguments: ops/ checked them.
//
// Shapes: activations are f32 [tokens, dim] with dense rows (a row stride may exceed dim). A
// row's result never depends on the other rows, on how tokens are grouped into batches or on the
// number of threads, bit for bit.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/activation.h"
#include "core/batch.h"
#include "core/kv_cache.h"
#include "core/tensor.h"

namespace crane {

// A weight as it lies in a file: `rows` x `columns`, the last axis fastest, rows dense.
struct HostWeight {
  DType dtype = DType::f32;
  int64_t rows = 0;
  int64_t columns = 0;
  const std::byte* data = nullptr;
};

// One block of rows of a linear map. Several of them side by side are one stage: the input is
// read (and quantized) once.
struct LinearPart {
  Tensor weight;  // [rows, columns], packed
  Tensor bias;    // [rows] f32, or undefined
};

struct AttentionOptions {
  float scale = 0.0f;     // of the scores; 0: 1 / sqrt(head size), which ops/ fills in
  int window = 0;         // keys seen including the token itself; 0: all before it
  float soft_cap = 0.0f;  // scores become cap * tanh(score / cap); 0: none
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Memory.
  // Takes a weight into the backend's own form; the bytes may go away afterwards. Throws
  // Error(unsupported) naming the dtype when no kernel reads it.
  virtual Tensor upload(Device& device, const HostWeight& weight) = 0;
  // A vector of f32 values (norm weights, biases, tables), from any scalar dtype.
  virtual Tensor upload_vector(Device& device, const HostWeight& weight) = 0;
  // Allocates the keys, values and states of `cache` for `slots` sequences.
  virtual void allocate(Device& device, KvCache& cache, int slots) = 0;
  // Copies the first `tokens` tokens of one K/V block to another, in all layers.
  virtual void copy_block(KvCache& cache, int from, int to, int tokens) = 0;
  // Whether prompt and generated tokens are computed by different arithmetic (TokenMode).
  virtual bool modes_differ() const = 0;
  virtual DType default_kv_type(bool quantized_weights) const = 0;
  virtual std::string description() const = 0;  // "cpu, avx2, 2 threads"

  // Required ops. y is allocated by the caller.
  // y[i] = table[ids[i]]
  virtual void embed(Tensor& y, const Tensor& table, std::span<const int32_t> ids) = 0;
  // y[i] = x[rows[i]]
  virtual void select_rows(Tensor& y, const Tensor& x, std::span<const int32_t> rows) = 0;
  // y = x / sqrt(mean(x²) + eps) * weight over the last axis; x of rank 2 or 3.
  virtual void rms_norm(Tensor& y, const Tensor& x, const Tensor& weight, float eps) = 0;
  // y = [x W₀ᵀ + b₀, x W₁ᵀ + b₁, …]
  virtual void linear(Tensor& y, const Tensor& x, std::span<const LinearPart> parts) = 0;
  // y = activation(x Gᵀ) * (x Uᵀ), G = parts[0], U = parts[1]; the default computes both and
  // multiplies.
  virtual void gated_linear(Tensor& y, const Tensor& x, std::span<const LinearPart, 2> parts,
                            Activation activation);
  // y = activation(gate) * up
  virtual void gate(Tensor& y, const Tensor& gate, const Tensor& up, Activation activation) = 0;
  virtual void add(Tensor& y, const Tensor& a, const Tensor& b) = 0;
  virtual void scale(Tensor& y, const Tensor& x, float factor) = 0;
  // angles[t] = [cos(p_t f_0) … cos(p_t f_h), sin(p_t f_0) … sin(p_t f_h)] * magnitude
  virtual void rope_angles(Tensor& angles, std::span<const int32_t> positions,
                           std::span<const float> frequencies, float magnitude) = 0;
  // Rotates the pairs (i, i + h) of every head in place, h = angles.dim(1) / 2; dimensions past
  // 2h stay. x: [tokens, heads, head_dim].
  virtual void rope(Tensor& x, const Tensor& angles) = 0;
  // Writes k, v [tokens, kv_heads, head_dim] behind each run's past tokens.
  virtual void store_kv(KvCache::Layer& layer, const Tensor& k, const Tensor& v,
                        const Batch& batch) = 0;
  // y, q: [tokens, heads, head_dim]. Causal within each run's sequence.
  virtual void attention(Tensor& y, const Tensor& q, KvCache::Layer& layer, const Batch& batch,
                         const AttentionOptions& options) = 0;
};

}  // namespace crane
