// Weights in panels: the layout, and packing from the layout of the file. The same bytes in another
// order, so packing loses nothing.
//
// A panel is 16 rows; rows that are missing at the end are zero. Panels follow one another, and
// inside a panel its blocks along k. r = 0..15 is the row, g = 0..7 the group of four k, j = 0..3
// the k within it: k = 32 * block + 4g + j.
//
//   F32                 per k: 16 floats
//   F16                 per k: 16 numbers; an odd last k is followed by zeros
//   BF16                per pair of k: 16 pairs; likewise
//   Q8_0                16 f16 scales; byte 64g + 4r + j is the code
//   Q4_0, IQ4_NL        16 f16 scales; nibbles: byte 64g + 4r + j (g < 4) is the code of group g
//                       (low nibble) and of group g + 4 (high nibble)
//   Q5_0                16 f16 scales; fifth bits: bit g of byte 4r + j; nibbles
//   Q4_1, Q5_1          as Q4_0, Q5_0 with 16 f16 minima behind the scales
//   Q4_K, Q5_K          per 256 k: 16 f16 scales, 16 f16 scales of minima; 8 x 16 bytes: low four
//                       bits of scale and of minimum; 4 x 16 bytes: upper two bits of both, of two
//                       blocks; then 8 blocks of 32 k: nibbles, Q5_K fifth bits before them
//   Q6_K                per 256 k: 16 f16 scales; 16 x 16 bytes: scales per 16 k; then 8 blocks:
//                       upper bits of groups 0-3 and of groups 4-7, two bits each; nibbles
//   IQ4_XS              per 256 k: 16 f16 scales; 4 x 16 bytes: low four bits of the scales of two
//                       blocks; 2 x 16 bytes: upper two bits of four blocks; 8 blocks of nibbles
#pragma once

#include <cstdint>
#include <optional>

#include "backends/cpu/context.h"
#include "backends/cpu/weight_memory.h"
#include "core/backend.h"
#include "core/device.h"

namespace crane::cpu {

// Where the kernels of a packed type stand in ProductKernels.
struct PackedType {
  bool quantized;
  int index;  // into ProductKernels::quantized or ::scalar
};
// Nothing for a type that no kernel reads.
std::optional<PackedType> packed_type(DType type);

inline int64_t panel_count(int64_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }
int64_t panel_bytes(DType type, int64_t columns);

// Packs `weight` on all threads. Throws Error(unsupported) naming the dtype when no kernel reads
// it.
Tensor pack_weight(Device& device, Context& context, WeightMemory& memory,
                   const HostWeight& weight);

// A vector of `rows * columns` floats from F32, F16, BF16 or F64; other types throw
// Error(unsupported).
Tensor pack_vector(Device& device, Context& context, WeightMemory& memory,
                   const HostWeight& weight);

// One panel from `rows` <= 16 rows of a file, `columns` elements each; `panel` has
// panel_bytes(type, columns) zero bytes.
void pack_panel(DType type, const std::byte* from, int rows, int64_t columns, uint8_t* panel);

}  // namespace crane::cpu
