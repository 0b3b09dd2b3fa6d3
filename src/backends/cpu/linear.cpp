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

// Panels of gate and up in turn, so that both results are small enough for the cache.
void gate_one_column(const Context& context, const PanelProduct& product, const PanelWeight& gate,
                     const PanelWeight& up, int64_t begin, int64_t end, Activation activation,
                     float* y) {
  constexpr int64_t kPanels = 16;
  float gates[kPanels * kPanelRows], ups[kPanels * kPanelRows];
  for (int64_t first = begin; first < end; first += kPanels) {
    int64_t count = std::min(kPanels, end - first);
    product.one_column(gate, first, count, gates);
    product.one_column(up, first, count, ups);
    int64_t rows = std::min(count * kPanelRows, gate.rows - first * kPanelRows);
    context.kernels.vectors->gate(y + first * kPanelRows, gates, ups, rows, activation);
  }
}

void gate_panels(Context& context, const PanelProduct& product,
                 std::span<const LinearPart, 2> parts, Activation activation, const Target& to) {
  PanelWeight gate(parts[0].weight, parts[0].bias), up(parts[1].weight, parts[1].bias);
  int64_t grain = product.grain(gate.panels, gate.bytes + up.bytes);
  context.pool.parallel_for(gate.panels, grain, [&](int64_t begin, int64_t end, int worker) {
    if (product.is_one_column())
      return gate_one_column(context, product, gate, up, begin, end, activation, to.y);
    Workspace work = product.workspace(worker);
    for (int64_t panel = begin; panel < end; ++panel) {
      product.many_columns(gate, panel, work, work.sums);
      product.many_columns(up, panel, work, work.up_sums);
      context.kernels.vectors->gate(work.sums, work.sums, work.up_sums,
                                    product.columns() * kPanelRows, activation);
      scatter(work.sums, product.columns(), gate.row_count(panel),
              {to.y + panel * kPanelRows, to.stride});
    }
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
    gate_panels(context, product, parts, activation, target_of(y, begin));
  }
}

}  // namespace crane::cpu
