#include "io/gguf.h"

#include <bit>
#include <cstring>
#include <limits>
#include <unordered_set>

#include "base/checked.h"
#include "base/error.h"
#include "base/strings.h"
#include "io/foreign_text.h"

namespace crane {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is read in place");

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint32_t kOldestVersion = 2, kNewestVersion = 3;
constexpr uint64_t kDefaultAlignment = 32, kLargestAlignment = 65536;
constexpr size_t kKeyBytes = 65535;
// The smallest key-value pair and tensor entry that can stand in a file, in bytes.
constexpr uint64_t kSmallestPair = 8 + 1 + 4 + 1;
constexpr uint64_t kSmallestTensor = 8 + 1 + 4 + 4 + 8;

enum class ValueType : uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64,
  count
};

// Bytes of a fixed-size value; a string counts its length field, an array has no fixed size.
constexpr uint64_t kValueBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};

// A cursor over the file that never leaves it.
class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::string_view where) : bytes_(bytes), where_(where) {}

  uint64_t position() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }

  [[noreturn]] void fail(std::string_view item, std::string_view what) const {
    throw Error(ErrorCode::io, cat(where_, ": ", item, ": ", what));
  }

  void need(uint64_t count, std::string_view item) const {
    if (count > left())
      fail(item, cat("file ends at byte ", bytes_.size(), ", expected ", count,
                     " more bytes after byte ", at_));
  }

  template <class T>
  T read(std::string_view item) {
    need(sizeof(T), item);
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::string_view read_string(std::string_view item) {
    uint64_t length = read<uint64_t>(item);
    need(length, item);
    std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + at_,
                          static_cast<size_t>(length));
    at_ += length;
    return text;
  }

 private:
  std::span<const std::byte> bytes_;
  std::string_view where_;
  uint64_t at_ = 0;
};

template <class T>
int64_t read_integer(Reader& in, std::string_view item) {
  T value = in.read<T>(item);
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      in.fail(item, cat("got ", value, ", expected at most 2^63 - 1"));
  }
  return static_cast<int64_t>(value);
}

// One integer, bool (0 or 1) or nothing when `type` is no integer type.
std::optional<int64_t> try_read_integer(Reader& in, ValueType type, std::string_view item) {
  switch (type) {
    case ValueType::u8:
      return read_integer<uint8_t>(in, item);
    case ValueType::i8:
      return read_integer<int8_t>(in, item);
    case ValueType::u16:
      return read_integer<uint16_t>(in, item);
    case ValueType::i16:
      return read_integer<int16_t>(in, item);
    case ValueType::u32:
      return read_integer<uint32_t>(in, item);
    case ValueType::i32:
      return read_integer<int32_t>(in, item);
    case ValueType::u64:
      return read_integer<uint64_t>(in, item);
    case ValueType::i64:
      return read_integer<int64_t>(in, item);
    case ValueType::boolean:
      return in.read<uint8_t>(item) != 0 ? 1 : 0;
    default:
      return std::nullopt;
  }
}

double read_float(Reader& in, ValueType type, std::string_view item) {
  return type == ValueType::f32 ? static_cast<double>(in.read<float>(item)) : in.read<double>(item);
}

