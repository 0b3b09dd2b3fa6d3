#include "io/safetensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <unordered_set>

#include "base/checked.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"
#include "io/foreign_text.h"
#include "io/json_file.h"

namespace crane {
namespace {

namespace fs = std::filesystem;

constexpr int kHeaderDepth = 4;            // header, tensor, shape, and one to spare
constexpr uint64_t kCommasPerTensor = 16;  // more than any honest entry has
constexpr uint64_t kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

struct TypeRow {
  std::string_view name;
  DType type;
};
constexpr TypeRow kTypes[] = {
    {"F64", DType::f64}, {"F32", DType::f32},      {"F16", DType::f16}, {"BF16", DType::bf16},
    {"I64", DType::i64}, {"I32", DType::i32},      {"I16", DType::i16}, {"I8", DType::i8},
    {"U8", DType::u8},   {"BOOL", DType::boolean},
};

[[noreturn]] void fail(std::string_view where, std::string_view item, std::string_view what) {
  throw Error(ErrorCode::io, cat(where, ": ", item, ": ", what));
}

uint64_t natural(const Json& value, std::string_view where, std::string_view item) {
  if (!value.is_integer() || value.as_integer() < 0)
    fail(where, item, cat("got ", value.kind_name(), ", expected an integer >= 0"));
  return static_cast<uint64_t>(value.as_integer());
}

DType read_dtype(const Json& value, std::string_view where, std::string_view item) {
  if (!value.is_string()) fail(where, item, cat("dtype is ", value.kind_name()));
  for (const TypeRow& row : kTypes)
    if (row.name == value.as_string()) return row.type;
  throw Error(ErrorCode::unsupported, cat(where, ": ", item, ": dtype ",
                                          printable(value.as_string()), " is not supported"));
}

// Sets shape and bytes. Axes beyond the fourth fold into the fourth: the memory is the same.
void read_shape(SafetensorsTensor& tensor, const Json& shape, std::string_view where,
                std::string_view item) {
  if (!shape.is_array()) fail(where, item, cat("shape is ", shape.kind_name()));
  std::string full = cat(where, ": ", item);
  uint64_t nonzero = static_cast<uint64_t>(info(tensor.dtype).block_bytes);
  bool empty = false;
  for (const Json& entry : shape.as_array()) {
    uint64_t size = natural(entry, where, cat(item, ": shape"));
    empty = empty || size == 0;
    if (size != 0) nonzero = checked_multiply(nonzero, size, full);
    if (nonzero > kLargest) fail(where, item, "size overflow");
    if (tensor.shape.rank < Shape::kMaxRank) {
      tensor.shape.dims[static_cast<size_t>(tensor.shape.rank++)] = static_cast<int64_t>(size);
    } else {
      tensor.shape.dims[Shape::kMaxRank - 1] *= static_cast<int64_t>(size);
    }
  }
  tensor.bytes = empty ? 0 : static_cast<int64_t>(nonzero);
}

struct Entry {
  SafetensorsTensor tensor;
  uint64_t begin = 0, end = 0;
};

Entry read_entry(const std::string& name, const Json& value, std::string_view where) {
  std::string item = cat("tensor ", printable(name));
  if (!value.is_object()) fail(where, item, cat("got ", value.kind_name(), ", expected an object"));
  for (const auto& [key, member] : value.as_object())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      fail(where, item, cat("unknown key ", printable(key)));
  Entry entry;
  entry.tensor.name = name;
  entry.tensor.dtype = read_dtype(value["dtype"], where, item);
  read_shape(entry.tensor, value["shape"], where, item);
  const Json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.as_array().size() != 2)
    fail(where, item, "data_offsets: expected two integers");
  entry.begin = natural(offsets.as_array()[0], where, cat(item, ": data_offsets"));
  entry.end = natural(offsets.as_array()[1], where, cat(item, ": data_offsets"));
  uint64_t bytes = static_cast<uint64_t>(entry.tensor.bytes);
  if (entry.begin > entry.end || entry.end - entry.begin != bytes)
    fail(where, item,
         cat("data_offsets [", entry.begin, ", ", entry.end, "], expected ", bytes, " bytes for ",
             crane::name(entry.tensor.dtype), " ", entry.tensor.shape.text()));
  return entry;
}

void check_metadata(const Json& metadata, std::string_view where) {
  if (!metadata.is_object())
    fail(where, "__metadata__", cat("got ", metadata.kind_name(), ", expected an object"));
  for (const auto& [key, value] : metadata.as_object())
    if (!value.is_string())
      fail(where, cat("__metadata__ ", printable(key)),
           cat("got ", value.kind_name(), ", expected a string"));
}

// Values cost more memory than their text: counts them before any is made.
void refuse_crowded(std::string_view text, std::string_view where,
                    const SafetensorsLimits& limits) {
  uint64_t commas = static_cast<uint64_t>(std::count(text.begin(), text.end(), ','));
  if (commas > limits.tensors * kCommasPerTensor)
    throw Error(ErrorCode::io, cat(where, ": more values than ", limits.tensors, " tensors need"));
}

std::string_view header_text(std::span<const std::byte> bytes, std::string_view where,
                             const SafetensorsLimits& limits) {
  uint64_t length = 0;
  if (bytes.size() < sizeof length)
    fail(where, "header length", cat("the file has ", bytes.size(), " bytes, expected at least 8"));
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > limits.header_bytes)
    fail(where, "header length", cat("got ", length, ", expected at most ", limits.header_bytes));
  if (length > bytes.size() - sizeof length)
    fail(where, "header length",
         cat("got ", length, ", but only ", bytes.size() - sizeof length, " bytes follow"));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()) + sizeof length,
                        static_cast<size_t>(length));
  if (!text.starts_with('{')) fail(where, "header", "does not begin with {");
  refuse_crowded(text, cat(where, ": header"), limits);
  return text;
}

}  // namespace

