// Json: what the parser takes and refuses, typed access, and writing. Foreign text reaches it from
// model folders and from the network.
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "base/strings.h"

namespace crane {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json parse(std::string_view text, int depth = 128) { return Json::parse(text, "body", depth); }

std::string refusal(std::string_view text, int depth = 128) {
  try {
    parse(text, depth);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), ::testing::StartsWith("body: "));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    return error.what();
  }
  return "";
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(JsonParse, ReadsEveryKind) {
  Json value = parse(R"( {"n":null,"t":true,"f":false,"i":-12,"d":1.5,"s":"a\u00e9\ud83d\udc26\n",
                          "a":[1,[],{}],"o":{"k":"v"}} )");
  EXPECT_TRUE(value["n"].is_null());
  EXPECT_TRUE(value["t"].as_bool());
  EXPECT_FALSE(value["f"].as_bool());
  EXPECT_EQ(value["i"].as_integer(), -12);
  EXPECT_TRUE(value["i"].is_integer());
  EXPECT_EQ(value["d"].kind(), Json::Kind::number);
  EXPECT_EQ(value["d"].as_number(), 1.5);
  EXPECT_EQ(value["s"].as_string(), "a\xc3\xa9\xf0\x9f\x90\xa6\n");
  EXPECT_EQ(value["a"].as_array().size(), 3u);
  EXPECT_EQ(value["o"]["k"].as_string(), "v");
  EXPECT_TRUE(parse("7").is_integer());
  EXPECT_TRUE(parse("\"x\"").is_string());
}

TEST(JsonParse, KeepsTheOrderOfKeys) {
  std::string names;
  Json value = parse(R"({"z":1,"a":2,"m":3})");
  for (const auto& [key, member] : value.as_object()) names += key;
  EXPECT_EQ(names, "zam");
}

TEST(JsonParse, IntegersAndFloats) {
  EXPECT_EQ(parse("9223372036854775807").as_integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parse("-9223372036854775808").as_integer(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parse("9223372036854775808").kind(), Json::Kind::number);  // as a double
  EXPECT_EQ(parse("18446744073709551616").as_number(), 18446744073709551616.0);
  EXPECT_EQ(parse("-9223372036854775809").kind(), Json::Kind::number);
  EXPECT_EQ(parse("1e30").as_number(), 1e30);
  EXPECT_EQ(parse("1.0").kind(), Json::Kind::number);
  EXPECT_EQ(parse("1.0").as_integer(), 1);
  EXPECT_EQ(parse("0.1").as_number(), 0.1);
  EXPECT_EQ(parse("5e-324").as_number(), 5e-324);
  EXPECT_EQ(parse("-0").as_integer(), 0);
}

TEST(JsonParse, RefusesWhatIsNoJson) {
  for (std::string_view bad : {"",
                               " ",
                               "{",
                               "}",
                               "[",
                               "[1",
                               "[1,",
                               "[1,]",
                               "[,1]",
                               "{\"a\"}",
                               "{\"a\":}",
                               "{\"a\":1,}",
                               "{a:1}",
                               "{'a':1}",
                               "nul",
                               "NULL",
                               "True",
                               "NaN",
                               "nan",
                               "Infinity",
                               "-Infinity",
                               "+1",
                               "01",
                               "1.",
                               ".5",
                               "1e",
                               "1e+",
                               "0x10",
                               "--1",
                               "1 2",
                               "{}{}",
                               "[] x",
                               "\"a",
                               "\"\\x\"",
                               "\"\\u12\"",
                               "\"\\ud800\"",
                               "\"\\udc00\"",
                               "\"a\nb\"",
                               "\"\t\"",
                               "// c\n1",
                               "/* */1",
                               "1,",
                               "1e999",
                               "-1e999"})
    EXPECT_THAT(refusal(bad), HasSubstr("not valid JSON at byte ")) << bad;
}

TEST(JsonParse, RefusesIllFormedUtf8) {
  for (std::string_view bad : {"\"\xff\"", "\"\xc3\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"",
                               "\"\xf4\x90\x80\x80\"", "{\"\x80\":1}", "\"\xe4\xb8\""})
    EXPECT_THAT(refusal(bad), HasSubstr("not valid JSON"));
}

TEST(JsonParse, RefusesNulBytesAnywhere) {
  using std::string_view_literals::operator""sv;
  for (std::string_view bad : {"{}\0"sv, "{}\0x"sv, "\0{}"sv, "\"a\0b\""sv, "[1,\0 2]"sv})
    EXPECT_THAT(refusal(bad), HasSubstr("NUL"));
  EXPECT_EQ(parse("\"a\\u0000b\"").as_string(), "a\0b"sv);
}

TEST(JsonParse, NamesTheByte) { EXPECT_THAT(refusal("{\"a\": tru}"), HasSubstr("at byte 10")); }

TEST(JsonParse, DepthLimitIsTheBoundary) {
  auto nested = [](int depth) {
    return std::string(static_cast<size_t>(depth), '[') +
           std::string(static_cast<size_t>(depth), ']');
  };
  EXPECT_EQ(refusal(nested(7), 8), "");
  EXPECT_EQ(refusal(nested(8), 8), "");
  EXPECT_THAT(refusal(nested(9), 8), HasSubstr("nested deeper than 8 values"));
  EXPECT_EQ(refusal(R"({"a":[{"b":1}]})", 3), "");
  EXPECT_NE(refusal(R"({"a":[{"b":[]}]})", 3), "");
}

// Depth without end must neither use up a small stack nor much time.
TEST(JsonParse, MillionsOfBracketsOnASmallStack) {
  std::string text(5'000'000, '[');
  std::string message;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  struct Work {
    std::string* text;
    std::string* message;
  } work{&text, &message};
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* context) -> void* {
                  auto* w = static_cast<Work*>(context);
                  *w->message = refusal(*w->text);
                  return nullptr;
                },
                &work),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_THAT(message, HasSubstr("nested deeper than 128"));
}

