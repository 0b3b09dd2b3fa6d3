#include "io/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <mutex>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "io/checkpoint_path.h"
#include "io/foreign_text.h"
#include "io/gguf.h"
#include "io/gguf_names.h"
#include "io/json_file.h"
#include "io/safetensors.h"

namespace crane {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTemplateBytes = size_t{4} << 20;
constexpr size_t kConfigBytes = size_t{16} << 20;
constexpr size_t kTokenizerBytes = size_t{128} << 20;

// Bytes at which a kernel may read values of this type: their own size, or the two of the f16
// scales that lead most blocks.
size_t alignment_of(DType type) {
  return is_block_type(type) ? 4 : static_cast<size_t>(info(type).block_bytes);
}

}  // namespace

// tokenizer.json has some ten megabytes: only who tokenizes reads it.
struct Checkpoint::Lazy {
  std::string tokenizer_path;  // empty: none
  std::once_flag once;
  Json tokenizer;
};

Checkpoint Checkpoint::open(const std::string& path) {
  CheckpointPath found = find_checkpoint(path);
  Checkpoint result;
  result.path_ = path;
  result.lazy_ = std::make_shared<Lazy>();
  if (found.format == CheckpointPath::Format::gguf) {
    result.open_gguf(found.file);
  } else {
    result.open_safetensors(found.folder, found.file);
  }
  return result;
}

void Checkpoint::open_gguf(const std::string& path) {
  format_ = "gguf";
  auto file = std::make_shared<GgufFile>(GgufFile::open(path));
  if (!file->tensors().empty()) {  // without any it is a vocabulary, of whatever architecture
    const GgufFamily& family = gguf_family(file->metadata(), path);
    config_ = hugging_face_config(family, file->metadata(), file->tensors(), path);
    for (const GgufTensor& tensor : file->tensors())
      add_tensor(hugging_face_name(family, tensor.name),
                 {tensor.dtype, tensor.shape, tensor.data, tensor.bytes});
  }
  for (const GgufFile::File& part : file->files()) files_.push_back({part.path, part.bytes});
  metadata_ = &file->metadata();
  owners_.push_back(file);
}

void Checkpoint::open_safetensors(const std::string& folder, const std::string& file) {
  format_ = "safetensors";
  folder_ = folder;
  auto opened = std::make_shared<SafetensorsFiles>(
      file.ends_with(".index.json") ? SafetensorsFiles::open_index(folder, file)
                                    : SafetensorsFiles::open((fs::path(folder) / file).string()));
  for (const SafetensorsTensor& tensor : opened->tensors())
    add_tensor(tensor.name, {tensor.dtype, tensor.shape, tensor.data, tensor.bytes});
  for (const auto& part : opened->files())
    files_.push_back({part->path(), static_cast<int64_t>(part->bytes().size())});
  owners_.push_back(opened);

  config_ = read_optional_json("config.json");
  if (config_.is_null()) config_ = read_optional_json("params.json");
  generation_config_ = read_optional_json("generation_config.json");
  tokenizer_config_ = read_optional_json("tokenizer_config.json");
  fs::path tokenizer = fs::path(folder) / "tokenizer.json";
  std::error_code error;
  if (fs::exists(tokenizer, error)) {
    lazy_->tokenizer_path = tokenizer.string();
    files_.push_back({tokenizer.string(), static_cast<int64_t>(fs::file_size(tokenizer, error))});
  }
}

void Checkpoint::add_tensor(std::string name, const CheckpointTensor& tensor) {
  CheckpointTensor placed = tensor;
  // Foreign files may put a tensor anywhere; no reader of values has to care.
  if (reinterpret_cast<uintptr_t>(tensor.data) % alignment_of(tensor.dtype) != 0) {
    auto copy = std::make_shared<std::vector<std::byte>>(tensor.data, tensor.data + tensor.bytes);
    placed.data = copy->data();
    owners_.push_back(copy);
  }
  tensor_bytes_ += tensor.bytes;
  auto [at, is_new] = tensors_.emplace(std::move(name), placed);
  if (!is_new)
    throw Error(ErrorCode::io, cat(path_, ": tensor ", printable(at->first), ": repeated"));
}

Json Checkpoint::read_optional_json(const std::string& name) {
  fs::path path = fs::path(folder_) / name;
  std::error_code error;
  if (!fs::exists(path, error)) return Json();
  Json value = read_json_file(path.string(), kConfigBytes);
  if (!value.is_object())
    throw Error(ErrorCode::io,
                cat(path.string(), ": got ", value.kind_name(), ", expected an object"));
  files_.push_back({path.string(), static_cast<int64_t>(fs::file_size(path, error))});
  return value;
}

const CheckpointTensor* Checkpoint::find(std::string_view name) const {
  auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

std::vector<std::string> Checkpoint::tensor_names() const {
  std::vector<std::string> names;
  names.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) names.push_back(name);
  return names;
}

const Json& Checkpoint::tokenizer_json() const {
  static const Json kNone;
  if (!lazy_) return kNone;
  Lazy& lazy = *lazy_;
  if (!lazy.tokenizer_path.empty())
    std::call_once(lazy.once, [&lazy] {
      lazy.tokenizer = read_json_file(lazy.tokenizer_path, kTokenizerBytes);
    });
  return lazy.tokenizer;
}

std::string Checkpoint::chat_template_text(std::string_view name) const {
  if (!metadata_) return folder_template(name);
  std::string key = "tokenizer.chat_template";
  if (name != "default") key += cat(".", name);
  return std::string(metadata_->find_string(key).value_or(""));
}

// Newer places win: chat_template.jinja (further ones in additional_chat_templates/), then
// chat_template.json, then tokenizer_config.json, which holds a string or a list.
std::string Checkpoint::folder_template(std::string_view name) const {
  bool is_default = name == "default";
  fs::path folder(folder_);
  std::error_code error;
  if (name.find('/') != std::string_view::npos) return "";
  fs::path file = is_default ? folder / "chat_template.jinja"
                             : folder / "additional_chat_templates" / cat(name, ".jinja");
  if (fs::exists(file, error)) return read_text_file(file.string(), kTemplateBytes);

  auto from_json = [&](const Json& config, const std::string& where) -> std::string {
    const Json& value = config["chat_template"];
    if (value.is_null()) return "";
    if (value.is_string()) return is_default ? value.as_string() : "";
    if (!value.is_array())
      throw Error(ErrorCode::io, cat(where, ": chat_template: got ", value.kind_name(),
                                     ", expected a string or a list"));
    for (const Json& entry : value.as_array())
      if (entry["name"] == Json(name) && entry["template"].is_string())
        return entry["template"].as_string();
    return "";
  };
  fs::path old_file = folder / "chat_template.json";
  if (fs::exists(old_file, error)) {
    std::string text =
        from_json(read_json_file(old_file.string(), kConfigBytes), old_file.string());
    if (!text.empty()) return text;
  }
  return from_json(tokenizer_config_, (folder / "tokenizer_config.json").string());
}

}  // namespace crane
