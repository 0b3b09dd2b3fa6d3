// The safetensors reader: S1-S7 and S9 of the robustness list.
#include "io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/strings.h"
#include "io/temporary_folder.h"

namespace crane {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryFolder;

std::string file_of(std::string_view header, size_t data_bytes, int64_t length = -1) {
  uint64_t claimed = length < 0 ? header.size() : static_cast<uint64_t>(length);
  std::string out(reinterpret_cast<const char*>(&claimed), sizeof claimed);
  out += header;
  for (size_t i = 0; i < data_bytes; ++i) out += static_cast<char>(i);
  return out;
}

std::vector<SafetensorsTensor> parse(const std::string& file,
                                     const SafetensorsLimits& limits = {}) {
  // A copy of exactly the file's size, so that a sanitizer sees a read of one byte too many.
  static thread_local std::unique_ptr<std::byte[]> copy;
  copy.reset(new std::byte[file.size()]);
  std::memcpy(copy.get(), file.data(), file.size());
  return parse_safetensors({copy.get(), file.size()}, "x.safetensors", limits);
}

std::string refusal(const std::string& file, const SafetensorsLimits& limits = {}) {
  try {
    parse(file, limits);
  } catch (const Error& error) {
    EXPECT_THAT(error.code(), ::testing::AnyOf(ErrorCode::io, ErrorCode::unsupported));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    EXPECT_THAT(error.what(), ::testing::StartsWith("x.safetensors: "));
    return error.what();
  }
  return "";
}

constexpr const char* kGood =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F16","shape":[3],"data_offsets":[16,22]},)"
    R"("a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
    R"("s":{"dtype":"BF16","shape":[],"data_offsets":[22,24]},)"
    R"("e":{"dtype":"I64","shape":[0,5],"data_offsets":[24,24]}}  )";

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirData) {
  std::vector<SafetensorsTensor> tensors = parse(file_of(kGood, 24));
  ASSERT_EQ(tensors.size(), 4u);
  EXPECT_EQ(tensors[0].name, "a");
  EXPECT_EQ(tensors[0].dtype, DType::f32);
  EXPECT_EQ(tensors[0].shape, (Shape{2, 2}));
  EXPECT_EQ(tensors[0].bytes, 16);
  EXPECT_EQ(tensors[0].data[0], std::byte{0});
  EXPECT_EQ(tensors[1].name, "b");
  EXPECT_EQ(tensors[1].data[0], std::byte{16});
  EXPECT_EQ(tensors[2].shape.rank, 0);
  EXPECT_EQ(tensors[2].bytes, 2);
  EXPECT_EQ(tensors[3].shape, (Shape{0, 5}));
}

TEST(Safetensors, FoldsAxesBeyondTheFourth) {
  std::vector<SafetensorsTensor> tensors =
      parse(file_of(R"({"k":{"dtype":"U8","shape":[2,1,3,2,2],"data_offsets":[0,24]}})", 24));
  EXPECT_EQ(tensors[0].shape, (Shape{2, 1, 3, 4}));
}

TEST(Safetensors, CutAnywhereItIsRefused) {
  std::string file = file_of(kGood, 24);
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(refusal(file.substr(0, size)), "") << size;
  EXPECT_NE(refusal(file + "x"), "");
  EXPECT_EQ(refusal(file), "");
}

TEST(Safetensors, ChangedBytesNeverCrash) {
  std::string file = file_of(kGood, 24);
  for (size_t at = 0; at < file.size() - 24; ++at)
    for (unsigned value : {0x00u, 0x22u, 0x2du, 0x39u, 0x5bu, 0x7du, 0xffu}) {
      std::string changed = file;
      changed[at] = static_cast<char>(value);
      refusal(changed);
    }
}

