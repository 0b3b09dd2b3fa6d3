#include "backends/cpu/embed.h"

#include <algorithm>

#include "backends/cpu/panel_product.h"

namespace crane::cpu {

void embed(Context& context, Tensor& y, const Tensor& table, std::span<const int32_t> ids) {
  PanelWeight weight(table, Tensor());
  std::byte* memory = context.scratch.bytes(
      Scratch::Slot::product, strip_bytes() * static_cast<size_t>(context.pool.size()));
  auto body = [&](int64_t begin, int64_t end, int worker) {
    Workspace work = strip_workspace(memory + strip_bytes() * static_cast<size_t>(worker));
    for (int64_t i = begin; i < end; ++i) {
      int64_t id = ids[static_cast<size_t>(i)];
      float* row = y.data<float>() + i * y.stride(0);
      // The 16 rows of the panel are expanded together; the lane of this id is kept.
      for (int64_t k = 0; k < weight.k; k += Workspace::kFloatChunk) {
        int64_t count = std::min(Workspace::kFloatChunk, weight.k - k);
        const float* values =
            panel_values(context.kernels, weight, id / kPanelRows, k, count, work);
        for (int64_t j = 0; j < count; ++j) row[k + j] = values[j * kPanelRows + id % kPanelRows];
      }
    }
  };
  context.pool.parallel_for(static_cast<int64_t>(ids.size()), 4, body);
}

}  // namespace crane::cpu
