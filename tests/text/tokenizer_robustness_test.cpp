// Foreign tokenizer files and texts: rows K3 to K6 and G8 of the robustness plan, and time limits.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "base/error.h"
#include "text/support/tokenizer_files.h"

namespace crane {
namespace {

Json minimal() {
  return Json::parse(R"({"version": "1.0", "added_tokens": [],
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})",
                     "minimal");
}

Json with(const std::string& key, const std::string& value) {
  Json spec = minimal();
  spec.as_object()[key] = Json::parse(value, key);
  return spec;
}

Json with_model(const std::string& model) { return with("model", model); }

// The message of the load error, which has this code.
std::string load_error(const Json& spec, ErrorCode code) {
  try {
    make_tokenizer(spec, Json());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "loaded";
  return {};
}

testing::AssertionResult mentions(const std::string& message, const std::string& part) {
  if (message.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << message << " does not mention " << part;
}

TEST(TokenizerRobustness, K3_VocabularyAndMerges) {
  const ErrorCode io = ErrorCode::io;
  EXPECT_TRUE(
      mentions(load_error(with_model(R"({"type":"BPE","vocab":{"a":0,"b":0},"merges":[]})"), io),
               "vocab.b"));
  EXPECT_TRUE(mentions(load_error(with_model(R"({"type":"BPE","vocab":{"a":-1},"merges":[]})"), io),
                       "vocab.a"));
  EXPECT_TRUE(
      mentions(load_error(with_model(R"({"type":"BPE","vocab":{"a":4194304},"merges":[]})"), io),
               "vocab.a"));
  EXPECT_TRUE(mentions(
      load_error(with_model(R"({"type":"BPE","vocab":{"a":1.5},"merges":[]})"), io), "vocab.a"));
  EXPECT_TRUE(mentions(
      load_error(with_model(R"({"type":"BPE","vocab":{"a":0},"merges":["a x"]})"), io), "x"));
  EXPECT_TRUE(
      mentions(load_error(with_model(R"({"type":"BPE","vocab":{"a":0},"merges":["a a a"]})"), io),
               "merges[0]"));
  EXPECT_TRUE(
      mentions(load_error(with_model(R"({"type":"BPE","vocab":{"a":0},"merges":[["a"]]})"), io),
               "merges[0]"));
  EXPECT_TRUE(mentions(load_error(with_model(R"({"type":"BPE","vocab":{"a":0}})"), io), "merges"));
  EXPECT_TRUE(
      mentions(load_error(with_model(R"({"type":"BPE","vocab":[],"merges":[]})"), io), "vocab"));
  EXPECT_TRUE(
      mentions(load_error(with_model(R"({"type":"Unigram","vocab":[["a"]]})"), io), "vocab[0]"));
  EXPECT_TRUE(mentions(
      load_error(with_model(R"({"type":"Unigram","unk_id":7,"vocab":[["a",-1]]})"), io), "unk_id"));
  EXPECT_TRUE(mentions(
      load_error(with_model(R"({"type":"Unigram","vocab":[["a",-1],["a",-2]]})"), io), "vocab[1]"));
  // Merges as strings and as pairs are the same model.
  const Json pairs =
      with_model(R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]]})");
  EXPECT_EQ(make_tokenizer(pairs, Json())->encode("abba", {}), (std::vector<int32_t>{2, 1, 0}));
  EXPECT_EQ(make_tokenizer(minimal(), Json())->encode("abba", {}), (std::vector<int32_t>{2, 1, 0}));
}

TEST(TokenizerRobustness, K3_AMillionMergesLoadInBoundedTime) {
  JsonObject vocab;
  JsonArray merges;
  for (int i = 0; i < 1000; ++i) vocab.push_back("<" + std::to_string(i) + ">", Json(i));
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string left = "<" + std::to_string(i / 1000) + ">";
    const std::string right = "<" + std::to_string(i % 1000) + ">";
    vocab.push_back(left + right, Json(1000 + i));
    merges.emplace_back(left + " " + right);
  }
  Json model = JsonObject();
  model.as_object()["type"] = "BPE";
  model.as_object()["vocab"] = std::move(vocab);
  model.as_object()["merges"] = std::move(merges);
  Json spec = JsonObject();
  spec.as_object()["model"] = std::move(model);
  EXPECT_EQ(make_tokenizer(spec, Json())->vocab_size(), 1'001'000);
}

TEST(TokenizerRobustness, K3_AddedTokenIds) {
  const char* row = R"({"id":3,"content":"X","special":true,"normalized":false})";
  const std::string repeated =
      std::string("[") + row + R"(,{"id":3,"content":"Y","special":true}])";
  EXPECT_TRUE(
      mentions(load_error(with("added_tokens", repeated), ErrorCode::io), "added_tokens[1]"));
  const auto tokenizer = make_tokenizer(with("added_tokens", std::string("[") + row + "]"), Json());
  EXPECT_EQ(tokenizer->encode("aXb", {}), (std::vector<int32_t>{0, 3, 1}));
}

