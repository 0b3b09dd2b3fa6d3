#include "base/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace crane {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct MappedFileTest : ::testing::Test {
  MappedFileTest() {
    std::string pattern = (fs::temp_directory_path() / "crane-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~MappedFileTest() override { fs::remove_all(folder); }
  std::string write(const char* name, std::string_view text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  }
  std::string refusal(const std::string& path, ErrorCode code) {
    try {
      MappedFile::open(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_THAT(error.what(), ::testing::StartsWith(path + ": "));
      return error.what();
    }
    return "";
  }
  fs::path folder;
};

TEST_F(MappedFileTest, GivesTheBytes) {
  std::string path = write("a", std::string("x\0y", 3));
  auto file = MappedFile::open(path);
  EXPECT_EQ(file->text(), std::string_view("x\0y", 3));
  EXPECT_EQ(file->bytes().size(), 3u);
  EXPECT_EQ(file->bytes()[2], std::byte{'y'});
  EXPECT_EQ(file->path(), path);
}

TEST_F(MappedFileTest, EmptyFileIsEmpty) {
  EXPECT_TRUE(MappedFile::open(write("a", ""))->bytes().empty());
}

TEST_F(MappedFileTest, OutlivesTheFile) {
  std::string path = write("a", "still here");
  auto file = MappedFile::open(path);
  fs::remove(path);
  EXPECT_EQ(file->text(), "still here");
}

TEST_F(MappedFileTest, WhatIsNoFileIsRefused) {
  EXPECT_THAT(refusal((folder / "none").string(), ErrorCode::not_found), HasSubstr("No such file"));
  EXPECT_NE(refusal(write("a", "x") + "/below", ErrorCode::not_found), "");
  EXPECT_THAT(refusal(folder.string(), ErrorCode::io), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal("/dev/zero", ErrorCode::io), HasSubstr("not a regular file"));
  std::string fifo = (folder / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(refusal(fifo, ErrorCode::io), HasSubstr("not a regular file"));  // and does not wait
}

TEST_F(MappedFileTest, TextFilesHaveALimit) {
  std::string path = write("a", "12345");
  EXPECT_EQ(read_text_file(path), "12345");
  EXPECT_EQ(read_text_file(path, 5), "12345");
  EXPECT_THROW(read_text_file(path, 4), Error);
}

}  // namespace
}  // namespace crane
