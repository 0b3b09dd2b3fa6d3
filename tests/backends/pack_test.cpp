// Packing loses nothing: what comes back from the panels equals the reference's values, bit for
// bit, for every type and every instruction set level.

#include "backends/cpu/pack.h"

#include <gtest/gtest.h>

#include "backends/quant_support.h"

namespace crane {
namespace {

using testing::TestWeight;

std::vector<float> unpack(Device& device, const TestWeight& weight) {
  Tensor packed = device.backend().upload(device, weight.host());
  EXPECT_TRUE(packed.is_packed());
  std::vector<int32_t> ids;
  for (int64_t r = 0; r < weight.rows; ++r) ids.push_back(static_cast<int32_t>(r));
  Tensor y = device.empty({weight.rows, weight.columns});
  device.backend().embed(y, packed, ids);
  return testing::read_rows(y);
}

void expect_same_bits(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << i;
    } else {
      ASSERT_EQ(got[i], expected[i]) << "at " << i;
    }
  }
}

class PackTest : public ::testing::TestWithParam<std::string_view> {};

TEST_P(PackTest, EveryGoldenBlockComesBack) {
  auto device = testing::cpu_device(GetParam());
  for (DType type : testing::kBlockTypes) {
    SCOPED_TRACE(name(type));
    testing::GoldenBlocks golden(type);
    TestWeight weight{type, golden.count(), info(type).block_length, {}, {}};
    for (int64_t i = 0; i < golden.count(); ++i) golden.append(i, weight);
    expect_same_bits(unpack(*device, weight), weight.values);
  }
}

TEST_P(PackTest, RowsAndColumnsOfEveryKind) {
  auto device = testing::cpu_device(GetParam(), 2);
  for (DType type : testing::kBlockTypes)
    for (int64_t rows : {1, 15, 16, 17, 50})
      for (int64_t blocks : {1, 3, 5}) {
        SCOPED_TRACE(std::string(name(type)) + " " + std::to_string(rows));
        TestWeight weight = testing::random_weight(type, rows, blocks * info(type).block_length,
                                                   static_cast<uint32_t>(rows + blocks));
        expect_same_bits(unpack(*device, weight), weight.values);
      }
  for (DType type : testing::kScalarTypes)
    for (int64_t rows : {1, 16, 33})
      for (int64_t columns : {1, 7, 256, 257, 300}) {
        SCOPED_TRACE(std::string(name(type)) + " " + std::to_string(columns));
        TestWeight weight = testing::random_weight(type, rows, columns, 5);
        expect_same_bits(unpack(*device, weight), weight.values);
      }
}

TEST_P(PackTest, EverySixteenBitNumber) {
  auto device = testing::cpu_device(GetParam());
  for (DType type : {DType::f16, DType::bf16}) {
    TestWeight weight{type, 64, 1024, {}, {}};
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      weight.bytes.push_back(static_cast<std::byte>(bits & 255));
      weight.bytes.push_back(static_cast<std::byte>(bits >> 8));
      weight.values.push_back(testing::value_of_16(type, static_cast<uint16_t>(bits)));
    }
    expect_same_bits(unpack(*device, weight), weight.values);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PackTest, ::testing::ValuesIn(cpu::available_levels()),
                         [](const auto& level) { return std::string(level.param); });

TEST(PackSizeTest, PanelsHaveTheBytesOfTheFile) {
  for (DType type : testing::kBlockTypes)
    EXPECT_EQ(cpu::panel_bytes(type, 512), 16 * row_bytes(type, 512)) << name(type);
  EXPECT_EQ(cpu::panel_bytes(DType::f32, 3), 192);
  EXPECT_EQ(cpu::panel_bytes(DType::bf16, 3), 128);
}

TEST(PackErrorTest, UnknownTypesAreRefusedByName) {
  auto device = testing::cpu_device("auto");
  for (DType type : {DType::q2_k, DType::iq2_xs, DType::mxfp4, DType::i8}) {
    std::vector<std::byte> bytes(1024);
    try {
      device->backend().upload(*device, {type, 1, info(type).block_length, bytes.data()});
      FAIL() << name(type);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find(name(type)), std::string::npos) << error.what();
    }
  }
}

TEST(PackVectorTest, EveryScalarTypeBecomesFloats) {
  auto device = testing::cpu_device("auto");
  const double doubles[] = {1.5, -2.25, 1e300};
  Tensor vector = device->backend().upload_vector(
      *device, {DType::f64, 1, 3, reinterpret_cast<const std::byte*>(doubles)});
  EXPECT_EQ(vector.shape(), Shape({3}));
  EXPECT_EQ(vector.data<float>()[1], -2.25f);
  EXPECT_TRUE(std::isinf(vector.data<float>()[2]));
  for (DType type : testing::kScalarTypes) {
    TestWeight weight = testing::random_weight(type, 1, 37, 9);
    Tensor got = device->backend().upload_vector(*device, weight.host());
    for (int64_t i = 0; i < 37; ++i)
      EXPECT_EQ(got.data<float>()[i], weight.values[static_cast<size_t>(i)]);
  }
  EXPECT_THROW(device->backend().upload_vector(*device, {DType::q8_0, 1, 32, nullptr}), Error);
}

}  // namespace
}  // namespace crane