TEST(JsonParse, RefusesRepeatedKeys) {
  EXPECT_THAT(refusal(R"({"a":1,"b":2,"a":3})"), HasSubstr("repeated JSON key \"a\""));
  EXPECT_THAT(refusal(R"({"a":1,"\u0061":2})"), HasSubstr("repeated JSON key"));
  EXPECT_THAT(refusal(R"([{"x":{"":1,"":2}}])"), HasSubstr("repeated JSON key \"\""));
  EXPECT_THAT(refusal(R"({"\n":1,"\u000a":2})"), HasSubstr(R"(key "\n")"));
  EXPECT_EQ(refusal(R"({"a":{"a":1},"b":{"a":1}})"), "");
}

TEST(JsonObject, LargeObjectsAreReadAndSearchedInTime) {
  std::string text = "{";
  for (int i = 0; i < 150000; ++i) text += cat(i ? "," : "", "\"token", i, "\":", i);
  text += "}";
  auto begin = std::chrono::steady_clock::now();
  Json value = parse(text);
  int64_t sum = 0;
  for (int i = 0; i < 150000; ++i) sum += value[cat("token", i)].as_integer();
  EXPECT_EQ(sum, int64_t{149999} * 150000 / 2);
  EXPECT_FALSE(value.contains("token150000"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  Json copy = value;
  EXPECT_EQ(copy["token149999"].as_integer(), 149999);
}

TEST(JsonObject, GrowsShrinksAndFinds) {
  JsonObject object;
  for (int i = 0; i < 40; ++i) object[cat("k", i)] = Json(i);
  EXPECT_EQ(object.size(), 40u);
  object["k3"] = Json("new");
  EXPECT_EQ(object.size(), 40u);
  EXPECT_EQ(object.build_index(), nullptr);
  EXPECT_EQ(object.find("k3")->as_string(), "new");
  EXPECT_TRUE(object.erase("k5"));
  EXPECT_FALSE(object.erase("k5"));
  EXPECT_EQ(object.find("k5"), nullptr);
  EXPECT_EQ(object.find("k39")->as_integer(), 39);
  object.build_index();
  object["k40"] = Json(40);
  EXPECT_EQ(object.find("k40")->as_integer(), 40);
  EXPECT_EQ(object.find("k0")->as_integer(), 0);
  object.push_back("k40", Json());
  ASSERT_NE(object.build_index(), nullptr);
  EXPECT_EQ(*object.build_index(), "k40");
}

TEST(JsonObject, EqualityIgnoresOrder) {
  EXPECT_EQ(parse(R"({"a":1,"b":[2]})"), parse(R"({"b":[2],"a":1})"));
  EXPECT_FALSE(parse(R"({"a":1})") == parse(R"({"a":1,"b":2})"));
  EXPECT_FALSE(parse(R"({"a":1})") == parse(R"({"b":1})"));
  EXPECT_FALSE(parse("[1,2]") == parse("[2,1]"));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_FALSE(Json(1) == Json(true));
  EXPECT_FALSE(Json(0) == Json());
}

// Reading one parsed value from several threads is a data race only if a look-up writes.
TEST(JsonObject, ReadersShareAValue) {
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += cat(i ? "," : "", "\"k", i, "\":", i);
  const Json value = parse(text + "}");
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 4; ++reader)
    readers.emplace_back([&value] {
      for (int i = 0; i < 100; ++i) EXPECT_EQ(value[cat("k", i)].as_integer(), i);
    });
  for (std::thread& reader : readers) reader.join();
}

TEST(Json, MissingMembersAreNull) {
  Json value = parse(R"({"a":{"b":null}})");
  EXPECT_TRUE(value["x"]["y"]["z"].is_null());
  EXPECT_FALSE(value["a"].contains("b"));
  EXPECT_FALSE(Json(5).contains("a"));
}

TEST(Json, TypedAccessNamesKeyAndKinds) {
  Json value = parse(R"({"i":3,"d":2.5,"s":"x","t":true,"n":null,"big":3000000000})");
  EXPECT_EQ(value.get<int>("i"), 3);
  EXPECT_EQ(value.get<int64_t>("big"), 3000000000);
  EXPECT_EQ(value.get<double>("i"), 3.0);
  EXPECT_EQ(value.get<float>("d"), 2.5f);
  EXPECT_EQ(value.get<std::string>("s"), "x");
  EXPECT_TRUE(value.get<bool>("t"));
  EXPECT_EQ(value.get<int>("n", 9), 9);
  EXPECT_EQ(value.get<int>("none", 9), 9);
  EXPECT_EQ(value.get<int>("i", 9), 3);
  EXPECT_EQ(message_of([&] { value.get<int>("none"); }), "JSON: key none is missing");
  EXPECT_EQ(message_of([&] { value.get<int>("s"); }),
            "key s: JSON: got a string, expected an integer");
  EXPECT_THAT(message_of([&] { value.get<int>("big"); }), HasSubstr("3000000000, out of range"));
  EXPECT_THAT(message_of([&] { value.get<int>("d"); }), HasSubstr("expected an integer"));
  EXPECT_THAT(message_of([&] { value.get<bool>("i"); }), HasSubstr("got an integer, expected a b"));
  EXPECT_THAT(message_of([&] { value.get<std::string>("n"); }), HasSubstr("got null"));
  EXPECT_THAT(message_of([&] { value.get<int>("s", 1); }), HasSubstr("key s"));
  EXPECT_THAT(message_of([] { Json(1).as_object(); }), HasSubstr("expected an object"));
  EXPECT_THAT(message_of([] { Json().as_array(); }), HasSubstr("got null, expected an array"));
  EXPECT_THAT(message_of([] { Json("x").as_number(); }), HasSubstr("expected a number"));
}

TEST(Json, WholeDoublesAreIntegers) {
  EXPECT_EQ(Json(1e15).as_integer(), 1000000000000000);
  EXPECT_THROW(Json(1e30).as_integer(), Error);
  EXPECT_THROW(Json(std::nan("")).as_integer(), Error);
  EXPECT_THROW(Json(std::numeric_limits<double>::infinity()).as_integer(), Error);
  EXPECT_THROW(Json(0.5).as_integer(), Error);
}

TEST(JsonDump, IsCompactOrSpaced) {
  Json value = parse(R"({"a":[1,2.5,"x"],"b":{},"c":[],"d":null,"e":true})");
  EXPECT_EQ(value.dump(), R"({"a":[1,2.5,"x"],"b":{},"c":[],"d":null,"e":true})");
  EXPECT_EQ(value.dump(true), R"({"a": [1, 2.5, "x"], "b": {}, "c": [], "d": null, "e": true})");
}

TEST(JsonDump, NumbersKeepTheirKindAndValue) {
  EXPECT_EQ(Json(1.0).dump(), "1.0");
  EXPECT_EQ(Json(-0.0).dump(), "-0.0");
  EXPECT_EQ(Json(1e30).dump(), "1e+30");
  EXPECT_EQ(Json(static_cast<double>(0.1f)).dump(), "0.1");
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(std::numeric_limits<int64_t>::min()).dump(), "-9223372036854775808");
  for (double number : {1.0, 1e-7, 123456789.0, 3.141592653589793, 1e300, 5e-324}) {
    Json back = parse(Json(number).dump());
    EXPECT_EQ(back.kind(), Json::Kind::number);
    EXPECT_EQ(back.as_number(), number);
  }
  EXPECT_THROW(Json(std::nan("")).dump(), Error);
  EXPECT_THROW(parse("[1]").dump() + Json(HUGE_VAL).dump(), Error);
}

TEST(JsonDump, QuotesWhatMustBeQuoted) {
  EXPECT_EQ(json_quote("a\"b\\c/\n\r\t\b\f\x01\x1f\x7f\xc3\xa9"),
            "\"a\\\"b\\\\c/\\n\\r\\t\\b\\f\\u0001\\u001f\x7f\xc3\xa9\"");
  EXPECT_EQ(json_quote(std::string_view("\0", 1)), "\"\\u0000\"");
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  EXPECT_EQ(parse(json_quote(all)).as_string(), all);
}

}  // namespace
}  // namespace crane
