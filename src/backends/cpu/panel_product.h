// Products of panels with columns: picks the kernels by the weight's type and the precision, and
// owns the buffers that one linear stage needs. Shared by linear.cpp and embed.cpp.
#pragma once

#include <cstdint>

#include "backends/cpu/context.h"
#include "backends/cpu/pack.h"
#include "core/tensor.h"

namespace crane::cpu {

// A packed weight and its bias, as the loops want it.
struct PanelWeight {
  PanelWeight(const Tensor& weight, const Tensor& bias);

  const uint8_t* panel(int64_t index) const { return data + index * bytes; }
  int64_t row_count(int64_t index) const {
    return rows - index * kPanelRows < kPanelRows ? rows - index * kPanelRows : kPanelRows;
  }

  const uint8_t* data;
  const float* bias;  // or null
  PackedType type;
  int64_t rows, k, panels, bytes;
};

// One worker's memory.
struct Workspace {
  float* sums;     // [columns][16]
  float* up_sums;  // [columns][16], for gated maps
  float* values;   // [kFloatChunk][16]
  Strip strip;     // of kCodeChunk

  static constexpr int64_t kCodeChunk = 1024;  // k of an expanded strip: it fills half of the L1
  static constexpr int64_t kFloatChunk = 256;  // the same for floats
};

// Columns of activations times panels. The constructor quantises x when a weight needs that.
class PanelProduct {
 public:
  // x: `columns` rows of k floats, `stride` apart; at most kMaxColumns of them.
  static constexpr int64_t kMaxColumns = 1024;
  struct Input {
    const float* x;
    int64_t stride, columns, k;
  };
  PanelProduct(Context& context, const Input& input, bool any_quantized);

  // Both for panels of one weight, with its bias added.
  // y[16 * count] for the only column; rows past the weight's end are left out.
  void one_column(const PanelWeight& weight, int64_t first, int64_t count, float* y) const;
  // sums[column][16] of one panel.
  void many_columns(const PanelWeight& weight, int64_t panel, const Workspace& work,
                    float* sums) const;

  bool is_one_column() const { return input_.columns == 1 && context_.precision != Precision::f32; }
  int64_t columns() const { return input_.columns; }
  Workspace workspace(int worker) const;
  // Panels per piece of work: enough to stream, few enough to balance.
  int64_t grain(int64_t panels, int64_t bytes) const;

 private:
  void quantize();
  size_t workspace_bytes() const;

  Context& context_;
  Input input_;
  QuantizedColumns quantized_{};
  std::byte* memory_ = nullptr;
};

// values[count][16] of a panel from k = first on, a multiple of 256; count at most kFloatChunk.
// The values may lie in the panel itself.
const float* panel_values(const Kernels& kernels, const PanelWeight& weight, int64_t panel,
                          int64_t first, int64_t count, const Workspace& work);

// The bytes of a workspace without sums, and one that lies at `memory`.
size_t strip_bytes();
Workspace strip_workspace(std::byte* memory);

}  // namespace crane::cpu