// S1
TEST(Safetensors, HeaderLengthIsComparedWithTheFile) {
  for (uint64_t length : {uint64_t{24}, uint64_t{1} << 63, ~uint64_t{0}, uint64_t{100'000'001}})
    EXPECT_THAT(refusal(file_of("{}", 21, static_cast<int64_t>(0))
                            .replace(0, 8, std::string(reinterpret_cast<const char*>(&length), 8))),
                HasSubstr("header length: got"));
  for (int64_t length : {0, 1, 7}) EXPECT_NE(refusal(file_of("{}", 21, length)), "") << length;
  EXPECT_EQ(refusal(file_of("{}", 0)), "");
  SafetensorsLimits limits;
  limits.header_bytes = 10;
  EXPECT_EQ(refusal(file_of("{}        ", 0), limits), "");
  EXPECT_THAT(refusal(file_of("{}         ", 0), limits), HasSubstr("got 11, expected at most 10"));
}

struct BadHeader {
  const char* name;
  std::string header;
  size_t data_bytes;
  const char* message;
};
void PrintTo(const BadHeader& bad, std::ostream* out) { *out << bad.name; }

std::string entry(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return cat(R"({"t":{"dtype":")", dtype, R"(","shape":)", shape, R"(,"data_offsets":)", offsets,
             "}}");
}
std::string two(std::string_view first, std::string_view second) {
  return cat(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)", first,
             R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)", second, "}}");
}

const BadHeader kBadHeaders[] = {
    // S2
    {"space_first", " {}", 0, "does not begin with {"},
    {"array", "[]", 0, "does not begin with {"},
    {"bad_utf8", "{\"\xff\":1}", 0, "not valid JSON"},
    {"bytes_after", "{}x", 0, "not valid JSON"},
    {"two_objects", "{}{}", 0, "not valid JSON"},
    {"nul_after", std::string("{}\0", 3), 0, "not valid JSON"},
    {"nul_inside", std::string("{\"a\0b\":1}", 9), 0, "not valid JSON"},
    {"open", "{", 0, "not valid JSON"},
    // S3
    {"overlap", two("[0,4]", "[3,7]"), 7, "tensor b: data_offsets [3, 7]"},
    {"same", two("[0,4]", "[0,4]"), 4, "expected a begin of 4"},
    {"gap", two("[0,4]", "[5,9]"), 9, "expected a begin of 4"},
    {"starts_late", two("[4,8]", "[8,12]"), 12, "expected a begin of 0"},
    {"begin_behind_end", two("[4,0]", "[4,8]"), 8, "tensor a: data_offsets [4, 0]"},
    {"past_the_end", two("[0,4]", "[4,8]"), 7, "within 7 bytes"},
    {"not_covered", two("[0,4]", "[4,8]"), 9, "tensors cover 8 bytes, but the file has 9"},
    {"offset_huge", entry("U8", "[4]", "[9223372036854775804,9223372036854775807]"), 4, "tensor t"},
    {"offset_above_int64", entry("U8", "[4]", "[0,18446744073709551615]"), 4, "tensor t"},
    {"offset_negative", entry("U8", "[4]", "[-4,0]"), 4, "expected an integer >= 0"},
    {"offset_fraction", entry("U8", "[4]", "[0,4.5]"), 4, "expected an integer >= 0"},
    {"offset_float", entry("U8", "[4]", "[0,4.0]"), 4, "expected an integer >= 0"},
    {"offset_text", entry("U8", "[4]", R"(["0","4"])"), 4, "expected an integer >= 0"},
    {"three_offsets", entry("U8", "[4]", "[0,4,4]"), 4, "expected two integers"},
    {"no_offsets", R"({"t":{"dtype":"U8","shape":[0]}})", 0, "expected two integers"},
    // S5
    {"repeated",
     R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
     R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
     0, "repeated JSON key"},
    {"repeated_by_escape",
     R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
     R"("\u0061":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
     0, "repeated JSON key"},
    {"repeated_inside", R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0,
     "repeated JSON key"},
    {"repeated_with_newline", R"({"\n":{},"\u000a":{}})", 0, "repeated JSON key"},
    {"metadata_number", R"({"__metadata__":{"a":1}})", 0, "__metadata__ a: got an integer"},
    {"metadata_nested", R"({"__metadata__":{"a":{}}})", 0, "__metadata__ a: got an object"},
    {"metadata_list", R"({"__metadata__":[]})", 0, "__metadata__: got an array"},
    // S6
    {"deep", std::string("{\"a\":") + std::string(100000, '['), 0, "nested deeper"},
    // S7
    {"dtype_unknown", entry("F4", "[4]", "[0,2]"), 2, "tensor t: dtype F4 is not supported"},
    {"dtype_number", R"({"t":{"dtype":1,"shape":[0],"data_offsets":[0,0]}})", 0, "dtype is an int"},
    {"dtype_missing", R"({"t":{"shape":[0],"data_offsets":[0,0]}})", 0, "dtype is null"},
    {"shape_missing", R"({"t":{"dtype":"U8","data_offsets":[0,0]}})", 0, "shape is null"},
    {"shape_wraps", entry("U8", "[4294967296,4294967296]", "[0,0]"), 0, "size overflow"},
    {"shape_2_63", entry("U8", "[4294967296,2147483648]", "[0,0]"), 0, "size overflow"},
    {"bytes_wrap", entry("F64", "[2305843009213693952]", "[0,0]"), 0, "size overflow"},
    {"wrap_behind_zero", entry("U8", "[0,4294967296,4294967296]", "[0,0]"), 0, "size overflow"},
    {"folded_wrap", entry("U8", "[1,1,1,4294967296,4294967296]", "[0,0]"), 0, "size overflow"},
    {"shape_negative", entry("U8", "[-1]", "[0,0]"), 0, "shape: got an integer, expected"},
    {"size_mismatch", entry("F32", "[4]", "[0,4]"), 4, "expected 16 bytes for F32 [4]"},
    {"unknown_key", R"({"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}})", 0,
     "tensor t: unknown key x"},
    {"tensor_is_a_number", R"({"t":5})", 0, "tensor t: got an integer"},
};

