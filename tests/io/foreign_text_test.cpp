#include "io/foreign_text.h"

#include <gtest/gtest.h>

namespace crane {
namespace {

TEST(Printable, KeepsPlainAsciiOnOneLine) {
  EXPECT_EQ(printable("blk.0.attn_q.weight"), "blk.0.attn_q.weight");
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable(std::string_view("a\0b\n\x1b[31m\x7f\xff", 11)),
            "a\\x00b\\x0a\\x1b[31m\\x7f\\xff");
}

TEST(Printable, CutsWhatIsLong) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable(std::string(1000, 'x')).size(), 83u);
}

}  // namespace
}  // namespace crane
