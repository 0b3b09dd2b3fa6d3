#include "io/checkpoint_path.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "io/foreign_text.h"
#include "io/gguf.h"

namespace crane {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndex = "model.safetensors.index.json";
// In this order; the last is Mistral's layout.
constexpr std::string_view kSingle[] = {"model.safetensors", "consolidated.safetensors"};
constexpr std::string_view kUnsafe[] = {".bin", ".pt", ".pth", ".pkl", ".ckpt"};

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Later parts of a split file: "…-00002-of-00003.gguf".
bool is_later_part(const std::string& name) {
  size_t of = name.rfind("-of-");
  return of != std::string::npos && of >= 6 && name[of - 6] == '-' &&
         name.compare(of - 5, 5, "00001") != 0;
}

std::vector<std::string> names_ending_in(const std::string& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (std::string_view(name).ends_with(ending)) names.push_back(name);
  }
  if (error) throw Error(ErrorCode::io, cat(folder, ": ", error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

std::string file_path(const std::string& folder, const std::string& name) {
  return (fs::path(folder) / name).string();
}

CheckpointPath find_in_folder(const std::string& folder) {
  using Format = CheckpointPath::Format;
  if (is_there(fs::path(folder) / kIndex))
    return {Format::safetensors, folder, std::string(kIndex)};
  for (std::string_view name : kSingle)
    if (is_there(fs::path(folder) / name)) return {Format::safetensors, folder, std::string(name)};

  std::vector<std::string> tensors = names_ending_in(folder, ".safetensors");
  std::vector<std::string> ggufs = names_ending_in(folder, ".gguf");
  ggufs.erase(std::remove_if(ggufs.begin(), ggufs.end(), is_later_part), ggufs.end());
  if (tensors.size() == 1 && ggufs.empty()) return {Format::safetensors, folder, tensors[0]};
  if (ggufs.size() == 1 && tensors.empty())
    return {Format::gguf, folder, file_path(folder, ggufs[0])};
  std::vector<std::string> all = ggufs;
  all.insert(all.end(), tensors.begin(), tensors.end());
  if (!all.empty())
    throw Error(ErrorCode::invalid_argument,
                cat(folder, ": several models, name one of: ", join(all, ", ")));
  for (std::string_view ending : kUnsafe)
    if (auto found = names_ending_in(folder, ending); !found.empty())
      throw Error(ErrorCode::unsupported,
                  cat(folder, ": weights in ", found[0], ", expected safetensors or GGUF"));
  throw Error(ErrorCode::not_found, cat(folder, ": no safetensors and no GGUF file in it"));
}

}  // namespace

CheckpointPath find_checkpoint(const std::string& path) {
  using Format = CheckpointPath::Format;
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Error(ErrorCode::not_found, cat(path, ": no such file or folder"));
  if (fs::is_directory(status)) return find_in_folder(path);

  fs::path as_path(path);
  std::string name = as_path.filename().string();
  std::string folder = as_path.has_parent_path() ? as_path.parent_path().string() : ".";
  if (std::string_view(name).ends_with(".gguf")) return {Format::gguf, folder, path};
  if (std::string_view(name).ends_with(".index.json")) return {Format::safetensors, folder, name};
  if (name == "config.json" || name == "params.json") return find_in_folder(folder);
  if (has_gguf_magic(MappedFile::open(path)->bytes())) return {Format::gguf, folder, path};
  if (std::string_view(name).ends_with(".safetensors")) {
    bool is_shard = name.find("-of-") != std::string::npos && is_there(fs::path(folder) / kIndex);
    return {Format::safetensors, folder, is_shard ? std::string(kIndex) : name};
  }
  throw Error(ErrorCode::unsupported, cat(path,
                                          ": unsupported format, expected .gguf, "
                                          ".safetensors or a folder with one of them"));
}

}  // namespace crane