class SafetensorsBadHeader : public ::testing::TestWithParam<BadHeader> {};

TEST_P(SafetensorsBadHeader, IsRefusedByName) {
  const BadHeader& bad = GetParam();
  EXPECT_THAT(refusal(file_of(bad.header, bad.data_bytes)), HasSubstr(bad.message));
}

INSTANTIATE_TEST_SUITE_P(Table, SafetensorsBadHeader, ::testing::ValuesIn(kBadHeaders),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

// S4
TEST(Safetensors, ManyEmptyTensorsLoadFast) {
  std::string header = "{";
  for (int i = 0; i < 100000; ++i)
    header +=
        cat(i ? "," : "", "\"tensor.", i, R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})");
  header += "}";
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse(file_of(header, 0)).size(), 100000u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));  // sanitizers too
  SafetensorsLimits limits;
  limits.tensors = 99999;
  EXPECT_THAT(refusal(file_of(header, 0), limits), HasSubstr("more than 99999 tensors"));
}

TEST(Safetensors, ValuesAreCountedBeforeTheyAreMade) {
  SafetensorsLimits limits;
  limits.tensors = 10;
  std::string zeros = "[0";
  for (int i = 0; i < 200; ++i) zeros += ",0";
  EXPECT_THAT(refusal(file_of(entry("U8", zeros + "]", "[0,0]"), 0), limits),
              HasSubstr("more values than 10 tensors need"));
}

