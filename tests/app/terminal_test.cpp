#include "app/terminal.h"

#include <gtest/gtest.h>

#include "app/subprocess.h"
#include "base/error.h"

namespace crane::test {
namespace {

TEST(Terminal, BytesAndNumbersAsPeopleReadThem) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1500), "1.5 kB");
  EXPECT_EQ(format_bytes(491400064), "491.4 MB");
  EXPECT_EQ(format_bytes(30'000'000'000), "30.00 GB");
  EXPECT_EQ(format_fixed(1.005, 1), "1.0");
  EXPECT_EQ(format_fixed(-2.5, 0), "-2");
}

TEST(Terminal, TextArgumentsKeepEveryByte) {
  const std::string text("a\0b\r\n\n", 6);
  TemporaryFile file(text);
  EXPECT_EQ(read_text_argument(file.path()), text);
  EXPECT_THROW(read_text_argument("/no/such/file"), Error);
}

}  // namespace
}  // namespace crane::test