ValueType read_type(Reader& in, std::string_view item) {
  uint32_t number = in.read<uint32_t>(item);
  if (number >= static_cast<uint32_t>(ValueType::count))
    in.fail(item, cat("got value type ", number, ", expected 0 to 12"));
  return static_cast<ValueType>(number);
}

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, std::string_view where, const GgufLimits& limits)
      : bytes_(bytes), in_(bytes, where), where_(where), limits_(limits) {}

  GgufPart parse() {
    read_header();
    for (uint64_t i = 0; i < pair_count_; ++i) read_pair(i);
    alignment_ = read_alignment();
    read_tensor_table();
    place_tensors();
    return std::move(part_);
  }

 private:
  void read_header() {
    if (uint32_t magic = in_.read<uint32_t>("magic"); magic != kMagic)
      in_.fail("magic", cat("got 0x", hex(magic), ", expected 0x", hex(kMagic), " (GGUF)"));
    uint32_t version = in_.read<uint32_t>("version");
    if (version < kOldestVersion || version > kNewestVersion) {
      bool swapped = __builtin_bswap32(version) <= kNewestVersion && version > 0xffff;
      in_.fail("version", swapped ? std::string("got a big-endian file, expected little-endian")
                                  : cat("got ", version, ", expected 2 or 3"));
    }
    part_.version = version;
    tensor_count_ = in_.read<uint64_t>("tensor count");
    pair_count_ = in_.read<uint64_t>("key count");
    check_count("tensor count", tensor_count_, kSmallestTensor);
    check_count("key count", pair_count_, kSmallestPair);
    if (tensor_count_ > limits_.tensors)
      in_.fail("tensor count", cat("got ", tensor_count_, ", expected at most ", limits_.tensors));
  }

  static std::string hex(uint32_t value) {
    std::string out;
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 15];
    return out;
  }

  // Refuses `count` entries of at least `smallest` bytes where the file has no room for them.
  void check_count(std::string_view item, uint64_t count, uint64_t smallest) {
    if (count > in_.left() / smallest)
      in_.fail(item, cat("got ", count, ", but only ", in_.left(), " bytes follow"));
  }

  void read_pair(uint64_t index) {
    std::string item = cat("key number ", index);
    std::string_view key = in_.read_string(item);
    if (key.empty()) in_.fail(item, "empty name");
    if (key.size() > kKeyBytes)
      in_.fail(item, cat("name of ", key.size(), " bytes, expected at most ", kKeyBytes));
    item = cat("key ", printable(key));
    ValueType type = read_type(in_, item);
    MetadataValue value = type == ValueType::array ? read_array(item) : read_scalar(type, item);
    if (key == "general.alignment") alignment_is_u32_ = type == ValueType::u32;
    if (!part_.metadata.values.emplace(std::string(key), std::move(value)).second)
      in_.fail(item, "repeated");
  }

  MetadataValue read_scalar(ValueType type, std::string_view item) {
    if (type == ValueType::string) return in_.read_string(item);
    if (type == ValueType::f32 || type == ValueType::f64) return read_float(in_, type, item);
    int64_t number = *try_read_integer(in_, type, item);
    if (type == ValueType::boolean) return number != 0;
    return number;
  }

  MetadataValue read_array(std::string_view item) {
    ValueType type = read_type(in_, item);
    if (type == ValueType::array) in_.fail(item, "got an array of arrays, expected scalars");
    uint64_t count = in_.read<uint64_t>(item);
    check_count(item, count, kValueBytes[static_cast<size_t>(type)]);
    if (count > limits_.array_elements)
      in_.fail(item, cat("array of ", count, ", expected at most ", limits_.array_elements));
    size_t size = static_cast<size_t>(count);
    if (type == ValueType::string) {
      std::vector<std::string_view> texts(size);
      for (std::string_view& text : texts) text = in_.read_string(item);
      return texts;
    }
    if (type == ValueType::f32 || type == ValueType::f64) {
      std::vector<double> numbers(size);
      for (double& number : numbers) number = read_float(in_, type, item);
      return numbers;
    }
    std::vector<int64_t> numbers(size);
    for (int64_t& number : numbers) number = *try_read_integer(in_, type, item);
    return numbers;
  }

  uint64_t read_alignment() {
    auto at = part_.metadata.values.find("general.alignment");
    if (at == part_.metadata.values.end()) return kDefaultAlignment;
    const int64_t* value = std::get_if<int64_t>(&at->second);
    if (!value || !alignment_is_u32_) in_.fail("key general.alignment", "expected a u32");
    uint64_t alignment = static_cast<uint64_t>(*value);
    if (!std::has_single_bit(alignment) || alignment > kLargestAlignment)
      in_.fail("key general.alignment",
               cat("got ", alignment, ", expected a power of two up to ", kLargestAlignment));
    return alignment;
  }

  void read_tensor_table() {
    std::unordered_set<std::string_view> names;
    part_.tensors.reserve(static_cast<size_t>(tensor_count_));
    offsets_.reserve(static_cast<size_t>(tensor_count_));
    for (uint64_t i = 0; i < tensor_count_; ++i) {
      GgufTensor tensor;
      std::string item = cat("tensor number ", i);
      tensor.name = in_.read_string(item);
      if (tensor.name.empty()) in_.fail(item, "empty name");
      if (tensor.name.size() > limits_.tensor_name_bytes)
        in_.fail(item, cat("name of ", tensor.name.size(), " bytes, expected at most ",
                           limits_.tensor_name_bytes));
      item = cat("tensor ", printable(tensor.name));
      if (!names.insert(tensor.name).second) in_.fail(item, "repeated");
      read_tensor(tensor, item);
      part_.tensors.push_back(tensor);
    }
  }

  void read_tensor(GgufTensor& tensor, std::string_view item) {
    uint32_t rank = in_.read<uint32_t>(item);
    if (rank > Shape::kMaxRank)
      in_.fail(item, cat("got ", rank, " dimensions, expected at most ", Shape::kMaxRank));
    tensor.shape.rank = static_cast<int>(rank);
    for (uint32_t axis = 0; axis < rank; ++axis) {
      int64_t size = in_.read<int64_t>(item);
      if (size < 0) in_.fail(item, cat("dimension ", axis, ": got ", size, ", expected >= 0"));
      tensor.shape.dims[rank - 1 - axis] = size;
    }
    uint32_t type = in_.read<uint32_t>(item);
    std::optional<DType> dtype = dtype_from_ggml(type);
    if (!dtype) in_.fail(item, cat("got tensor type ", type, ", which is not known"));
    tensor.dtype = *dtype;
    tensor.bytes = tensor_bytes(tensor, item);
    offsets_.push_back(in_.read<uint64_t>(item));
  }

  int64_t tensor_bytes(const GgufTensor& tensor, std::string_view item) {
    std::string full = cat(where_, ": ", item);
    // A zero dimension must not hide the overflow of the others.
    uint64_t elements = 1;
    bool empty = false;
    for (int axis = 0; axis < tensor.shape.rank; ++axis) {
      empty = empty || tensor.shape[axis] == 0;
      if (tensor.shape[axis] != 0)
        elements = checked_multiply(elements, static_cast<uint64_t>(tensor.shape[axis]), full);
    }
    const DTypeInfo& type = info(tensor.dtype);
    uint64_t columns =
        tensor.shape.rank == 0 ? 1 : static_cast<uint64_t>(tensor.shape[tensor.shape.rank - 1]);
    uint64_t block = static_cast<uint64_t>(type.block_length);
    if (columns % block != 0)
      in_.fail(item, cat("rows of ", columns, " elements, expected a multiple of ", block, " for ",
                         type.name));
    uint64_t blocks = (elements - 1) / block + 1;
    uint64_t bytes = checked_multiply(blocks, static_cast<uint64_t>(type.block_bytes), full);
    if (elements > kLargest || bytes > kLargest)
      in_.fail(item, cat("size overflow, ", elements, " elements"));
    return empty ? 0 : static_cast<int64_t>(bytes);
  }

  // Tensors lie one after the other, each start aligned, as ggml requires; so none overlap.
  void place_tensors() {
    if (part_.tensors.empty()) return;
    uint64_t start = checked_align_up(in_.position(), alignment_, where_);
    uint64_t expected = 0;
    for (size_t i = 0; i < part_.tensors.size(); ++i) {
      GgufTensor& tensor = part_.tensors[i];
      std::string item = cat("tensor ", printable(tensor.name));
      if (offsets_[i] != expected)
        in_.fail(item, cat("offset ", offsets_[i], ", expected ", expected));
      uint64_t bytes = static_cast<uint64_t>(tensor.bytes);
      uint64_t end = checked_add(checked_add(start, expected, item), bytes, item);
      if (end > bytes_.size())
        in_.fail(item, cat("data ends at byte ", end, ", but the file has ", bytes_.size()));
      tensor.data = bytes_.data() + start + expected;
      expected = checked_align_up(expected + bytes, alignment_, item);
    }
  }

  static constexpr uint64_t kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

  std::span<const std::byte> bytes_;
  Reader in_;
  std::string_view where_;
  GgufLimits limits_;
  GgufPart part_;
  uint64_t tensor_count_ = 0, pair_count_ = 0;
  uint64_t alignment_ = kDefaultAlignment;
  bool alignment_is_u32_ = false;
  std::vector<uint64_t> offsets_;
};

}  // namespace

GgufPart parse_gguf(std::span<const std::byte> bytes, std::string_view where,
                    std::shared_ptr<const void> owner, const GgufLimits& limits) {
  GgufPart part = Parser(bytes, where, limits).parse();
  part.metadata.owner = std::move(owner);
  return part;
}

bool has_gguf_magic(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), &kMagic, sizeof kMagic) == 0;
}

}  // namespace crane
