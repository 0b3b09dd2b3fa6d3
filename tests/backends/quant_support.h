// Weights for tests of the matrix products: built from blocks whose values the reference gave
// (tests/golden/quants), or from scalars, with their values beside them.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/dispatch.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "core/device.h"

namespace crane::testing {

struct TestWeight {
  DType dtype = DType::f32;
  int64_t rows = 0, columns = 0;
  std::vector<std::byte> bytes;
  std::vector<float> values;  // [rows][columns]

  HostWeight host() const { return {dtype, rows, columns, bytes.data()}; }
};

inline constexpr DType kBlockTypes[] = {DType::q4_0,   DType::q4_1,  DType::q5_0, DType::q5_1,
                                        DType::q8_0,   DType::q4_k,  DType::q5_k, DType::q6_k,
                                        DType::iq4_nl, DType::iq4_xs};
inline constexpr DType kScalarTypes[] = {DType::f32, DType::f16, DType::bf16};

// The blocks of tests/golden/quants/quants.bin of one type.
class GoldenBlocks {
 public:
  explicit GoldenBlocks(DType type) : info_(info(type)) {
    std::string folder = std::string(CRANE_SOURCE_DIR) + "/tests/golden/quants/";
    Json index = Json::parse(read_text_file(folder + "quants.json"), "quants.json");
    const Json& entry = index[std::string(info_.name)];
    count_ = entry.get<int64_t>("blocks");
    std::string all = read_text_file(folder + "quants.bin");
    bytes_ = all.substr(static_cast<size_t>(entry.get<int64_t>("bytes_at")),
                        static_cast<size_t>(count_ * info_.block_bytes));
    values_.resize(static_cast<size_t>(count_ * info_.block_length));
    std::memcpy(values_.data(), all.data() + entry.get<int64_t>("values_at"),
                values_.size() * sizeof(float));
  }

  int64_t count() const { return count_; }
  void append(int64_t block, TestWeight& to) const {
    const auto* from =
        reinterpret_cast<const std::byte*>(bytes_.data()) + block * info_.block_bytes;
    to.bytes.insert(to.bytes.end(), from, from + info_.block_bytes);
    const float* values = values_.data() + block * info_.block_length;
    to.values.insert(to.values.end(), values, values + info_.block_length);
  }

 private:
  DTypeInfo info_;
  int64_t count_ = 0;
  std::string bytes_;
  std::vector<float> values_;
};

// Value of a 16-bit float, from its definition.
inline float value_of_16(DType type, uint16_t bits) {
  int fraction_bits = type == DType::f16 ? 10 : 7, exponent_bits = 15 - fraction_bits;
  int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  int fraction = bits & ((1 << fraction_bits) - 1);
  double value;
  if (exponent == (1 << exponent_bits) - 1) {
    value = fraction ? std::nan("") : HUGE_VAL;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    value = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  }
  return static_cast<float>(bits & 0x8000 ? -value : value);
}

inline TestWeight random_weight(DType type, int64_t rows, int64_t columns, uint32_t seed) {
  TestWeight weight{type, rows, columns, {}, {}};
  std::mt19937 random(seed);
  if (is_block_type(type)) {
    GoldenBlocks golden(type);
    for (int64_t i = 0; i < rows * columns / info(type).block_length; ++i)
      golden.append(static_cast<int64_t>(random() % static_cast<uint64_t>(golden.count())), weight);
    return weight;
  }
  std::normal_distribution<float> normal(0.0f, 0.05f);
  for (int64_t i = 0; i < rows * columns; ++i) {
    float value = normal(random);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    if (type != DType::f32) {  // any 16 bits of a small number will do
      uint16_t half =
          static_cast<uint16_t>(type == DType::bf16 ? bits >> 16 : 0x2000 + (bits & 0x8fff));
      value = value_of_16(type, half);
      bits = half;
    }
    for (int byte = 0; byte < info(type).block_bytes; ++byte)
      weight.bytes.push_back(static_cast<std::byte>(bits >> 8 * byte & 255));
    weight.values.push_back(value);
  }
  return weight;
}

inline std::vector<float> random_floats(int64_t count, uint32_t seed, float spread = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

// Activations as the everyday mode sees them: rounded to 8 bits with one scale per 32.
inline std::vector<float> rounded_to_8_bits(std::vector<float> x) {
  for (size_t at = 0; at + 32 <= x.size(); at += 32) {
    float peak = 0;
    for (size_t i = at; i < at + 32; ++i) peak = std::max(peak, std::fabs(x[i]));
    for (size_t i = at; i < at + 32; ++i)
      x[i] = peak == 0 ? 0.0f : std::nearbyint(x[i] * (127.0f / peak)) * (peak / 127.0f);
  }
  return x;
}

inline std::unique_ptr<Device> cpu_device(std::string_view isa, int threads = 1,
                                          cpu::Precision precision = cpu::Precision::automatic) {
  return std::make_unique<Device>(cpu::make_backend(isa, threads, precision), size_t{64} << 20);
}

// A tensor of `rows` rows with `stride` floats from one to the next.
inline Tensor strided_tensor(Device& device, const std::vector<float>& values, int64_t rows,
                             int64_t columns, int64_t stride) {
  Tensor all = device.empty({rows, stride});
  for (int64_t i = 0; i < rows * stride; ++i) all.data<float>()[i] = NAN;
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(all.data<float>() + r * stride, values.data() + r * columns,
                static_cast<size_t>(columns) * sizeof(float));
  return all.slice(1, 0, columns);
}

inline std::vector<float> read_rows(const Tensor& tensor) {
  std::vector<float> values;
  for (int64_t r = 0; r < tensor.dim(0); ++r) {
    const float* row = tensor.data<float>() + r * tensor.stride(0);
    values.insert(values.end(), row, row + tensor.dim(1));
  }
  return values;
}

}  // namespace crane::testing
