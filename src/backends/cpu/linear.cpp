#include "backends/cpu/linear.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/panel_product.h"
#include "backends/cpu/vector_kernels.h"

namespace crane::cpu {
namespace {

// Where a piece of the result goes: rows of y, `stride` floats apart.
struct Target {
  float* y;
  int64_t stride;
};

PanelProduct::Input input_of(const Tensor& x, int64_t begin) {
  int64_t count = std::min(PanelProduct::kMaxColumns, x.dim(0) - begin);
  return {x.data<float>() + begin * x.stride(0), x.stride(0), count, x.dim(1)};
}

Target target_of(const Tensor& y, int64_t begin) {
  return {y.data<float>() + begin * y.stride(0), y.stride(0)};
}

// sums[column][16] into 16 or, at the end of a weight, fewer columns of y.
void scatter(const float* sums, int64_t columns, int64_t rows, const Target& to) {
  for (int64_t c = 0; c < columns; ++c)
    std::memcpy(to.y + c * to.stride, sums + c * kPanelRows,
                static_cast<size_t>(rows) * sizeof(float));
}

bool any_quantized(std::span<const LinearPart> parts) {
  return std::any_of(parts.begin(), parts.end(), [](const LinearPart& part) {
    return packed_type(part.weight.dtype())->quantized;
  });
}

void multiply_part(const PanelProduct& product, const PanelWeight& weight, int64_t first,
                   int64_t count, const Workspace& work, const Target& to) {
  if (product.is_one_column())
    return product.one_column(weight, first, count, to.y + first * kPanelRows);
  for (int64_t panel = first; panel < first + count; ++panel) {
    product.many_columns(weight, panel, work, work.sums);
    scatter(work.sums, product.columns(), weight.row_count(panel),
            {to.y + panel * kPanelRows, to.stride});
  }
}

// All parts as one row of panels.
void multiply_parts(Context& context, const PanelProduct& product,
                    std::span<const LinearPart> parts, const Target& to) {
  int64_t panels = 0, bytes = 0;
  for (const LinearPart& part : parts) {
    PanelWeight weight(part.weight, part.bias);
    panels += weight.panels;
    bytes = std::max(bytes, weight.bytes);
  }
  int64_t grain = product.grain(panels, bytes);
  context.pool.parallel_for(panels, grain, [&](int64_t begin, int64_t end, int worker) {
    Workspace work = product.workspace(worker);
    int64_t start = 0, column = 0;  // of the part
    for (const LinearPart& part : parts) {
      PanelWeight weight(part.weight, part.bias);
      int64_t from = std::max(begin, start), until = std::min(end, start + weight.panels);
      if (from < until)
        multiply_part(product, weight, from - start, until - from, work,
                      {to.y + column, to.stride});
      start += weight.panels;
      column += weight.rows;
    }
  });
}

struct GatedStage {
  const VectorKernels& kernels;
  const PanelProduct& product;
  PanelWeight gate, up;
  Activation activation;
};

// Panels of gate and up in turn, so that both results are small enough for the cache.
void gate_one_column(const GatedStage& stage, int64_t begin, int64_t end, float* y) {
  constexpr int64_t kPanels = 16;
  float gates[kPanels * kPanelRows], ups[kPanels * kPanelRows];
  for (int64_t first = begin; first < end; first += kPanels) {
    int64_t count = std::min(kPanels, end - first);
    stage.product.one_column(stage.gate, first, count, gates);
    stage.product.one_column(stage.up, first, count, ups);
    int64_t rows = std::min(count * kPanelRows, stage.gate.rows - first * kPanelRows);
    stage.kernels.gate(y + first * kPanelRows, gates, ups, rows, stage.activation);
  }
}

void gate_many_columns(const GatedStage& stage, int64_t panel, const Workspace& work,
                       const Target& to) {
  stage.product.many_columns(stage.gate, panel, work, work.sums);
  stage.product.many_columns(stage.up, panel, work, work.up_sums);
  stage.kernels.gate(work.sums, work.sums, work.up_sums, stage.product.columns() * kPanelRows,
                     stage.activation);
  scatter(work.sums, stage.product.columns(), stage.gate.row_count(panel),
          {to.y + panel * kPanelRows, to.stride});
}

void gate_panels(Context& context, const GatedStage& stage, const Target& to) {
  int64_t grain = stage.product.grain(stage.gate.panels, stage.gate.bytes + stage.up.bytes);
  context.pool.parallel_for(stage.gate.panels, grain, [&](int64_t begin, int64_t end, int worker) {
    if (stage.product.is_one_column()) return gate_one_column(stage, begin, end, to.y);
    Workspace work = stage.product.workspace(worker);
    for (int64_t panel = begin; panel < end; ++panel) gate_many_columns(stage, panel, work, to);
  });
}

}  // namespace

void linear(Context& context, Tensor& y, const Tensor& x, std::span<const LinearPart> parts) {
  for (int64_t begin = 0; begin < x.dim(0); begin += PanelProduct::kMaxColumns) {
    PanelProduct product(context, input_of(x, begin), any_quantized(parts));
    multiply_parts(context, product, parts, target_of(y, begin));
  }
}

void gated_linear(Context& context, Tensor& y, const Tensor& x,
                  std::span<const LinearPart, 2> parts, Activation activation) {
  for (int64_t begin = 0; begin < x.dim(0); begin += PanelProduct::kMaxColumns) {
    PanelProduct product(context, input_of(x, begin), any_quantized(parts));
    GatedStage stage{*context.kernels.vectors, product, PanelWeight(parts[0].weight, parts[0].bias),
                     PanelWeight(parts[1].weight, parts[1].bias), activation};
    gate_panels(context, stage, target_of(y, begin));
  }
}

}  // namespace crane::cpu
