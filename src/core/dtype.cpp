#include "core/dtype.h"

#include <array>

#include "base/error.h"

namespace crane {
namespace {

struct Row {
  DType type;
  int ggml;  // -1: not a GGUF type
  DTypeInfo info;
};

constexpr std::array kRows = {
    Row{DType::f32, 0, {"F32", 1, 4}},
    Row{DType::f16, 1, {"F16", 1, 2}},
    Row{DType::bf16, 30, {"BF16", 1, 2}},
    Row{DType::f64, 28, {"F64", 1, 8}},
    Row{DType::i8, 24, {"I8", 1, 1}},
    Row{DType::i16, 25, {"I16", 1, 2}},
    Row{DType::i32, 26, {"I32", 1, 4}},
    Row{DType::i64, 27, {"I64", 1, 8}},
    Row{DType::u8, -1, {"U8", 1, 1}},
    Row{DType::boolean, -1, {"BOOL", 1, 1}},
    Row{DType::q4_0, 2, {"Q4_0", 32, 18}},
    Row{DType::q4_1, 3, {"Q4_1", 32, 20}},
    Row{DType::q5_0, 6, {"Q5_0", 32, 22}},
    Row{DType::q5_1, 7, {"Q5_1", 32, 24}},
    Row{DType::q8_0, 8, {"Q8_0", 32, 34}},
    Row{DType::q8_1, 9, {"Q8_1", 32, 40}},
    Row{DType::q2_k, 10, {"Q2_K", 256, 84}},
    Row{DType::q3_k, 11, {"Q3_K", 256, 110}},
    Row{DType::q4_k, 12, {"Q4_K", 256, 144}},
    Row{DType::q5_k, 13, {"Q5_K", 256, 176}},
    Row{DType::q6_k, 14, {"Q6_K", 256, 210}},
    Row{DType::q8_k, 15, {"Q8_K", 256, 292}},
    Row{DType::iq1_s, 19, {"IQ1_S", 256, 50}},
    Row{DType::iq1_m, 29, {"IQ1_M", 256, 56}},
    Row{DType::iq2_xxs, 16, {"IQ2_XXS", 256, 66}},
    Row{DType::iq2_xs, 17, {"IQ2_XS", 256, 74}},
    Row{DType::iq2_s, 22, {"IQ2_S", 256, 82}},
    Row{DType::iq3_xxs, 18, {"IQ3_XXS", 256, 98}},
    Row{DType::iq3_s, 21, {"IQ3_S", 256, 110}},
    Row{DType::iq4_nl, 20, {"IQ4_NL", 32, 18}},
    Row{DType::iq4_xs, 23, {"IQ4_XS", 256, 136}},
    Row{DType::tq1_0, 34, {"TQ1_0", 256, 54}},
    Row{DType::tq2_0, 35, {"TQ2_0", 256, 66}},
    Row{DType::mxfp4, 39, {"MXFP4", 32, 17}},
    Row{DType::nvfp4, 40, {"NVFP4", 64, 36}},
    Row{DType::q1_0, 41, {"Q1_0", 128, 18}},
};

constexpr bool rows_in_enum_order() {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].type != static_cast<DType>(i)) return false;
  return true;
}
static_assert(rows_in_enum_order());

}  // namespace

const DTypeInfo& info(DType type) { return kRows[static_cast<size_t>(type)].info; }

std::optional<DType> dtype_from_ggml(uint32_t number) {
  for (const Row& row : kRows)
    if (row.ggml >= 0 && static_cast<uint32_t>(row.ggml) == number) return row.type;
  return std::nullopt;
}

int64_t row_bytes(DType type, int64_t columns) {
  const DTypeInfo& row = info(type);
  check(columns % row.block_length == 0, "row_bytes: columns are no multiple of the block length");
  return columns / row.block_length * row.block_bytes;
}

}  // namespace crane
