#include "backends/cpu/panel_product.h"

#include <algorithm>
#include <cstring>

namespace crane::cpu {
namespace {

constexpr int64_t kStripBlocks = Workspace::kCodeChunk / kScaleBlock;
constexpr size_t kCodeBytes = static_cast<size_t>(Workspace::kCodeChunk) * kPanelRows;
constexpr size_t kScaleBytes = static_cast<size_t>(kStripBlocks) * kPanelRows * sizeof(float);
constexpr size_t kValueBytes =
    static_cast<size_t>(Workspace::kFloatChunk) * kPanelRows * sizeof(float);

}  // namespace

PanelWeight::PanelWeight(const Tensor& weight, const Tensor& bias_vector)
    : data(weight.data<uint8_t>()),
      bias(bias_vector.defined() ? bias_vector.data<float>() : nullptr),
      type(*packed_type(weight.dtype())),
      rows(weight.dim(0)),
      k(weight.dim(1)),
      panels(panel_count(rows)),
      bytes(panel_bytes(weight.dtype(), k)) {}

size_t strip_bytes() { return kCodeBytes + 4 * kScaleBytes + kValueBytes; }

Workspace strip_workspace(std::byte* memory) {
  Workspace work{};
  work.strip.codes = reinterpret_cast<uint8_t*>(memory);
  memory += kCodeBytes;
  work.strip.scales = reinterpret_cast<float*>(memory);
  memory += kScaleBytes;
  work.strip.minima = reinterpret_cast<float*>(memory);
  memory += kScaleBytes;
  work.strip.half_scales = reinterpret_cast<int32_t*>(memory);
  memory += 2 * kScaleBytes;
  work.values = reinterpret_cast<float*>(memory);
  return work;
}

const float* panel_values(const Kernels& kernels, const PanelWeight& weight, int64_t panel,
                          int64_t first, int64_t count, const Workspace& work) {
  const uint8_t* data = weight.panel(panel);
  if (weight.type.quantized) {
    const QuantizedKernels& of = kernels.products->quantized[weight.type.index];
    of.expand(data, first / kScaleBlock, count / kScaleBlock, work.strip);
    of.decode(work.strip, count / kScaleBlock, work.values);
    return work.values;
  }
  if (weight.type.index == 0) return reinterpret_cast<const float*>(data) + first * kPanelRows;
  kernels.products->scalar[weight.type.index].expand(data, first, count, work.values);
  return work.values;
}

PanelProduct::PanelProduct(Context& context, const Input& input, bool any_quantized)
    : context_(context), input_(input) {
  if (any_quantized && context.precision == Precision::automatic) quantize();
  memory_ = context.scratch.bytes(Scratch::Slot::product,
                                  workspace_bytes() * static_cast<size_t>(context.pool.size()));
}

size_t PanelProduct::workspace_bytes() const {
  size_t columns = static_cast<size_t>((input_.columns + kQuad - 1) / kQuad * kQuad);
  return strip_bytes() + 2 * columns * kPanelRows * sizeof(float);
}

Workspace PanelProduct::workspace(int worker) const {
  std::byte* memory = memory_ + workspace_bytes() * static_cast<size_t>(worker);
  Workspace work = strip_workspace(memory);
  work.sums = reinterpret_cast<float*>(memory + strip_bytes());
  work.up_sums = work.sums + (input_.columns + kQuad - 1) / kQuad * kQuad * kPanelRows;
  return work;
}

void PanelProduct::quantize() {
  int width = input_.columns == 1 ? 1 : kQuad;
  int64_t groups = (input_.columns + width - 1) / width, blocks = input_.k / kScaleBlock;
  size_t scales = static_cast<size_t>(groups * blocks * width);
  std::byte* memory = context_.scratch.bytes(Scratch::Slot::quantized_input,
                                             scales * (kScaleBlock + 5 * sizeof(float)));
  auto* numbers = reinterpret_cast<float*>(memory + scales * kScaleBlock);
  quantized_.codes = reinterpret_cast<int8_t*>(memory);
  quantized_.scales = numbers;
  quantized_.sums = numbers + scales;
  quantized_.pairs = reinterpret_cast<int32_t*>(numbers + 2 * scales);
  quantized_.half_pairs = reinterpret_cast<int32_t*>(numbers + 3 * scales);
  quantized_.columns = input_.columns;
  quantized_.blocks = blocks;
  quantized_.width = width;
  // About 8 k values per piece: less is done before another thread has woken.
  int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, input_.k * width));
  context_.pool.parallel_for(groups, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t group = begin; group < end; ++group)
      context_.kernels.products->quantize(
          quantized_, group, input_.x + group * width * input_.stride, input_.stride,
          static_cast<int>(std::min<int64_t>(width, input_.columns - group * width)));
  });
}