TEST(TokenizerRobustness, K4_AnEmptyAddedTokenIsALoadError) {
  EXPECT_TRUE(mentions(
      load_error(with("added_tokens", R"([{"id":3,"content":"","special":true}])"), ErrorCode::io),
      "added_tokens[0]"));
}

TEST(TokenizerRobustness, K5_PatternsOfThePreTokenizer) {
  const auto split = [](const std::string& pattern) {
    return with("pre_tokenizer",
                R"({"type":"Split","behavior":"Isolated","invert":false,"pattern":{"Regex":)" +
                    json_quote(pattern) + "}}");
  };
  for (const char* bad : {"(", "[a", "\\p{Nothing}", "(?<=a*)b", "a**b)"})
    EXPECT_TRUE(mentions(load_error(split(bad), ErrorCode::unsupported), bad));
  // Look-behind of bounded length and nested quantifiers work.
  EXPECT_EQ(make_tokenizer(split("(?<=a)b"), Json())->encode("ab", {}),
            (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(make_tokenizer(split("(a+)+"), Json())->encode("aab", {}),
            (std::vector<int32_t>{0, 0, 1}));
  // A pattern that cannot be matched in reasonable time ends with an error that names it.
  const auto runaway = make_tokenizer(split("(a+)+$"), Json());
  try {
    runaway->encode(std::string(60, 'a') + "b", {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(mentions(error.what(), "(a+)+$"));
  }
}

TEST(TokenizerRobustness, K6_NormalizersAndDecoders) {
  const ErrorCode io = ErrorCode::io;
  EXPECT_TRUE(mentions(load_error(with("normalizer", R"({"type":"Replace","pattern":{"String":""},
    "content":"x"})"),
                                  io),
                       "normalizer"));
  EXPECT_TRUE(mentions(load_error(with("decoder", R"({"type":"Replace","pattern":{"Regex":""},
    "content":"x"})"),
                                  io),
                       "decoder"));
  for (const char* map : {"", "AAAA", "/////w==", "CAAAAAAAAAA=", "BAAAAAAAAABhYmM=", "!"})
    EXPECT_TRUE(mentions(
        load_error(
            with("normalizer",
                 std::string(R"({"type":"Precompiled","precompiled_charsmap":")") + map + "\"}"),
            io),
        "precompiled_charsmap"));
  // Longer than the text: everything is stripped, nothing else happens.
  const auto strip = make_tokenizer(
      with("decoder", R"({"type":"Strip","content":"a","start":5,"stop":9})"), Json());
  EXPECT_EQ(strip->decode(std::vector<int32_t>{0, 2}, false), "b");
  EXPECT_TRUE(mentions(
      load_error(with("decoder", R"({"type":"Strip","content":"a","start":-1,"stop":0})"), io),
      "start"));
}

TEST(TokenizerRobustness, K6_DeepNesting) {
  const auto nested = [](const std::string& list, int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += R"({"type":"Sequence",")" + list + "\":[";
    for (int i = 0; i < depth; ++i) text += "]}";
    return text;
  };
  EXPECT_THROW(Json::parse(nested("normalizers", 10'000), "normalizer", 64), Error);
  for (const auto& [part, list] :
       std::vector<std::pair<std::string, std::string>>{{"normalizer", "normalizers"},
                                                        {"pre_tokenizer", "pretokenizers"},
                                                        {"decoder", "decoders"},
                                                        {"post_processor", "processors"}}) {
    Json spec = minimal();
    spec.as_object()[part] = Json::parse(nested(list, 100), part, 1000);
    EXPECT_TRUE(mentions(load_error(spec, ErrorCode::io), "nested deeper"));
  }
}

TEST(TokenizerRobustness, UnknownComponentsAreRefusedByName) {
  for (const char* part : {"normalizer", "pre_tokenizer", "decoder", "post_processor", "model"}) {
    const std::string message =
        load_error(with(part, R"({"type":"Frobnicate"})"), ErrorCode::unsupported);
    EXPECT_TRUE(mentions(message, "Frobnicate"));
    EXPECT_TRUE(mentions(message, part));
  }
  EXPECT_TRUE(
      mentions(load_error(with_model(R"({"type":"BPE","vocab":{},"merges":[],"dropout":0.5})"),
                          ErrorCode::unsupported),
               "dropout"));
}

TEST(TokenizerRobustness, WrongTypesNeverCrash) {
  for (const char* part :
       {"normalizer", "pre_tokenizer", "decoder", "post_processor", "model", "added_tokens"}) {
    for (const char* value :
         {"1", "\"x\"", "[1]", "{}", R"({"type":7})", R"([{"id":"x"}])", "[null]",
          R"({"type":"Sequence"})", R"({"type":"Split","pattern":3})"}) {
      try {
        make_tokenizer(with(part, value), Json());
      } catch (const Error&) {
      }
    }
  }
  EXPECT_THROW(make_tokenizer(Json(), Json()), Error);
  EXPECT_THROW(make_tokenizer(Json(3), Json()), Error);
}

TEST(TokenizerRobustness, TextThatIsNotUtf8NamesTheByte) {
  try {
    make_tokenizer(minimal(), Json())->encode("ab\xff", {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_TRUE(mentions(error.what(), "byte 2"));
  }
}

// --- GGUF ---

struct Header {
  Metadata metadata;
  Header() {
    set("model", std::string_view("gpt2"));
    set("pre", std::string_view("gpt-2"));
    set("tokens", std::vector<std::string_view>{"a", "b", "ab", "<|im_end|>"});
    set("merges", std::vector<std::string_view>{"a b"});
  }
  void set(const std::string& key, MetadataValue value) {
    metadata.values["tokenizer.ggml." + key] = std::move(value);
  }
};

std::string gguf_error(const Header& header, ErrorCode code) {
  try {
    make_tokenizer(header.metadata);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "loaded";
  return {};
}

TEST(TokenizerRobustness, G8_GgufKeys) {
  Header header;
  EXPECT_EQ(make_tokenizer(header.metadata)->encode("abb<|im_end|>", {}),
            (std::vector<int32_t>{2, 1, 3}));
  EXPECT_TRUE(make_tokenizer(header.metadata)->is_special(3));  // by its name

  header.set("pre", std::string_view("no-such-pre"));
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::unsupported), "no-such-pre"));
  header = Header();
  header.set("model", std::string_view("rwkv"));
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::unsupported), "rwkv"));
  header = Header();
  header.metadata.values.erase("tokenizer.ggml.tokens");
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "tokens"));
  header = Header();
  header.set("tokens", std::vector<std::string_view>{"a", "a"});
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "tokens"));
  header = Header();
  header.set("token_type", std::vector<int64_t>{1});
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "token_type"));
  header = Header();
  header.set("model", std::string_view("llama"));
  header.set("scores",
             std::vector<double>{0.0, std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0});
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "scores"));
  header = Header();
  header.set("merges", std::vector<std::string_view>{"ab"});
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "merges"));
  header = Header();
  header.set("tokens", std::vector<std::string_view>{"a", "\xff"});
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "tokens"));
  header = Header();
  header.set("bos_token_id", int64_t{1'000'000});
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "bos_token_id"));
  header = Header();
  header.set("model", std::string_view("llama"));
  header.set("scores", std::vector<double>{0.0});
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "scores"));
}

