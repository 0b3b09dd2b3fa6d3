// GgufFile: the parts of a split GGUF, found by name and checked against each other.
#include <array>
#include <cstdio>
#include <unordered_set>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"
#include "io/foreign_text.h"
#include "io/gguf.h"

namespace crane {
namespace {

constexpr int64_t kMostParts = 99999;  // five digits in the name

std::string part_suffix(int64_t number, int64_t count) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "-%05d-of-%05d.gguf", static_cast<int>(number),
                static_cast<int>(count));
  return text.data();
}

int64_t split_count(const Metadata& metadata, const std::string& path) {
  int64_t count = metadata.find_integer("split.count").value_or(1);
  if (count < 0 || count > kMostParts)
    throw Error(ErrorCode::io,
                cat(path, ": key split.count: got ", count, ", expected at most ", kMostParts));
  return count;
}

}  // namespace

void GgufFile::add_part(const std::string& path, const GgufLimits& limits) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  parts_.push_back(parse_gguf(file->bytes(), path, file, limits));
  files_.push_back({path, static_cast<int64_t>(file->bytes().size())});
  for (const GgufTensor& tensor : parts_.back().tensors) tensors_.push_back(tensor);
  if (tensors_.size() > limits.tensors)
    throw Error(ErrorCode::io, cat(path, ": more than ", limits.tensors, " tensors in all parts"));
}

GgufFile GgufFile::open(const std::string& path, const GgufLimits& limits) {
  GgufFile result;
  result.add_part(path, limits);
  int64_t count = split_count(result.metadata(), path);
  if (count <= 1) return result;

  int64_t number = result.metadata().find_integer("split.no").value_or(0);
  std::string suffix = part_suffix(number + 1, count);
  if (number < 0 || number >= count || !std::string_view(path).ends_with(suffix))
    throw Error(ErrorCode::io, cat(path, ": part ", number + 1, " of ", count,
                                   " of a split file, expected a name that ends in ", suffix));
  std::string stem = path.substr(0, path.size() - suffix.size());
  if (number != 0) {
    result = GgufFile();
    result.add_part(stem + part_suffix(1, count), limits);
  }
  for (int64_t i = 1; i < count; ++i) result.add_part(stem + part_suffix(i + 1, count), limits);

  for (int64_t i = 0; i < count; ++i) {
    const Metadata& metadata = result.parts_[static_cast<size_t>(i)].metadata;
    const std::string& name = result.files_[static_cast<size_t>(i)].path;
    int64_t its_number = metadata.find_integer("split.no").value_or(0);
    int64_t its_count = split_count(metadata, name);
    if (its_number != i || its_count != count)
      throw Error(ErrorCode::io, cat(name, ": holds part ", its_number + 1, " of ", its_count,
                                     ", expected part ", i + 1, " of ", count));
  }
  std::unordered_set<std::string_view> names;
  for (const GgufTensor& tensor : result.tensors_)
    if (!names.insert(tensor.name).second)
      throw Error(ErrorCode::io,
                  cat(path, ": tensor ", printable(tensor.name), " is in two parts"));
  int64_t total = result.metadata().find_integer("split.tensors.count").value_or(0);
  if (total != 0 && total != static_cast<int64_t>(result.tensors_.size()))
    throw Error(ErrorCode::io, cat(path, ": ", result.tensors_.size(), " tensors in ", count,
                                   " parts, expected ", total));
  return result;
}

}  // namespace crane
