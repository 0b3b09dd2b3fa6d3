#include "base/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace crane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Metadata sample() {
  Metadata m;
  m.values["bool"] = true;
  m.values["zero"] = int64_t{0};
  m.values["int"] = int64_t{42};
  m.values["float"] = 2.5;
  m.values["whole"] = 7.0;
  m.values["huge"] = 1e30;
  m.values["text"] = std::string_view("gpt2");
  m.values["ints"] = std::vector<int64_t>{1, 2};
  m.values["floats"] = std::vector<double>{0.5};
  m.values["texts"] = std::vector<std::string_view>{"a", "b"};
  return m;
}

TEST(Metadata, AbsentKeysGiveNothing) {
  Metadata m = sample();
  EXPECT_FALSE(m.contains("none"));
  EXPECT_EQ(m.find_bool("none"), std::nullopt);
  EXPECT_EQ(m.find_integer("none"), std::nullopt);
  EXPECT_EQ(m.find_number("none"), std::nullopt);
  EXPECT_EQ(m.find_string("none"), std::nullopt);
  EXPECT_EQ(m.find_integers("none"), nullptr);
  EXPECT_EQ(m.find_numbers("none"), nullptr);
  EXPECT_EQ(m.find_strings("none"), nullptr);
}

TEST(Metadata, ReadsIntegersLeniently) {
  Metadata m = sample();
  EXPECT_EQ(m.find_integer("int"), 42);
  EXPECT_EQ(m.find_integer("bool"), 1);
  EXPECT_EQ(m.find_integer("whole"), 7);
  EXPECT_EQ(m.find_number("int"), 42.0);
  EXPECT_EQ(m.find_number("float"), 2.5);
  EXPECT_EQ(m.find_bool("bool"), true);
  EXPECT_EQ(m.find_bool("zero"), false);
}

TEST(Metadata, GivesExactKinds) {
  Metadata m = sample();
  EXPECT_EQ(m.find_string("text"), "gpt2");
  EXPECT_THAT(*m.find_integers("ints"), ElementsAre(1, 2));
  EXPECT_THAT(*m.find_numbers("floats"), ElementsAre(0.5));
  EXPECT_THAT(*m.find_strings("texts"), ElementsAre("a", "b"));
}

TEST(Metadata, WrongKindNamesKeyAndBoth) {
  Metadata m = sample();
  auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] { m.find_integer("float"); }),
            "GGUF key float: got a float, expected an integer");
  EXPECT_THAT(message([&] { m.find_integer("huge"); }), HasSubstr("expected an integer"));
  EXPECT_THAT(message([&] { m.find_integer("text"); }), HasSubstr("got a string"));
  EXPECT_THAT(message([&] { m.find_bool("int"); }), HasSubstr("got an integer, expected a bool"));
  EXPECT_THAT(message([&] { m.find_number("ints"); }), HasSubstr("got an integer array"));
  EXPECT_THAT(message([&] { m.find_string("texts"); }), HasSubstr("got a string array"));
  EXPECT_THAT(message([&] { m.find_integers("floats"); }), HasSubstr("got a float array"));
  EXPECT_THAT(message([&] { m.find_numbers("bool"); }), HasSubstr("got a bool"));
  EXPECT_THAT(message([&] { m.find_strings("text"); }), HasSubstr("expected a string array"));
}

}  // namespace
}  // namespace crane
