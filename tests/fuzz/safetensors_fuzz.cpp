// Any bytes as a safetensors file: an Error, or tensors that cover the data exactly.
#include <cstdlib>

#include "base/error.h"
#include "io/safetensors.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    int64_t total = 0;
    unsigned sum = 0;
    for (const auto& tensor : crane::parse_safetensors(bytes, "input")) {
      require(tensor.bytes == tensor.shape.elements() * crane::info(tensor.dtype).block_bytes);
      require(tensor.data >= bytes.data() + 8 &&
              tensor.bytes <= bytes.data() + bytes.size() - tensor.data);
      if (tensor.bytes > 0)
        sum += static_cast<unsigned>(tensor.data[0]) +
               static_cast<unsigned>(tensor.data[tensor.bytes - 1]);
      total += tensor.bytes;
    }
    require(sum != 0xffffffffu);  // so that the reads stay
    uint64_t header = 0;
    for (size_t i = 0; i < 8; ++i) header |= uint64_t{data[i]} << (8 * i);
    require(static_cast<uint64_t>(total) + header + 8 == size);
  } catch (const crane::Error& error) {
    require(error.code() == crane::ErrorCode::io || error.code() == crane::ErrorCode::unsupported);
  }
  return 0;
}
