// Reader of GGUF files, versions 2 and 3, single or split.
//
// Every count, length, dimension and offset is compared with the bytes that exist before it is
// used, so a malformed file gives one Error(io) that names the file and the item. Nothing is
// copied: names, strings and tensor data are views into the mapping.
// Reference: ggml's gguf.cpp and gguf-py (gguf/constants.py, gguf_reader.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/metadata.h"
#include "core/dtype.h"
#include "core/tensor.h"

namespace crane {

struct GgufTensor {
  std::string_view name;
  DType dtype = DType::f32;
  Shape shape;                      // torch order: the last axis is the fastest
  const std::byte* data = nullptr;  // at the file's alignment, which may be as low as 1
  int64_t bytes = 0;
};

struct GgufLimits {
  uint64_t array_elements = uint64_t{1} << 24;
  uint64_t tensors = 262144;
  size_t tensor_name_bytes = 63;
};

// What one file holds. `metadata.owner` keeps the bytes alive.
struct GgufPart {
  uint32_t version = 0;
  Metadata metadata;
  std::vector<GgufTensor> tensors;  // in file order
};

// Parses a whole file in memory. `where` begins every message; `owner` keeps `bytes` alive.
GgufPart parse_gguf(std::span<const std::byte> bytes, std::string_view where,
                    std::shared_ptr<const void> owner = nullptr, const GgufLimits& limits = {});

// True when the file begins as GGUF does, whatever its version.
bool has_gguf_magic(std::span<const std::byte> bytes);

// A GGUF file, or all parts of a split one.
class GgufFile {
 public:
  struct File {
    std::string path;
    int64_t bytes = 0;
  };

  // `path` may be any part of a split file. Throws Error(not_found) naming a missing part,
  // Error(io) for malformed files and for parts that do not belong together.
  static GgufFile open(const std::string& path, const GgufLimits& limits = {});

  const Metadata& metadata() const { return parts_.front().metadata; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const std::vector<File>& files() const { return files_; }

 private:
  void add_part(const std::string& path, const GgufLimits& limits);

  std::vector<GgufPart> parts_;
  std::vector<GgufTensor> tensors_;
  std::vector<File> files_;
};

}  // namespace crane
