// DType: scalar types and block-quantised types, one row each in one table.
//
// Block types and their byte layouts are those of GGUF (reference: gguf-py, gguf/constants.py and
// gguf/quants.py). Weights and the K/V cache may be block types, activations never.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace crane {

enum class DType : uint8_t {
  f32,
  f16,
  bf16,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  boolean,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q8_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  q8_k,
  iq1_s,
  iq1_m,
  iq2_xxs,
  iq2_xs,
  iq2_s,
  iq3_xxs,
  iq3_s,
  iq4_nl,
  iq4_xs,
  tq1_0,
  tq2_0,
  mxfp4,
  nvfp4,
  q1_0
};

struct DTypeInfo {
  std::string_view name;  // as GGUF tools print it: "F32", "Q4_K", …
  int block_length;       // elements in a block; 1 for scalar types
  int block_bytes;
};

const DTypeInfo& info(DType type);
inline std::string_view name(DType type) { return info(type).name; }
inline bool is_block_type(DType type) { return info(type).block_length > 1; }

// The type with this GGUF type number (ggml's enum), or nothing when it is unknown.
std::optional<DType> dtype_from_ggml(uint32_t number);

// Bytes of one row of `columns` elements, a multiple of the block length.
int64_t row_bytes(DType type, int64_t columns);

}  // namespace crane
