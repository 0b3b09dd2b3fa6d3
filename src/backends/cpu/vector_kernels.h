// The kernels of one instruction set for everything that is no matrix product: norms, rotations,
// element by element, attention. One table per level, filled in isa/<level>.cpp.
//
// Each is a single-threaded loop over a range and knows nothing of tensors. Its result depends on
// its own row alone, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/activation.h"

namespace crane::cpu {

inline constexpr int kKeyPanel = 16;     // tokens side by side in a panel of keys
inline constexpr int kAttendBlock = 64;  // keys per step of the running softmax: one K/V block

// Keys of a block lie as panels [64 / 16][key_dim][16], values as rows [64][value_stride], both
// per K/V head; value_stride is value_dim rounded up to a multiple of 16.
//
// Columns are queries that read the same keys: the heads of a group, times tokens. For each column
// the softmax over its visible keys inside [begin, end) is accumulated block by block: running
// maximum, sum, and weighted values.
struct AttendSpan {
  int columns = 0;
  int key_dim = 0;
  int value_stride = 0;
  int begin = 0, end = 0;           // keys; begin is a multiple of 64, end the last visible key + 1
  const float* queries = nullptr;   // [columns][key_dim], scaled
  const int32_t* first = nullptr;   // [columns] first visible key
  const int32_t* last = nullptr;    // [columns] last visible key + 1
  const int32_t* blocks = nullptr;  // block table of the sequence
  const std::byte* keys = nullptr;  // of this K/V head, in block 0
  const std::byte* values = nullptr;
  int64_t key_block_bytes = 0;  // from one block to the next
  int64_t value_block_bytes = 0;
  float soft_cap = 0.0f;
  float* scores = nullptr;   // scratch [columns][64]
  float* maximum = nullptr;  // [columns] out
  float* sum = nullptr;      // [columns] out
  float* output = nullptr;   // [columns][value_stride] out, not yet divided by the sum
};

// One column's softmax over some keys, not yet divided by the sum.
struct SoftmaxState {
  float* maximum;
  float* sum;
  float* output;  // [value_stride]
};

struct VectorKernels {
  void (*rms_norm)(float* y, const float* x, const float* weight, int64_t size, float eps);
  void (*add)(float* y, const float* a, const float* b, int64_t size);
  void (*scale)(float* y, const float* x, float factor, int64_t size);
  // y = activation(gate) * up
  void (*gate)(float* y, const float* gate, const float* up, int64_t size, Activation activation);
  // Rotates the pairs (i, i + half); angles: cosines, then sines.
  void (*rope)(float* x, const float* angles, int64_t half);

  // One token's key into its column of a panel, and one token's value row (zero-padded).
  void (*store_key_f32)(std::byte* panel_column, const float* key, int64_t size);
  void (*store_key_f16)(std::byte* panel_column, const float* key, int64_t size);
  void (*store_value_f32)(std::byte* row, const float* value, int64_t size, int64_t stride);
  void (*store_value_f16)(std::byte* row, const float* value, int64_t size, int64_t stride);
  void (*attend_f32)(const AttendSpan& span);
  void (*attend_f16)(const AttendSpan& span);
  // Merges another span's result into (maximum, sum, output) of one column.
  void (*merge)(const SoftmaxState& into, const SoftmaxState& other, int64_t value_stride);
};

}  // namespace crane::cpu
