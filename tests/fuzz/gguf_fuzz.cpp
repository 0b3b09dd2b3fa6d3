// Any bytes as a GGUF file: either an Error of a kind that a bad file may give, or tensors that lie
// within the bytes and metadata that can be translated.
#include <cstdlib>

#include "base/error.h"
#include "io/gguf.h"
#include "io/gguf_names.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void touch(const crane::GgufPart& part, std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (const crane::GgufTensor& tensor : part.tensors) {
    require(tensor.bytes >= 0 && tensor.shape.elements() >= 0);
    require(tensor.data >= bytes.data() && tensor.data <= bytes.data() + bytes.size());
    require(tensor.bytes <= bytes.data() + bytes.size() - tensor.data);
    if (tensor.bytes > 0)
      sum += static_cast<unsigned>(tensor.data[0]) +
             static_cast<unsigned>(tensor.data[tensor.bytes - 1]);
  }
  for (const auto& [key, value] : part.metadata.values)
    if (const auto* texts = std::get_if<std::vector<std::string_view>>(&value))
      for (std::string_view text : *texts)
        if (!text.empty()) sum += static_cast<unsigned char>(text.back());
  require(sum != 0xffffffffu);  // so that the reads stay
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    crane::GgufPart part = crane::parse_gguf(bytes, "input");
    touch(part, bytes);
    const crane::GgufFamily& family = crane::gguf_family(part.metadata, "input");
    for (const crane::GgufTensor& tensor : part.tensors)
      crane::hugging_face_name(family, tensor.name);
    crane::hugging_face_config(family, part.metadata, part.tensors, "input").dump();
  } catch (const crane::Error& error) {
    require(error.code() == crane::ErrorCode::io || error.code() == crane::ErrorCode::unsupported);
  }
  return 0;
}
