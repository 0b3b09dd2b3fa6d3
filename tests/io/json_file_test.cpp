#include "io/json_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/temporary_folder.h"

namespace crane {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& path, size_t limit, ErrorCode code) {
  try {
    read_json_file(path, limit);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_THAT(error.what(), ::testing::StartsWith(path));
    return error.what();
  }
  return "";
}

TEST(JsonFile, ABadFileIsAnIoErrorThatNamesIt) {
  testing::TemporaryFolder folder;
  std::string good = folder.write("good.json", R"({"a": 1})");
  EXPECT_EQ(read_json_file(good, 100).get<int>("a"), 1);
  EXPECT_EQ(read_json_file(good, 8).get<int>("a"), 1);
  EXPECT_THAT(refusal(good, 7, ErrorCode::io), HasSubstr("8 bytes, expected at most 7"));
  EXPECT_THAT(refusal(folder.write("bad.json", "{"), 100, ErrorCode::io),
              HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(folder.write("deep.json", std::string(65, '[') + std::string(65, ']')), 1000,
                      ErrorCode::io),
              HasSubstr("nested deeper than 64"));
  EXPECT_EQ(refusal(folder.write("flat.json", std::string(64, '[') + std::string(64, ']')), 1000,
                    ErrorCode::io),
            "");
  EXPECT_NE(refusal(folder.file("none.json"), 100, ErrorCode::not_found), "");
}

}  // namespace
}  // namespace crane
