// The kernels of one instruction set for matrix products, and the table of tables of a level.
//
// Weights lie in panels of 16 rows. Inside a panel, k advances in groups of four codes, and the
// groups of the 16 rows lie side by side: 64 bytes for 16 rows and 4 k ("R16K4"; pack.h has the
// byte maps). Each kernel is a single-threaded loop and knows nothing of tensors.
//
// Included by the kernel files: plain data only, no inline functions, no default values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crane::cpu {

struct VectorKernels;

inline constexpr int kPanelRows = 16;
inline constexpr int kScaleBlock = 32;  // k per activation scale
inline constexpr int kQuad = 4;         // columns that lie side by side

// Activations as signed 8-bit codes, one scale per 32 k. Columns (tokens) come in groups of
// `width`: 1 when there is one column, else 4; the last group is padded with zero columns.
struct QuantizedColumns {
  int8_t* codes;        // [group][block][8 k-groups][width][4]
  float* scales;        // [group][block][width]
  float* sums;          // [group][block][width]: scale * sum of the codes
  int32_t* pairs;       // [group][block][width]: sums of codes 0, 1 and of 2, 3 of every group of
                        // four, as two 16-bit numbers
  int32_t* half_pairs;  // [group][block][2][width]: the same per 16 k
  int64_t columns;
  int64_t blocks;
  int width;
};

// A piece of a panel expanded to 8-bit codes.
struct Strip {
  uint8_t* codes;        // [block][8 k-groups][16 rows][4]
  float* scales;         // [block][16]
  float* minima;         // [block][16]; types with a minimum
  int32_t* half_scales;  // [block][2][16], in a form of the level's own; types with halves
};

// A block-quantised weight type. All sums of one output element are made in ascending k with one
// accumulator, in the same way by every entry, so that a column's result depends on nothing else.
struct QuantizedKernels {
  // y[16 * count] = `count` panels times one column.
  void (*multiply_column)(const uint8_t* panels, int64_t count, const QuantizedColumns& x,
                          float* y);
  // Blocks [first, first + count) of a panel; `first` is a multiple of 8.
  void (*expand)(const uint8_t* panel, int64_t first, int64_t count, const Strip& strip);
  // sums[column][16] += strip times the columns' blocks from `first` on, all columns of x.
  void (*multiply)(const Strip& strip, int64_t first, int64_t count, const QuantizedColumns& x,
                   float* sums);
  // values[32 * count][16]: the weights as floats, as the reference dequantises them.
  void (*decode)(const Strip& strip, int64_t count, float* values);
};

// F32, F16, BF16.
struct ScalarKernels {
  // y[16 * count] = `count` panels of `columns` k times one column.
  void (*multiply_column)(const uint8_t* panels, int64_t count, int64_t k, const float* x,
                          float* y);
  // values[count][16] of k from `first` on, a multiple of 2.
  void (*expand)(const uint8_t* panel, int64_t first, int64_t count, float* values);
};

inline constexpr int kQuantizedTypes = 10;
inline constexpr int kScalarTypes = 3;

struct ProductKernels {
  QuantizedKernels quantized[kQuantizedTypes];  // in the order of packed_index() in pack.h
  ScalarKernels scalar[kScalarTypes];
  // Group `group` of `out` from `count` rows of x, `stride` floats apart.
  void (*quantize)(const QuantizedColumns& out, int64_t group, const float* x, int64_t stride,
                   int count);
  // sums[c][16] += values[k][16] times x[c][k] for k < count, c < columns; rows of x `stride`
  // floats apart.
  void (*multiply_floats)(const float* values, int64_t count, const float* x, int64_t stride,
                          int64_t columns, float* sums);
};

struct Kernels {
  const char* name;
  const ProductKernels* products;
  const VectorKernels* vectors;
};

extern const Kernels kernels_generic;
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
extern const Kernels kernels_avx512vnni;

}  // namespace crane::cpu