TEST(TokenizerRobustness, G8_ByteTokensAndLongTokens) {
  for (const char* bad : {"<0x-1>", "<0xZZ>", "<0x>", "<0x100>", "0x41"}) {
    Header header;
    header.set("model", std::string_view("llama"));
    header.set("tokens", std::vector<std::string_view>{"a", bad});
    header.set("token_type", std::vector<int64_t>{1, 6});
    EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), bad));
  }
  const std::string huge(10'000'000, 'x');
  Header header;
  header.set("tokens", std::vector<std::string_view>{"a", "b", "ab", huge});
  EXPECT_TRUE(mentions(gguf_error(header, ErrorCode::io), "entry 3"));
}

TEST(TokenizerRobustness, GgufMergesOfTextsWithoutAToken) {
  Header header;
  header.set("tokens", std::vector<std::string_view>{"a", "b", "abc", "c"});
  header.set("merges", std::vector<std::string_view>{"a b", "ab c"});
  // "ab" is no token, but a step on the way to one; left alone it gives nothing, as in llama.cpp.
  EXPECT_EQ(make_tokenizer(header.metadata)->encode("abc", {}), std::vector<int32_t>{2});
}

// --- Time ---

double seconds_to_encode(const Tokenizer& tokenizer, const std::string& text) {
  const auto begin = std::chrono::steady_clock::now();
  tokenizer.encode(text, {});
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(TokenizerRobustness, LongTextsTakeLinearTime) {
  const Json bases = Json::parse(test::read_file(test::golden_folder() + "bases.json"), "bases");
  for (const auto& [name, spec] : bases.as_object()) {
    const auto tokenizer = make_tokenizer(spec, Json());
    for (const char* unit : {"a", " ", "\n", "1", "鹤", "e\u0301", "'", "a ", "▁", "\u3000"}) {
      SCOPED_TRACE(name + " of " + json_quote(unit));
      std::string text;
      while (text.size() < 200'000) text += unit;
      // Quadratic time would be minutes; the bound leaves room for sanitizers on a busy machine.
      EXPECT_LT(seconds_to_encode(*tokenizer, text), 20.0);
    }
  }
}

TEST(TokenizerRobustness, DigitGroupsTakeLinearTime) {
  const auto tokenizer = make_tokenizer(
      with("pre_tokenizer", R"re({"type":"Split","behavior":"Isolated","invert":false,
        "pattern":{"Regex":"\\d{1,3}(?=(?:\\d{3})*\\b)"}})re"),
      Json());
  EXPECT_LT(seconds_to_encode(*tokenizer, std::string(1'000'000, '1')), 20.0);
}

}  // namespace
}  // namespace crane
