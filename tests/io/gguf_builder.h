// Builds GGUF bytes piece by piece, right or wrong, for the tests of the reader.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crane::testing {

class Bytes {
 public:
  template <class T>
  Bytes& put(T value) {
    const char* raw = reinterpret_cast<const char*>(&value);
    text_.append(raw, sizeof value);
    return *this;
  }
  Bytes& raw(std::string_view text) {
    text_.append(text);
    return *this;
  }
  Bytes& string(std::string_view text) { return put<uint64_t>(text.size()).raw(text); }
  Bytes& pad(size_t alignment) {
    while (text_.size() % alignment != 0) text_.push_back('\0');
    return *this;
  }
  Bytes& zeros(size_t count) {
    text_.append(count, '\0');
    return *this;
  }
  size_t size() const { return text_.size(); }
  const std::string& text() const { return text_; }
  std::span<const std::byte> span() const {
    return {reinterpret_cast<const std::byte*>(text_.data()), text_.size()};
  }

 private:
  std::string text_;
};

enum GgufType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};

struct GgufTensorEntry {
  std::string name;
  std::vector<uint64_t> ne;  // fastest axis first
  uint32_t type = 0;
  uint64_t offset = 0;
};

// A file is put together by build(); everything that it claims can be changed first.
struct GgufBuilder {
  uint32_t magic = 0x46554747, version = 3;
  uint64_t alignment = 32;
  int64_t tensor_count = -1, pair_count = -1;  // -1: as many as there are
  std::vector<Bytes> pairs;
  std::vector<GgufTensorEntry> tensors;
  size_t data_bytes = 0;

  template <class T>
  GgufBuilder& scalar(std::string_view key, GgufType type, T value) {
    Bytes pair;
    pair.string(key).put<uint32_t>(type).put(value);
    pairs.push_back(pair);
    return *this;
  }
  GgufBuilder& text(std::string_view key, std::string_view value) {
    Bytes pair;
    pair.string(key).put<uint32_t>(kString).string(value);
    pairs.push_back(pair);
    return *this;
  }
  template <class T>
  GgufBuilder& array(std::string_view key, GgufType type, const std::vector<T>& values) {
    Bytes pair;
    pair.string(key).put<uint32_t>(kArray).put<uint32_t>(type).template put<uint64_t>(
        values.size());
    for (const T& value : values) pair.put(value);
    pairs.push_back(pair);
    return *this;
  }
  GgufBuilder& texts(std::string_view key, const std::vector<std::string>& values) {
    Bytes pair;
    pair.string(key).put<uint32_t>(kArray).put<uint32_t>(kString).put<uint64_t>(values.size());
    for (const std::string& value : values) pair.string(value);
    pairs.push_back(pair);
    return *this;
  }
  GgufBuilder& tensor(std::string name, std::vector<uint64_t> ne, uint32_t type, uint64_t offset) {
    tensors.push_back({std::move(name), std::move(ne), type, offset});
    return *this;
  }

  // Without the data: the length of the header.
  Bytes header() const {
    Bytes out;
    out.put(magic).put(version);
    out.put<uint64_t>(tensor_count < 0 ? tensors.size() : static_cast<uint64_t>(tensor_count));
    out.put<uint64_t>(pair_count < 0 ? pairs.size() : static_cast<uint64_t>(pair_count));
    for (const Bytes& pair : pairs) out.raw(pair.text());
    for (const GgufTensorEntry& entry : tensors) {
      out.string(entry.name).put<uint32_t>(static_cast<uint32_t>(entry.ne.size()));
      for (uint64_t size : entry.ne) out.put(size);
      out.put(entry.type).put(entry.offset);
    }
    return out;
  }
  Bytes build() const {
    Bytes out = header();
    out.pad(alignment);
    for (size_t i = 0; i < data_bytes; ++i) out.put<uint8_t>(static_cast<uint8_t>(i));
    return out;
  }
};

// A file that is right: scalars and arrays of every type and three tensors.
inline GgufBuilder good_gguf() {
  GgufBuilder file;
  file.text("general.architecture", "qwen2")
      .scalar<uint8_t>("a.u8", kU8, 200)
      .scalar<int8_t>("a.i8", kI8, -5)
      .scalar<uint16_t>("a.u16", kU16, 60000)
      .scalar<int16_t>("a.i16", kI16, -3000)
      .scalar<uint32_t>("a.u32", kU32, 4000000000u)
      .scalar<int32_t>("a.i32", kI32, -7)
      .scalar<float>("a.f32", kF32, 0.5f)
      .scalar<uint8_t>("a.bool", kBool, 1)
      .scalar<uint64_t>("a.u64", kU64, uint64_t{1} << 40)
      .scalar<int64_t>("a.i64", kI64, -(int64_t{1} << 40))
      .scalar<double>("a.f64", kF64, 1e300)
      .array<int32_t>("b.i32", kI32, {-1, 2, 3})
      .array<uint8_t>("b.bool", kBool, {1, 0})
      .array<float>("b.f32", kF32, {1.5f, 2.5f})
      .texts("b.text", {"one", "", "\xff\xfe"})
      .tensor("first", {4, 2}, 0, 0)     // F32 [2, 4], 32 bytes
      .tensor("second", {32, 3}, 2, 32)  // Q4_0 [3, 32], 54 bytes
      .tensor("third", {3}, 1, 96);      // F16 [3], 6 bytes
  file.data_bytes = 102;
  return file;
}

}  // namespace crane::testing
