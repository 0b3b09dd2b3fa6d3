#include "backends/cpu/pack.h"

#include <cstring>

#include "backends/cpu/pack_blocks.h"
#include "base/checked.h"
#include "base/strings.h"

namespace crane::cpu {
namespace {

struct Row {
  DType type;
  PackedType packed;
};
// The order of kernels/product_table.inl.
constexpr Row kTypes[] = {
    {DType::q4_0, {true, 0}},   {DType::q4_1, {true, 1}}, {DType::q5_0, {true, 2}},
    {DType::q5_1, {true, 3}},   {DType::q8_0, {true, 4}}, {DType::q4_k, {true, 5}},
    {DType::q5_k, {true, 6}},   {DType::q6_k, {true, 7}}, {DType::iq4_nl, {true, 8}},
    {DType::iq4_xs, {true, 9}}, {DType::f32, {false, 0}}, {DType::f16, {false, 1}},
    {DType::bf16, {false, 2}},
};

float to_float(uint16_t half) {
  // The exponent is re-biased by a multiplication, which also handles subnormal numbers.
  uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  float value;
  std::memcpy(&value, &magnitude, 4);
  value *= 0x1p112f;
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (magnitude >= 0x0f800000u) bits = magnitude | 0x7f800000u;
  bits |= static_cast<uint32_t>(half & 0x8000) << 16;
  std::memcpy(&value, &bits, 4);
  return value;
}

void convert(DType type, const std::byte* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    if (type == DType::f64) {
      double value;
      std::memcpy(&value, from + 8 * i, 8);
      to[i] = static_cast<float>(value);
    } else if (type == DType::f32) {
      std::memcpy(to + i, from + 4 * i, 4);
    } else {
      uint16_t half;
      std::memcpy(&half, from + 2 * i, 2);
      uint32_t bits = static_cast<uint32_t>(half) << 16;
      if (type == DType::f16) {
        to[i] = to_float(half);
      } else {
        std::memcpy(to + i, &bits, 4);
      }
    }
  }
}

void pack_f32(const std::byte* from, int rows, int64_t columns, uint8_t* panel) {
  for (int r = 0; r < rows; ++r)
    for (int64_t k = 0; k < columns; ++k)
      std::memcpy(panel + (k * kPanelRows + r) * 4, from + (r * columns + k) * 4, 4);
}

void pack_f16(const std::byte* from, int rows, int64_t columns, uint8_t* panel) {
  for (int r = 0; r < rows; ++r)
    for (int64_t k = 0; k < columns; ++k)
      std::memcpy(panel + (k * kPanelRows + r) * 2, from + (r * columns + k) * 2, 2);
}

void pack_bf16(const std::byte* from, int rows, int64_t columns, uint8_t* panel) {
  for (int r = 0; r < rows; ++r)
    for (int64_t k = 0; k < columns; ++k)
      std::memcpy(panel + k / 2 * 64 + r * 4 + k % 2 * 2, from + (r * columns + k) * 2, 2);
}

}  // namespace

std::optional<PackedType> packed_type(DType type) {
  for (const Row& row : kTypes)
    if (row.type == type) return row.packed;
  return std::nullopt;
}

int64_t panel_bytes(DType type, int64_t columns) {
  if (!is_block_type(type) && info(type).block_bytes == 2) columns += columns % 2;
  return kPanelRows * row_bytes(type, columns);
}

void pack_panel(DType type, const std::byte* from, int rows, int64_t columns, uint8_t* panel) {
  switch (type) {
    case DType::f32:
      return pack_f32(from, rows, columns, panel);
    case DType::f16:
      return pack_f16(from, rows, columns, panel);
    case DType::bf16:
      return pack_bf16(from, rows, columns, panel);
    default:
      break;
  }
  const DTypeInfo& of = info(type);
  int64_t blocks = columns / of.block_length, row_size = row_bytes(type, columns);
  BlockPacker packer = block_packer(type);
  for (int64_t block = 0; block < blocks; ++block)
    for (int r = 0; r < rows; ++r)
      packer(reinterpret_cast<const uint8_t*>(from) + r * row_size + block * of.block_bytes, r,
             panel + block * kPanelRows * of.block_bytes);
}

Tensor pack_weight(Device& device, Context& context, WeightMemory& memory,
                   const HostWeight& weight) {
  if (!packed_type(weight.dtype))
    throw Error(ErrorCode::unsupported,
                cat("cpu: weights of type ", name(weight.dtype), " are not supported yet"));
  int64_t panels = panel_count(weight.rows), bytes = panel_bytes(weight.dtype, weight.columns);
  StorageRef storage = memory.allocate(static_cast<size_t>(checked_multiply(
      static_cast<uint64_t>(panels), static_cast<uint64_t>(bytes), "cpu: packed weight")));
  auto* data = reinterpret_cast<uint8_t*>(storage.get()->data);
  int64_t row_size = row_bytes(weight.dtype, weight.columns);
  int64_t grain = std::max<int64_t>(1, (int64_t{256} << 10) / std::max<int64_t>(bytes, 1));
  context.pool.parallel_for(panels, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t panel = begin; panel < end; ++panel) {
      int64_t first = panel * kPanelRows;
      int rows = static_cast<int>(std::min<int64_t>(kPanelRows, weight.rows - first));
      pack_panel(weight.dtype, weight.data + first * row_size, rows, weight.columns,
                 data + panel * bytes);
    }
  });
  return Tensor::packed(device, storage, weight.dtype, {weight.rows, weight.columns});
}

Tensor pack_vector(Device& device, Context&, WeightMemory& memory, const HostWeight& weight) {
  if (weight.dtype != DType::f32 && weight.dtype != DType::f16 && weight.dtype != DType::bf16 &&
      weight.dtype != DType::f64)
    throw Error(ErrorCode::unsupported,
                cat("cpu: vectors of type ", name(weight.dtype), " are not supported"));
  int64_t count = weight.rows * weight.columns;
  StorageRef storage = memory.allocate(static_cast<size_t>(count) * sizeof(float));
  convert(weight.dtype, weight.data, count, reinterpret_cast<float*>(storage.get()->data));
  return Tensor(device, storage, DType::f32, {count});
}

}  // namespace crane::cpu
