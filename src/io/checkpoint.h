// Checkpoint: a model's files, opened, in one form for GGUF and safetensors: Hugging Face tensor
// names, torch axis order and config keys. Models never know which format they come from.
//
// Tensor data are views into mapped files and live as long as the checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/metadata.h"
#include "core/dtype.h"
#include "core/tensor.h"

namespace crane {

struct CheckpointTensor {
  DType dtype = DType::f32;
  Shape shape;                      // torch order: the last axis is the fastest
  const std::byte* data = nullptr;  // aligned for its dtype
  int64_t bytes = 0;
};

class Checkpoint {
 public:
  struct File {
    std::string path;
    int64_t bytes = 0;
  };

  Checkpoint() = default;  // nothing

  // `path`: a GGUF file (any part of a split one), a .safetensors file (any shard), or a folder
  // with safetensors and config.json or with one GGUF. A GGUF speaks for itself: files beside it
  // are not read. Throws Error(not_found) or Error(unsupported) naming the path, Error(io) naming
  // the malformed file and item.
  static Checkpoint open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& format() const { return format_; }  // "gguf" or "safetensors"
  const std::vector<File>& files() const { return files_; }

  // Hugging Face keys. The file's own config.json (or params.json where there is none), not
  // normalised; for GGUF made from the metadata. Null when there is neither file, and for a GGUF
  // without tensors, which is a vocabulary.
  const Json& config() const { return config_; }
  const CheckpointTensor* find(std::string_view name) const;
  std::vector<std::string> tensor_names() const;  // sorted
  int64_t tensor_bytes() const { return tensor_bytes_; }

  const Metadata* gguf_metadata() const { return metadata_; }  // null for safetensors
  // Null where the file is absent, and for GGUF.
  const Json& tokenizer_json() const;  // read at the first call
  const Json& tokenizer_config() const { return tokenizer_config_; }
  const Json& generation_config() const { return generation_config_; }

  // The default chat template, or the one of that name ("tool_use", "rag"); empty when absent.
  std::string chat_template_text(std::string_view name = "default") const;

 private:
  struct Lazy;

  void open_gguf(const std::string& path);
  void open_safetensors(const std::string& folder, const std::string& file);
  void add_tensor(std::string name, const CheckpointTensor& tensor);
  Json read_optional_json(const std::string& name);
  std::string folder_template(std::string_view name) const;

  std::string path_, format_, folder_;
  std::vector<File> files_;
  Json config_, tokenizer_config_, generation_config_;
  std::map<std::string, CheckpointTensor, std::less<>> tensors_;
  int64_t tensor_bytes_ = 0;
  const Metadata* metadata_ = nullptr;
  std::shared_ptr<Lazy> lazy_;
  std::vector<std::shared_ptr<const void>> owners_;  // mapped files and realigned copies
};

}  // namespace crane