std::vector<SafetensorsTensor> parse_safetensors(std::span<const std::byte> bytes,
                                                 std::string_view where,
                                                 const SafetensorsLimits& limits) {
  std::string_view text = header_text(bytes, where, limits);
  Json header = parse_file_json(text, cat(where, ": header"), kHeaderDepth);
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.as_object()) {
    if (name == "__metadata__") {
      check_metadata(value, where);
    } else {
      if (entries.size() >= limits.tensors)
        fail(where, "header", cat("more than ", limits.tensors, " tensors"));
      entries.push_back(read_entry(name, value, where));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });

  const std::byte* data = bytes.data() + sizeof(uint64_t) + text.size();
  uint64_t data_bytes = bytes.size() - sizeof(uint64_t) - text.size();
  uint64_t expected = 0;
  std::vector<SafetensorsTensor> tensors;
  tensors.reserve(entries.size());
  for (Entry& entry : entries) {
    if (entry.begin != expected || entry.end > data_bytes)
      fail(where, cat("tensor ", printable(entry.tensor.name)),
           cat("data_offsets [", entry.begin, ", ", entry.end, "], expected a begin of ", expected,
               " and an end within ", data_bytes, " bytes"));
    expected = entry.end;
    entry.tensor.data = data + entry.begin;
    tensors.push_back(std::move(entry.tensor));
  }
  if (expected != data_bytes)
    fail(where, "data", cat("tensors cover ", expected, " bytes, but the file has ", data_bytes));
  return tensors;
}

void SafetensorsFiles::add(const std::string& path, const SafetensorsLimits& limits) {
  files_.push_back(MappedFile::open(path));
  for (SafetensorsTensor& tensor : parse_safetensors(files_.back()->bytes(), path, limits))
    tensors_.push_back(std::move(tensor));
  if (tensors_.size() > limits.tensors)
    throw Error(ErrorCode::io, cat(path, ": more than ", limits.tensors, " tensors in all files"));
}

SafetensorsFiles SafetensorsFiles::open(const std::string& path, const SafetensorsLimits& limits) {
  SafetensorsFiles result;
  result.add(path, limits);
  return result;
}

namespace {

bool lies_within(const fs::path& path, const fs::path& root) {
  auto ends = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return ends.first == root.end();
}

// A Hugging Face cache keeps the files of models--A--B/snapshots/REV/ as links into
// models--A--B/blobs/.
std::optional<fs::path> cache_blobs(const fs::path& folder) {
  if (folder.parent_path().filename() != "snapshots") return std::nullopt;
  return folder.parent_path().parent_path() / "blobs";
}

std::string shard_path(const std::string& folder, const std::string& name,
                       const std::string& index_path) {
  if (name.empty() || name == "." || name == ".." ||
      name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
    fail(index_path, cat("shard ", printable(name)), "expected the name of a file in the folder");
  fs::path path = fs::path(folder) / name;
  std::error_code error;
  if (!fs::exists(path, error))
    throw Error(ErrorCode::not_found, cat(path.string(), ": missing, named by ", index_path));
  fs::path real = fs::canonical(path, error), root = fs::canonical(folder, error);
  std::optional<fs::path> blobs = cache_blobs(root);
  if (error || !(lies_within(real, root) || (blobs && lies_within(real, *blobs))))
    fail(index_path, cat("shard ", printable(name)), "is a link that leaves the folder");
  return path.string();
}

}  // namespace

SafetensorsFiles SafetensorsFiles::open_index(const std::string& folder,
                                              const std::string& index_name,
                                              const SafetensorsLimits& limits) {
  std::string index_path = (fs::path(folder) / index_name).string();
  std::string text = read_text_file(index_path, static_cast<size_t>(limits.header_bytes));
  refuse_crowded(text, index_path, limits);
  Json index = parse_file_json(text, index_path);
  const Json& map = index["weight_map"];
  if (!map.is_object() || map.as_object().empty())
    fail(index_path, "weight_map", "expected an object of tensor and file names");

  std::map<std::string, std::vector<std::string_view>> shards;  // file name to tensor names
  for (const auto& [tensor, file] : map.as_object()) {
    if (!file.is_string()) fail(index_path, cat("tensor ", printable(tensor)), "no file name");
    shards[file.as_string()].push_back(tensor);
  }
  SafetensorsFiles result;
  for (const auto& [name, names] : shards) {
    size_t before = result.tensors_.size();
    std::string path = shard_path(folder, name, index_path);
    result.add(path, limits);
    std::unordered_set<std::string_view> present;
    for (size_t i = before; i < result.tensors_.size(); ++i)
      present.insert(result.tensors_[i].name);
    for (std::string_view wanted : names)
      if (present.count(wanted) == 0)
        fail(path, cat("tensor ", printable(wanted)), cat("missing, but named by ", index_path));
  }
  std::unordered_set<std::string_view> names_seen;
  for (const SafetensorsTensor& tensor : result.tensors_)
    if (!names_seen.insert(tensor.name).second)
      fail(index_path, cat("tensor ", printable(tensor.name)), "is in two shards");
  return result;
}

}  // namespace crane