struct Sharded : ::testing::Test {
  Sharded() {
    folder.write("m/one.safetensors", shard("a"));
    folder.write("m/two.safetensors", shard("b"));
    index(R"({"a":"one.safetensors","b":"two.safetensors"})");
  }
  static std::string shard(std::string_view tensor) {
    return file_of(cat(R"({")", tensor, R"(":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})"),
                   4);
  }
  void index(std::string_view map) {
    folder.write("m/i.json", cat(R"({"metadata":{"total_size":8},"weight_map":)", map, "}"));
  }
  SafetensorsFiles open() { return SafetensorsFiles::open_index(folder.file("m"), "i.json"); }
  std::string refusal() {
    try {
      open();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder;
};

TEST_F(Sharded, OpensEachShardOnce) {
  index(R"({"a":"one.safetensors","b":"two.safetensors"})");
  SafetensorsFiles files = open();
  EXPECT_EQ(files.files().size(), 2u);
  ASSERT_EQ(files.tensors().size(), 2u);
  EXPECT_EQ(files.tensors()[1].name, "b");
}

// S9
TEST_F(Sharded, NamesThatLeaveTheFolderAreRefused) {
  folder.write("secret.safetensors", shard("a"));
  for (const std::string& name :
       {std::string("../secret.safetensors"), folder.file("secret.safetensors"),
        std::string("./one.safetensors"), std::string(".."), std::string("."), std::string("")}) {
    index(cat(R"({"a":")", name, R"("})"));
    EXPECT_THAT(refusal(), HasSubstr("expected the name of a file in the folder")) << name;
  }
  index("{\"a\":\"one.safetensors\\u0000x\"}");
  EXPECT_THAT(refusal(), HasSubstr("expected the name of a file in the folder"));
}

TEST_F(Sharded, LinkOutOfTheFolderIsRefused) {
  std::string secret = folder.write("secret.safetensors", shard("a"));
  fs::create_symlink(secret, folder.file("m/link.safetensors"));
  index(R"({"a":"link.safetensors"})");
  EXPECT_THAT(refusal(), HasSubstr("is a link that leaves the folder"));
}

TEST_F(Sharded, LinkWithinTheFolderIsFollowed) {
  fs::create_symlink("one.safetensors", folder.file("m/link.safetensors"));
  index(R"({"a":"link.safetensors"})");
  EXPECT_EQ(refusal(), "");
}

TEST_F(Sharded, LayoutOfTheHuggingFaceCacheLoads) {
  folder.write("models--x--y/blobs/abc", shard("a"));
  folder.write("models--x--y/snapshots/rev/i.json", R"({"weight_map":{"a":"s.safetensors"}})");
  fs::create_symlink("../../blobs/abc", folder.file("models--x--y/snapshots/rev/s.safetensors"));
  SafetensorsFiles files =
      SafetensorsFiles::open_index(folder.file("models--x--y/snapshots/rev"), "i.json");
  EXPECT_EQ(files.tensors().size(), 1u);
}

TEST_F(Sharded, MissingShardIsNamed) {
  index(R"({"a":"one.safetensors","b":"three.safetensors"})");
  EXPECT_THAT(refusal(), HasSubstr("three.safetensors: missing"));
}

TEST_F(Sharded, TensorInTheWrongShardIsNamed) {
  index(R"({"b":"one.safetensors","a":"two.safetensors"})");
  EXPECT_THAT(refusal(), HasSubstr("one.safetensors: tensor b: missing"));
}

TEST_F(Sharded, TensorInTwoShardsIsNamed) {
  folder.write("m/two.safetensors", shard("a"));
  index(R"({"a":"one.safetensors","a2":"two.safetensors"})");
  EXPECT_NE(refusal(), "");
  folder.write("m/two.safetensors",
               file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                       R"("b":{"dtype":"U8","shape":[0],"data_offsets":[4,4]}})",
                       4));
  index(R"({"a":"one.safetensors","b":"two.safetensors"})");
  EXPECT_THAT(refusal(), HasSubstr("tensor a: is in two shards"));
}

TEST_F(Sharded, IndexIsCountedBeforeItIsRead) {
  SafetensorsLimits limits;
  limits.tensors = 2;
  SafetensorsFiles::open_index(folder.file("m"), "i.json", limits);
  index("[0" + std::string(40, ',') + "]");
  EXPECT_THROW(SafetensorsFiles::open_index(folder.file("m"), "i.json", limits), Error);
  limits.tensors = 1;
  index(R"({"a":"one.safetensors","b":"two.safetensors"})");
  EXPECT_THROW(SafetensorsFiles::open_index(folder.file("m"), "i.json", limits), Error);
}

TEST_F(Sharded, IndexMustBeAMap) {
  for (const char* map : {"[]", "{}", "null", "5", R"({"a":1})"}) {
    index(map);
    EXPECT_NE(refusal(), "") << map;
  }
}

}  // namespace
}  // namespace crane
