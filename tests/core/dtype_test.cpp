// The table of types against gguf-py's GGML_QUANT_SIZES and GGMLQuantizationType, version 0.19.
#include "core/dtype.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace crane {
namespace {

struct Known {
  uint32_t number;
  const char* name;
  int block_length, block_bytes;
};

// python: for t, (length, size) in gguf.GGML_QUANT_SIZES.items(): print(t.value, t.name, length,
// size)
constexpr Known kGguf[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},      {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 40},      {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},  {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},  {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},   {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},
};

TEST(DType, AgreesWithGgufPy) {
  std::set<DType> seen;
  for (const Known& known : kGguf) {
    std::optional<DType> type = dtype_from_ggml(known.number);
    ASSERT_TRUE(type.has_value()) << known.name;
    EXPECT_EQ(name(*type), known.name);
    EXPECT_EQ(info(*type).block_length, known.block_length) << known.name;
    EXPECT_EQ(info(*type).block_bytes, known.block_bytes) << known.name;
    EXPECT_EQ(is_block_type(*type), known.block_length > 1) << known.name;
    EXPECT_TRUE(seen.insert(*type).second) << known.name;
  }
}

TEST(DType, OtherNumbersAreUnknown) {
  std::set<uint32_t> known;
  for (const Known& entry : kGguf) known.insert(entry.number);
  for (uint32_t number = 0; number < 300; ++number)
    EXPECT_EQ(dtype_from_ggml(number).has_value(), known.count(number) == 1) << number;
  for (uint32_t number : {0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu})
    EXPECT_FALSE(dtype_from_ggml(number).has_value()) << number;
}

TEST(DType, RowBytesCountsBlocks) {
  EXPECT_EQ(row_bytes(DType::f32, 7), 28);
  EXPECT_EQ(row_bytes(DType::f32, 0), 0);
  EXPECT_EQ(row_bytes(DType::q4_0, 64), 36);
  EXPECT_EQ(row_bytes(DType::q6_k, 512), 420);
  EXPECT_THROW(row_bytes(DType::q4_0, 33), Error);
  EXPECT_THROW(row_bytes(DType::q4_k, 128), Error);
}

}  // namespace
}  // namespace crane
