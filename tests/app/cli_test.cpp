// The program as a script sees it: verbs, help, exit codes, where output goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/subprocess.h"
#include "base/json.h"

namespace crane::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

const std::string kChat = golden("qwen2-chat");

TEST(Program, VersionIsOneLine) {
  Outcome outcome = run_crane({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out,
              MatchesRegex("crane [0-9]+\\.[0-9]+\\.[0-9]+ \\([^,]+, [^,]+, [^,]+\\)\n"));
  EXPECT_EQ(outcome.err, "");
}

TEST(Program, HelpListsVerbsThatExist) {
  Outcome outcome = run_crane({"--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* verb : {"run", "score", "perplexity", "tokenize", "template", "show", "bench"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n  ") + verb));
    Outcome help = run_crane({verb, "--help"});
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_THAT(help.out, HasSubstr("--help")) << verb;
  }
  EXPECT_THAT(outcome.out, Not(HasSubstr("serve")));
}

TEST(Program, ListDevicesLoadsNothing) {
  Outcome outcome = run_crane({"--list-devices"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("cpu"), HasSubstr("generic")));
  EXPECT_EQ(run_crane({"--list-models"}).code, 0);
}

TEST(Program, FailuresExitWithOneAndOnePlainLastLine) {
  const std::vector<std::vector<std::string>> calls = {
      {},
      {"serve"},
      {"rum"},
      {"--model-path", "x"},
      {"score", kChat},
      {"score", kChat, "--ids", "1", "--nonsense"},
      {"score", "/no/such/model", "--ids", "1"},
      {"score", kChat, "--ids", "1,2", "--isa", "avx9000"},
      {"score", kChat, "--ids", "1,2", "--dtype", "bf16"},
      {"score", kChat, "--ids", "1,2", "--kv-cache-dtype", "q8_0"},
      {"run", kChat, "-p", "x", "--lora", "y"},
      {"tokenize", kChat},
      {"template", "--template", "/no/such/file", "--input", "/dev/null"},
      {"show", "/dev/null"},
      {"bench", kChat, "-p", "0", "-n", "0"},
      {"perplexity", kChat}};
  for (const auto& call : calls) {
    Outcome outcome = run_crane(call);
    std::string name = ::testing::PrintToString(call);
    EXPECT_EQ(outcome.code, 1) << name;
    EXPECT_EQ(outcome.out, "") << name;
    EXPECT_THAT(outcome.last_error_line(), ::testing::StartsWith("crane: ")) << name;
    EXPECT_GT(outcome.last_error_line().size(), 12u) << name;
  }
}

TEST(Program, UnbuiltVerbsSayWhatExists) {
  Outcome outcome = run_crane({"serve", "x.gguf"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("not built yet"), HasSubstr("run, score")));
  EXPECT_THAT(run_crane({"tokenise"}).err, HasSubstr("did you mean tokenize?"));
}

TEST(Program, FullOutputIsAFailure) {
  Outcome outcome = run_crane({"show", kChat}, {.stdout_path = "/dev/full"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.last_error_line(), HasSubstr("standard output"));
}

TEST(Program, VariablesWork) {
  Outcome outcome =
      run_crane({"tokenize", kChat, "--text", "hi"}, {.variables = {{"CRANE_JSON", "1"}}});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(Json::parse(outcome.out, "out")["ids"].is_array());
  EXPECT_EQ(
      run_crane({"tokenize", kChat, "--text", "hi"}, {.variables = {{"CRANE_JSON", "x"}}}).code, 1);
}

TEST(Program, ShowDescribesBothFormats) {
  for (const char* model : {"qwen2-chat", "qwen2-chat.gguf"}) {
    Outcome outcome = run_crane({"show", golden(model), "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    Json shown = Json::parse(outcome.out, "show");
    std::vector<std::string> keys;
    for (const auto& member : shown.as_object()) keys.push_back(member.first);
    EXPECT_THAT(keys, ::testing::ElementsAre("architecture", "name", "parameters", "context_length",
                                             "embedding_length", "layers", "vocab_size",
                                             "tensor_types", "tokenizer", "pre_tokenizer",
                                             "chat_template", "license", "files"));
    EXPECT_EQ(shown["architecture"].as_string(), "qwen2");
    EXPECT_EQ(shown["context_length"].as_integer(), 512);
    EXPECT_EQ(shown["embedding_length"].as_integer(), 32);
    EXPECT_EQ(shown["layers"].as_integer(), 2);
    EXPECT_EQ(shown["vocab_size"].as_integer(), 320);
    EXPECT_TRUE(shown["chat_template"].as_bool());
    EXPECT_GT(shown["files"].as_array().at(0).get<int64_t>("bytes"), 0);
    int64_t bytes = 0;
    for (const auto& type : shown["tensor_types"].as_object())
      bytes += type.second.get<int64_t>("bytes");
    EXPECT_GE(bytes, shown["parameters"].as_integer());
    EXPECT_THAT(run_crane({"show", golden(model)}).out, HasSubstr("architecture"));
  }
}

}  // namespace
}  // namespace crane::test
