// Split GGUF files: parts found from any of them, and refused when they do not belong together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/strings.h"
#include "io/gguf.h"
#include "io/gguf_builder.h"
#include "io/temporary_folder.h"

namespace crane {
namespace {

using testing::GgufBuilder;
using ::testing::HasSubstr;
using testing::kI32;
using testing::kU16;
using testing::TemporaryFolder;

// Part `number` (from 0) of `count`, with one tensor of its own.
std::string part(uint16_t number, uint16_t count, const std::string& tensor, int32_t total) {
  GgufBuilder file;
  if (number == 0) file.text("general.architecture", "qwen2");
  file.scalar("split.no", kU16, number)
      .scalar("split.count", kU16, count)
      .scalar("split.tensors.count", kI32, total)
      .tensor(tensor, {8}, 0, 0);
  file.data_bytes = 32;
  return file.build().text();
}

struct Split : ::testing::Test {
  Split() {
    for (int i = 0; i < 3; ++i)
      paths[i] = folder.write(name(i), part(static_cast<uint16_t>(i), 3, cat("t", i), 3));
  }
  static std::string name(int i) { return cat("m-0000", i + 1, "-of-00003.gguf"); }
  std::string refusal(const std::string& path, ErrorCode code = ErrorCode::io) {
    try {
      GgufFile::open(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder;
  std::string paths[3];
};

TEST_F(Split, OpensFromAnyPart) {
  for (const std::string& path : paths) {
    GgufFile file = GgufFile::open(path);
    ASSERT_EQ(file.tensors().size(), 3u);
    EXPECT_EQ(file.tensors()[2].name, "t2");
    EXPECT_EQ(file.metadata().find_string("general.architecture"), "qwen2");
    ASSERT_EQ(file.files().size(), 3u);
    EXPECT_EQ(file.files()[0].path, paths[0]);
  }
}

TEST_F(Split, MissingPartIsNamed) {
  std::filesystem::remove(paths[1]);
  EXPECT_THAT(refusal(paths[0], ErrorCode::not_found), HasSubstr(name(1)));
}

TEST_F(Split, RenamedPartIsRefused) {
  std::string other = folder.write("other.gguf", part(1, 3, "t1", 3));
  EXPECT_THAT(refusal(other), HasSubstr("a name that ends in -00002-of-00003.gguf"));
}

TEST_F(Split, PartOfAnotherNumberIsRefused) {
  folder.write(name(1), part(2, 3, "t1", 3));
  EXPECT_THAT(refusal(paths[0]), HasSubstr("holds part 3 of 3, expected part 2 of 3"));
}

TEST_F(Split, NumberPastTheCountIsRefused) {
  EXPECT_THAT(refusal(folder.write("m-00004-of-00003.gguf", part(3, 3, "t", 3))),
              HasSubstr("part 4 of 3"));
}

TEST_F(Split, TensorInTwoPartsIsRefused) {
  folder.write(name(2), part(2, 3, "t0", 3));
  EXPECT_THAT(refusal(paths[0]), HasSubstr("tensor t0 is in two parts"));
}

TEST_F(Split, TensorCountMustAgree) {
  folder.write(name(0), part(0, 3, "t0", 5));
  EXPECT_THAT(refusal(paths[0]), HasSubstr("3 tensors in 3 parts, expected 5"));
}

TEST_F(Split, CountMayNotBeAbsurd) {
  GgufBuilder file;
  file.scalar<int64_t>("split.count", testing::kI64, int64_t{1} << 40);
  EXPECT_THAT(refusal(folder.write("a.gguf", file.build().text())), HasSubstr("split.count: got"));
}

TEST(GgufFile, MissingFileAndFolderAreNamed) {
  TemporaryFolder folder;
  EXPECT_THROW(GgufFile::open(folder.file("none.gguf")), Error);
  EXPECT_THROW(GgufFile::open(folder.path()), Error);
}

}  // namespace
}  // namespace crane
