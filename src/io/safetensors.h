// Reader of safetensors files: one file, or the shards that an index.json names.
//
// As strict as the reference reader: a header of at most 100,000,000 bytes, ranges that follow each
// other without gap or overlap and end where the file ends, and sizes that match dtype and shape.
// A malformed file gives one Error(io) that names the file and the item. Tensor data are views.
// Reference: safetensors/src/tensor.rs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "core/dtype.h"
#include "core/tensor.h"

namespace crane {

struct SafetensorsTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;  // axes beyond the fourth are folded into the fourth
  const std::byte* data = nullptr;
  int64_t bytes = 0;
};

struct SafetensorsLimits {
  uint64_t header_bytes = 100'000'000;
  uint64_t tensors = 262144;
};

// The tensors of a whole file in memory, in the order of their data. `where` begins every message.
std::vector<SafetensorsTensor> parse_safetensors(std::span<const std::byte> bytes,
                                                 std::string_view where,
                                                 const SafetensorsLimits& limits = {});

class SafetensorsFiles {
 public:
  // One .safetensors file.
  static SafetensorsFiles open(const std::string& path, const SafetensorsLimits& limits = {});

  // All shards of `folder`/`index_name`. The index may name files of the folder only: a path, or a
  // link that leaves the folder (and is not one into the blobs of a Hugging Face cache), is
  // refused; so are a missing shard and a tensor that lies in another shard than the index says.
  static SafetensorsFiles open_index(const std::string& folder, const std::string& index_name,
                                     const SafetensorsLimits& limits = {});

  const std::vector<SafetensorsTensor>& tensors() const { return tensors_; }
  const std::vector<std::shared_ptr<const MappedFile>>& files() const { return files_; }

 private:
  void add(const std::string& path, const SafetensorsLimits& limits);

  std::vector<SafetensorsTensor> tensors_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
};

}  // namespace crane
