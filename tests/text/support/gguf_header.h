// A compact reader of GGUF key/value headers for the tokenizer tests, written apart from src/io so
// that the two check each other. Trusts its file.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/metadata.h"

namespace crane::test {

class GgufHeaderReader {
 public:
  explicit GgufHeaderReader(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    auto bytes = std::make_shared<std::string>(std::istreambuf_iterator<char>(file),
                                               std::istreambuf_iterator<char>());
    text_ = *bytes;
    metadata_.owner = bytes;
  }

  Metadata read() {
    if (take<uint32_t>() != 0x46554747) throw std::runtime_error("not a GGUF file");
    take<uint32_t>();  // version
    take<uint64_t>();  // tensors
    const auto count = take<uint64_t>();
    for (uint64_t i = 0; i < count; ++i) {
      const std::string key(string());
      metadata_.values[key] = value(take<uint32_t>());
    }
    return metadata_;
  }

 private:
  template <class T>
  T take() {
    T out;
    std::memcpy(&out, text_.substr(at_, sizeof(T)).data(), sizeof(T));
    at_ += sizeof(T);
    return out;
  }
  std::string_view string() {
    const auto size = take<uint64_t>();
    at_ += size;
    return text_.substr(at_ - size, size);
  }
  bool is_float(uint32_t type) const { return type == 6 || type == 12; }
  double floating(uint32_t type) { return type == 6 ? take<float>() : take<double>(); }
  int64_t integer(uint32_t type) {
    switch (type) {
      case 0:
      case 7:
        return take<uint8_t>();
      case 1:
        return take<int8_t>();
      case 2:
        return take<uint16_t>();
      case 3:
        return take<int16_t>();
      case 4:
        return take<uint32_t>();
      case 5:
        return take<int32_t>();
      default:
        return static_cast<int64_t>(take<uint64_t>());
    }
  }
  MetadataValue value(uint32_t type) {
    if (type == 7) return take<uint8_t>() != 0;
    if (type == 8) return string();
    if (type != 9) return is_float(type) ? MetadataValue(floating(type)) : integer(type);
    const auto item = take<uint32_t>();
    const auto count = take<uint64_t>();
    std::vector<std::string_view> strings;
    std::vector<double> numbers;
    std::vector<int64_t> integers;
    for (uint64_t i = 0; i < count; ++i) {
      if (item == 8)
        strings.push_back(string());
      else if (is_float(item))
        numbers.push_back(floating(item));
      else
        integers.push_back(integer(item));
    }
    if (item == 8) return strings;
    return is_float(item) ? MetadataValue(numbers) : MetadataValue(integers);
  }

  Metadata metadata_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace crane::test
