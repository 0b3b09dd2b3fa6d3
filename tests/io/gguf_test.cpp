// The GGUF reader: what a good file gives, and one clear error for every bad one
// (docs of the cases: G1-G9 and G12 of the robustness list; the same kinds as ggml's test-gguf).
#include "io/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "base/error.h"
#include "io/gguf_builder.h"

namespace crane {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using testing::GgufBuilder;
using testing::good_gguf;
using ::testing::HasSubstr;
using ::testing::Not;

// A copy of exactly the file's size, so that a sanitizer sees a read of one byte too many.
GgufPart parse(const Bytes& file, const GgufLimits& limits = {}) {
  size_t size = file.size();
  auto copy = std::shared_ptr<std::byte[]>(new std::byte[size == 0 ? 1 : size]);
  std::memcpy(copy.get(), file.text().data(), size);
  return parse_gguf({copy.get(), size}, "x.gguf", copy, limits);
}

// The message of the error, or "" when the file is taken. Anything but Error(io) fails the test.
std::string refusal(const Bytes& file, const GgufLimits& limits = {}) {
  try {
    parse(file, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

TEST(Gguf, ReadsEveryKindOfValue) {
  GgufPart part = parse(good_gguf().build());
  EXPECT_EQ(part.version, 3u);
  const Metadata& m = part.metadata;
  EXPECT_EQ(m.values.size(), 16u);
  EXPECT_EQ(m.find_string("general.architecture"), "qwen2");
  EXPECT_EQ(m.find_integer("a.u8"), 200);
  EXPECT_EQ(m.find_integer("a.i8"), -5);
  EXPECT_EQ(m.find_integer("a.u16"), 60000);
  EXPECT_EQ(m.find_integer("a.i16"), -3000);
  EXPECT_EQ(m.find_integer("a.u32"), 4000000000);
  EXPECT_EQ(m.find_integer("a.i32"), -7);
  EXPECT_EQ(m.find_number("a.f32"), 0.5);
  EXPECT_EQ(m.find_bool("a.bool"), true);
  EXPECT_EQ(m.find_integer("a.u64"), int64_t{1} << 40);
  EXPECT_EQ(m.find_integer("a.i64"), -(int64_t{1} << 40));
  EXPECT_EQ(m.find_number("a.f64"), 1e300);
  EXPECT_THAT(*m.find_integers("b.i32"), ElementsAre(-1, 2, 3));
  EXPECT_THAT(*m.find_integers("b.bool"), ElementsAre(1, 0));
  EXPECT_THAT(*m.find_numbers("b.f32"), ElementsAre(1.5, 2.5));
  EXPECT_THAT(*m.find_strings("b.text"), ElementsAre("one", "", "\xff\xfe"));
}

TEST(Gguf, GivesTensorsInTorchOrder) {
  GgufPart part = parse(good_gguf().build());
  ASSERT_EQ(part.tensors.size(), 3u);
  const GgufTensor& first = part.tensors[0];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.dtype, DType::f32);
  EXPECT_EQ(first.shape, (Shape{2, 4}));
  EXPECT_EQ(first.bytes, 32);
  EXPECT_EQ(first.data[0], std::byte{0});
  const GgufTensor& second = part.tensors[1];
  EXPECT_EQ(second.dtype, DType::q4_0);
  EXPECT_EQ(second.shape, (Shape{3, 32}));
  EXPECT_EQ(second.bytes, 54);
  EXPECT_EQ(second.data[0], std::byte{32});
  EXPECT_EQ(part.tensors[2].shape, Shape{3});
  EXPECT_EQ(part.tensors[2].data[5], std::byte{101});
}

TEST(Gguf, Version2IsReadAlike) {
  GgufBuilder file = good_gguf();
  file.version = 2;
  EXPECT_EQ(parse(file.build()).tensors.size(), 3u);
}

TEST(Gguf, KeepsTheOwnerOfItsViews) {
  std::weak_ptr<const void> owner;
  {
    GgufPart part = parse(good_gguf().build());
    owner = part.metadata.owner;
    EXPECT_FALSE(owner.expired());
  }
  EXPECT_TRUE(owner.expired());
}

// G3: a good file cut after every byte. Only the padding in front of the data may go unnoticed, and
// only where there is no data.
TEST(Gguf, CutAnywhereItIsRefused) {
  Bytes file = good_gguf().build();
  for (size_t size = 0; size < file.size(); ++size) {
    Bytes cut;
    cut.raw(std::string_view(file.text()).substr(0, size));
    EXPECT_NE(refusal(cut), "") << "cut to " << size << " bytes";
  }
  EXPECT_EQ(refusal(file), "");
}

// Every byte of the header changed to several values: any result but a crash is right.
TEST(Gguf, ChangedBytesNeverCrash) {
  GgufBuilder builder = good_gguf();
  std::string text = builder.build().text();
  size_t header = builder.header().size();
  int refused = 0;
  for (size_t at = 0; at < header; ++at) {
    for (unsigned value : {0x00u, 0x01u, 0x7fu, 0x80u, 0xffu}) {
      std::string changed = text;
      changed[at] = static_cast<char>(value);
      Bytes file;
      file.raw(changed);
      if (!refusal(file).empty()) ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

struct BadFile {
  const char* name;
  std::function<Bytes()> make;
  const char* message;  // part of it
};
void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.name; }

Bytes built(const std::function<void(GgufBuilder&)>& change) {
  GgufBuilder file = good_gguf();
  change(file);
  return file.build();
}

// One pair with a raw body after a good one.
Bytes with_pair(const Bytes& pair) {
  return built([&](GgufBuilder& file) { file.pairs.push_back(pair); });
}

Bytes with_tensor(std::vector<uint64_t> ne, uint32_t type, uint64_t offset = 128) {
  return built([&](GgufBuilder& file) { file.tensor("bad", std::move(ne), type, offset); });
}

constexpr uint64_t kHuge = uint64_t{1} << 62;

std::vector<BadFile> bad_headers() {
  return {
      // G7: header
      {"empty", [] { return Bytes(); }, "file ends"},
      {"magic", [] { return built([](auto& f) { f.magic = 0x47554746; }); },
       "x.gguf: magic: got 0x"},
      {"version_0", [] { return built([](auto& f) { f.version = 0; }); },
       "version: got 0, expected"},
      {"version_1", [] { return built([](auto& f) { f.version = 1; }); }, "version: got 1"},
      {"version_4", [] { return built([](auto& f) { f.version = 4; }); }, "version: got 4"},
      {"big_endian", [] { return built([](auto& f) { f.version = 0x03000000; }); }, "big-endian"},
  };
}

std::vector<BadFile> bad_counts() {
  return {
      // G4: counts and lengths
      {"tensor_count_huge", [] { return built([](auto& f) { f.tensor_count = 1 << 30; }); },
       "tensor count: got 1073741824, but only"},
      {"tensor_count_too_many", [] { return built([](auto& f) { f.tensor_count = 4; }); },
       "tensor number 3"},
      {"pair_count_huge", [] { return built([](auto& f) { f.pair_count = int64_t{1} << 61; }); },
       "key count: got 2305843009213693952, but only"},
      {"pair_count_too_many", [] { return built([](auto& f) { f.pair_count = 17; }); },
       "file ends"},
      {"key_length_huge",
       [] { return with_pair(Bytes().put<uint64_t>(~uint64_t{0}).raw("abcdefgh")); },
       "key number 16: file ends"},
      {"string_length_huge",
       [] { return with_pair(Bytes().string("k").put<uint32_t>(8).put<uint64_t>(kHuge * 2)); },
       "key k: file ends"},
      {"array_count_huge",
       [] {
         return with_pair(
             Bytes().string("k").put<uint32_t>(9).put<uint32_t>(5).put<uint64_t>(kHuge + 1));
       },
       "key k: got 4611686018427387905, but only"},
      {"string_array_count_huge",
       [] {
         return with_pair(
             Bytes().string("k").put<uint32_t>(9).put<uint32_t>(8).put<uint64_t>(kHuge / 2));
       },
       "key k: got"},
      {"tensor_name_length_huge",
       [] {
         GgufBuilder file = good_gguf();
         file.tensor_count = 4;
         Bytes out = file.header();
         return out.put<uint64_t>(~uint64_t{0}).zeros(64);
       },
       "tensor number 3: file ends"},
  };
}

std::vector<BadFile> bad_keys() {
  return {
      // G7: keys
      {"key_empty", [] { return built([](auto& f) { f.text("", "x"); }); }, "empty name"},
      {"key_repeated", [] { return built([](auto& f) { f.text("a.u8", "x"); }); },
       "key a.u8: repeated"},
      {"key_too_long", [] { return built([](auto& f) { f.text(std::string(65536, 'k'), "x"); }); },
       "name of 65536 bytes, expected at most 65535"},
      {"key_on_one_line",
       [] { return built([](auto& f) { f.text("a\nb", "").text("a\nb", ""); }); },
       "key a\\x0ab: repeated"},
      {"value_type_13",
       [] { return built([](auto& f) { f.scalar("k", testing::GgufType(13), 1); }); },
       "key k: got value type 13"},
      {"value_type_max",
       [] { return built([](auto& f) { f.scalar("k", testing::GgufType(0xffffffff), 1); }); },
       "key k: got value type 4294967295"},
      {"array_type_unknown",
       [] {
         return built([](auto& f) { f.array("k", testing::GgufType(99), std::vector<int>{1}); });
       },
       "key k: got value type 99"},
      {"nested_array",
       [] {
         return built([](auto& f) { f.array("k", testing::kArray, std::vector<int64_t>{0}); });
       },
       "key k: got an array of arrays"},
      {"u64_above_int64",
       [] { return built([](auto& f) { f.scalar("k", testing::kU64, ~uint64_t{0}); }); },
       "key k: got 18446744073709551615"},
  };
}

std::vector<BadFile> bad_tensors() {
  return {
      // G7: tensors
      {"tensor_name_empty", [] { return built([](auto& f) { f.tensor("", {1}, 0, 128); }); },
       "tensor number 3: empty name"},
      {"tensor_name_64",
       [] { return built([](auto& f) { f.tensor(std::string(64, 'n'), {1}, 0, 128); }); },
       "name of 64 bytes, expected at most 63"},
      {"tensor_repeated", [] { return built([](auto& f) { f.tensor("first", {1}, 0, 128); }); },
       "tensor first: repeated"},
      {"five_dimensions",
       [] {
         return with_tensor({1, 1, 1, 1, 1}, 0);
       },
       "tensor bad: got 5 dimensions, expected at most 4"},
      {"dimensions_max",
       [] {
         GgufBuilder file = good_gguf();
         file.tensor_count = 4;
         return file.header().string("bad").put<uint32_t>(0xffffffff).zeros(64);
       },
       "got 4294967295 dimensions"},
      {"negative_dimension",
       [] {
         return with_tensor({4, ~uint64_t{0}}, 0);
       },
       "tensor bad: dimension 1: got -1"},
      // G7: types and places of tensors
      {"type_unknown", [] { return with_tensor({4}, 4242); }, "tensor bad: got tensor type 4242"},
      {"type_removed", [] { return with_tensor({32}, 4); }, "tensor bad: got tensor type 4"},
      {"type_max", [] { return with_tensor({32}, 0xffffffff); }, "got tensor type 4294967295"},
      {"row_not_whole_blocks",
       [] {
         return with_tensor({33, 2}, 2);
       },
       "tensor bad: rows of 33 elements, expected a multiple of 32 for Q4_0"},
      {"k_row_not_whole_blocks", [] { return with_tensor({128}, 12); }, "multiple of 256 for Q4_K"},
      {"offset_not_aligned", [] { return with_tensor({1}, 0, 129); },
       "tensor bad: offset 129, expected 128"},
      {"offset_not_in_order", [] { return with_tensor({1}, 0, 0); }, "offset 0, expected 128"},
      {"offset_gap", [] { return with_tensor({1}, 0, 160); }, "offset 160, expected 128"},
      {"offset_huge", [] { return with_tensor({1}, 0, ~uint64_t{31}); },
       "offset 18446744073709551584"},
      // G3
      {"past_the_end", [] { return with_tensor({1}, 0); }, "tensor bad: data ends at byte"},
  };
}

std::vector<BadFile> bad_sizes() {
  return {
      // G1: sizes that wrap
      {"elements_2_64",
       [] {
         return with_tensor({uint64_t{1} << 32, uint64_t{1} << 32}, 0);
       },
       "tensor bad: size overflow"},
      {"elements_2_63",
       [] {
         return with_tensor({uint64_t{1} << 62, 2}, 24);
       },
       "tensor bad: size overflow"},
      {"bytes_wrap", [] { return with_tensor({uint64_t{1} << 62}, 0); },
       "tensor bad: size overflow"},
      {"bytes_wrap_blocks",
       [] {
         return with_tensor({32, (uint64_t{1} << 58) - 1}, 8);
       },
       "size overflow"},
      {"wrap_behind_zero",
       [] {
         return with_tensor({0, kHuge, kHuge, kHuge}, 0);
       },
       "size overflow"},
      {"zero_behind_wrap",
       [] {
         return with_tensor({kHuge, kHuge, 0}, 0);
       },
       "size overflow"},
      {"four_dimensions_wrap",
       [] {
         return with_tensor({65536, 65536, 65536, 65536}, 0);
       },
       "size overflow"},
      // G2: sizes that wrap only when added
      {"sum_of_two",
       [] {
         return built([](auto& f) {
           f.tensor("big", {uint64_t{1} << 60, 4}, 24, 128)
               .tensor("more", {kHuge}, 24, 128 + kHuge);
         });
       },
       "tensor big: data ends at byte"},
      {"sum_of_three_wraps",
       [] {
         GgufBuilder f;
         f.tensor("a", {kHuge + kHuge / 2}, 24, 0);
         f.tensor("b", {kHuge + kHuge / 2}, 24, kHuge + kHuge / 2);
         f.tensor("c", {kHuge}, 24, 3 * kHuge);
         f.data_bytes = 256;
         return f.build();
       },
       "tensor a: data ends at byte"},
  };
}

class GgufBadFile : public ::testing::TestWithParam<BadFile> {};

TEST_P(GgufBadFile, IsRefusedByName) {
  std::string message = refusal(GetParam().make());
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_THAT(message, ::testing::StartsWith("x.gguf: "));
}

std::string name_of(const ::testing::TestParamInfo<BadFile>& param_info) {
  return param_info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Headers, GgufBadFile, ::testing::ValuesIn(bad_headers()), name_of);
INSTANTIATE_TEST_SUITE_P(Counts, GgufBadFile, ::testing::ValuesIn(bad_counts()), name_of);
INSTANTIATE_TEST_SUITE_P(Keys, GgufBadFile, ::testing::ValuesIn(bad_keys()), name_of);
INSTANTIATE_TEST_SUITE_P(Tensors, GgufBadFile, ::testing::ValuesIn(bad_tensors()), name_of);
INSTANTIATE_TEST_SUITE_P(Sizes, GgufBadFile, ::testing::ValuesIn(bad_sizes()), name_of);

// G1 for every type: dimensions around the powers at which products wrap.
TEST(Gguf, DimensionsAroundWrapsOfEveryType) {
  for (uint32_t type = 0; type < 45; ++type) {
    std::optional<DType> dtype = dtype_from_ggml(type);
    uint64_t block = dtype ? static_cast<uint64_t>(info(*dtype).block_length) : 1;
    for (int power : {31, 32, 62, 63}) {
      for (int64_t delta : {-1, 0, 1}) {
        uint64_t size = ((uint64_t{1} << power) / block + static_cast<uint64_t>(delta)) * block;
        EXPECT_NE(refusal(with_tensor({size}, type)), "") << type << " " << size;
        EXPECT_NE(refusal(with_tensor({block, size, size}, type)), "") << type << " " << size;
        EXPECT_NE(refusal(with_tensor({size, size, size, size}, type)), "") << type << " " << size;
      }
    }
  }
}

// G4: no count makes the reader allocate before it has compared it with the file's length.
TEST(Gguf, CountsAreComparedBeforeUse) {
  constexpr uint64_t kCounts[] = {1000,
                                  65535,
                                  uint64_t{1} << 24,
                                  (1u << 31) - 1,
                                  uint64_t{1} << 31,
                                  uint64_t{1} << 32,
                                  uint64_t{1} << 40,
                                  uint64_t{1} << 60,
                                  kHuge,
                                  kHuge * 2 - 1,
                                  kHuge * 2,
                                  ~uint64_t{0}};
  for (uint64_t count : kCounts) {
    Bytes tensors, pairs;
    tensors.put<uint32_t>(0x46554747).put<uint32_t>(3).put(count).put<uint64_t>(0).zeros(19);
    pairs.put<uint32_t>(0x46554747).put<uint32_t>(3).put<uint64_t>(0).put(count).zeros(19);
    EXPECT_THAT(refusal(tensors), HasSubstr("tensor count: got"));
    EXPECT_THAT(refusal(pairs), HasSubstr("key count: got"));
    for (uint32_t type = 0; type < 13; ++type) {
      if (type == testing::kArray) continue;
      Bytes pair;
      pair.string("k").put<uint32_t>(testing::kArray).put(type).put(count);
      EXPECT_THAT(refusal(with_pair(pair)), HasSubstr("key k: ")) << count << " of type " << type;
    }
  }
}

// G5: a zero dimension in each place, of each type, is an empty tensor.
TEST(Gguf, ZeroDimensionsGiveEmptyTensors) {
  for (uint32_t type = 0; type < 45; ++type) {
    std::optional<DType> dtype = dtype_from_ggml(type);
    if (!dtype) continue;
    uint64_t block = static_cast<uint64_t>(info(*dtype).block_length);
    for (size_t place = 0; place < 4; ++place) {
      std::vector<uint64_t> ne = {block, 2, 3, 4};
      ne[place] = 0;
      GgufPart part = parse(built([&](GgufBuilder& f) {
        f.tensor("bad", ne, type, 128);
        f.data_bytes = 128;
      }));
      EXPECT_EQ(part.tensors[3].bytes, 0);
      EXPECT_EQ(part.tensors[3].shape.elements(), 0);
    }
  }
}

TEST(Gguf, ScalarTensorHasOneElement) {
  GgufPart part = parse(built([](GgufBuilder& f) {
    f.tensor("scalar", {}, 0, 128);
    f.data_bytes = 132;
  }));
  EXPECT_EQ(part.tensors[3].shape.rank, 0);
  EXPECT_EQ(part.tensors[3].bytes, 4);
}

// G6
TEST(Gguf, AlignmentIsAPowerOfTwoUpTo64KiBStoredAsU32) {
  for (uint32_t alignment : {0u, 3u, 13u, 65537u, 131072u, 1u << 20, 1u << 31})
    EXPECT_THAT(refusal(built([&](GgufBuilder& f) {
                  f.scalar("general.alignment", testing::kU32, alignment);
                })),
                HasSubstr("key general.alignment: got"))
        << alignment;
  for (uint32_t alignment : {1u, 2u, 32u, 64u, 65536u}) {
    GgufBuilder f;
    f.scalar("general.alignment", testing::kU32, alignment).tensor("only", {1}, 0, 0);
    f.alignment = alignment;
    f.data_bytes = 4;
    EXPECT_EQ(refusal(f.build()), "") << alignment;
  }
  auto other = [](const std::function<void(GgufBuilder&)>& change) {
    return refusal(built(change));
  };
  constexpr const char* kMessage = "key general.alignment: expected a u32";
  EXPECT_THAT(other([](auto& f) { f.scalar("general.alignment", testing::kI32, 32); }),
              HasSubstr(kMessage));
  EXPECT_THAT(other([](auto& f) { f.scalar("general.alignment", testing::kU64, uint64_t{32}); }),
              HasSubstr(kMessage));
  EXPECT_THAT(other([](auto& f) { f.text("general.alignment", "32"); }), HasSubstr(kMessage));
  EXPECT_THAT(other([](auto& f) {
                f.array("general.alignment", testing::kU32, std::vector<uint32_t>{32});
              }),
              HasSubstr(kMessage));
}

TEST(Gguf, LimitsAreTheBoundary) {
  GgufLimits limits;
  limits.array_elements = 3;
  limits.tensors = 3;
  EXPECT_EQ(refusal(good_gguf().build(), limits), "");
  EXPECT_THAT(
      refusal(built([](auto& f) { f.array("k", testing::kU8, std::vector<uint8_t>(4)); }), limits),
      HasSubstr("key k: array of 4, expected at most 3"));
  EXPECT_THAT(refusal(built([](auto& f) {
                        f.tensor("fourth", {0}, 0, 128);
                        f.data_bytes = 128;
                      }),
                      limits),
              HasSubstr("tensor count: got 4, expected at most 3"));
}

// G8 is the tokenizer's; the reader only must hand over what stands there, whatever it is.
TEST(Gguf, LongTokenIsAView) {
  std::string token(10 << 20, 't');
  GgufPart part = parse(built([&](GgufBuilder& f) { f.texts("tokens", {token}); }));
  EXPECT_EQ(part.metadata.find_strings("tokens")->front().size(), token.size());
}

TEST(Gguf, KnowsItsMagic) {
  EXPECT_TRUE(has_gguf_magic(good_gguf().build().span()));
  EXPECT_FALSE(has_gguf_magic(Bytes().raw("GGU").span()));
  EXPECT_FALSE(has_gguf_magic(Bytes().raw("GGML....").span()));
}

}  // namespace
}  // namespace crane