int64_t PanelProduct::grain(int64_t panels, int64_t bytes) const {
  int64_t balanced = std::max<int64_t>(1, panels / (4 * context_.pool.size()));
  if (!is_one_column()) {
    int64_t products = kPanelRows * std::max<int64_t>(1, input_.k * input_.columns);
    return std::clamp<int64_t>((int64_t{1} << 20) / products, 1, balanced);
  }
  // Long runs of panels stream best; an even number suits kernels that read two side by side.
  int64_t shortest = (int64_t{64} << 10) / bytes, longest = (int64_t{256} << 10) / bytes;
  int64_t grain =
      std::clamp(balanced, std::max<int64_t>(1, shortest), std::max<int64_t>(1, longest));
  return std::min((grain + 1) / 2 * 2, std::max<int64_t>(1, (panels + 1) / 2));
}

void PanelProduct::one_column(const PanelWeight& weight, int64_t first, int64_t count,
                              float* y) const {
  int64_t full =
      first + count == weight.panels && weight.rows % kPanelRows != 0 ? count - 1 : count;
  float tail[kPanelRows];
  auto multiply = [&](int64_t from, int64_t panels, float* to) {
    const uint8_t* data = weight.panel(from);
    if (weight.type.quantized) {
      context_.kernels.products->quantized[weight.type.index].multiply_column(data, panels,
                                                                              quantized_, to);
    } else {
      context_.kernels.products->scalar[weight.type.index].multiply_column(data, panels, weight.k,
                                                                           input_.x, to);
    }
  };
  if (full > 0) multiply(first, full, y);
  int64_t rows = full * kPanelRows;
  if (full < count) {
    multiply(first + full, 1, tail);
    int64_t rest = weight.row_count(first + full);
    std::memcpy(y + rows, tail, static_cast<size_t>(rest) * sizeof(float));
    rows += rest;
  }
  if (weight.bias)
    for (int64_t i = 0; i < rows; ++i) y[i] += weight.bias[first * kPanelRows + i];
}

void PanelProduct::many_columns(const PanelWeight& weight, int64_t panel, const Workspace& work,
                                float* sums) const {
  int64_t padded = (input_.columns + kQuad - 1) / kQuad * kQuad;
  std::memset(sums, 0, static_cast<size_t>(padded * kPanelRows) * sizeof(float));
  if (weight.type.quantized && context_.precision == Precision::automatic) {
    const QuantizedKernels& kernels = context_.kernels.products->quantized[weight.type.index];
    int64_t blocks = weight.k / kScaleBlock;
    for (int64_t block = 0; block < blocks; block += kStripBlocks) {
      int64_t count = std::min(kStripBlocks, blocks - block);
      kernels.expand(weight.panel(panel), block, count, work.strip);
      kernels.multiply(work.strip, block, count, quantized_, sums);
    }
  } else {
    for (int64_t k = 0; k < weight.k; k += Workspace::kFloatChunk) {
      int64_t count = std::min(Workspace::kFloatChunk, weight.k - k);
      const float* values = panel_values(context_.kernels, weight, panel, k, count, work);
      context_.kernels.products->multiply_floats(values, count, input_.x + k, input_.stride,
                                                 input_.columns, sums);
    }
  }
  if (!weight.bias) return;
  const float* bias = weight.bias + panel * kPanelRows;
  int64_t rows = weight.row_count(panel);
  for (int64_t c = 0; c < input_.columns; ++c)
    for (int64_t r = 0; r < rows; ++r) sums[c * kPanelRows + r] += bias[r];
}

}  // namespace crane::cpu
