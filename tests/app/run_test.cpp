// crane run: one answer, against the greedy answers of the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/subprocess.h"
#include "base/json.h"
#include "base/mapped_file.h"

namespace crane::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kChat = golden("qwen2-chat");
const std::vector<std::string> kGreedy = {"--temp", "0", "--repeat-penalty", "1"};

Outcome run_greedy(std::vector<std::string> arguments, const RunOptions& options = {}) {
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(), kGreedy.begin(), kGreedy.end());
  return run_crane(arguments, options);
}

Json first_chat() {
  return Json::parse(read_text_file(golden("qwen2-chat.expected.json")),
                     "expected")["text"]["chats"]
      .as_array()
      .at(0);
}

std::string question() {
  return first_chat()["messages"].as_array().at(0).get<std::string>("content");
}

TEST(RunVerb, AnswersAsTheReferenceFromBothFormats) {
  Json chat = first_chat();
  JsonArray answer = chat["greedy_ids"].as_array();
  answer.pop_back();  // the stop id
  for (const std::string& model : {kChat, golden("qwen2-chat.gguf")}) {
    Outcome outcome = run_greedy({model, "--prompt", question(), "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    Json result = Json::parse(outcome.out, "run");
    EXPECT_EQ(result["text"], chat["greedy_text"]);
    EXPECT_EQ(result["ids"], Json(answer));
    EXPECT_EQ(result["prompt_ids"], chat["prompt_ids"]);
    EXPECT_EQ(result["finish_reason"].as_string(), "stop");
    const Json& timings = result["timings"];
    EXPECT_EQ(timings["prompt_n"].as_integer(),
              static_cast<int64_t>(chat["prompt_ids"].as_array().size()));
    EXPECT_EQ(timings["predicted_n"].as_integer(), static_cast<int64_t>(answer.size()));
    for (const char* key :
         {"load_ms", "prompt_ms", "prompt_per_second", "predicted_ms", "predicted_per_second"})
      EXPECT_GT(timings[key].as_number(), 0) << key;
  }
}

TEST(RunVerb, TextGoesToStdoutAloneAndFiguresToStderr) {
  Outcome outcome = run_greedy({kChat, question()});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, first_chat().get<std::string>("greedy_text"));
  EXPECT_EQ(outcome.err, "");  // no terminal, no figures
  Outcome verbose = run_greedy({kChat, question(), "--verbose"});
  EXPECT_EQ(verbose.out, outcome.out);
  EXPECT_THAT(verbose.err, AllOf(HasSubstr("load time"), HasSubstr("prompt rate"),
                                 HasSubstr("eval rate"), HasSubstr("tokens/s")));
}

TEST(RunVerb, PromptFromPipeFileAndBoth) {
  std::string answer = run_greedy({kChat, question(), "--json"}).out;
  Json ids = Json::parse(answer, "run")["prompt_ids"];
  auto prompt_ids = [](const Outcome& outcome) {
    return outcome.code == 0 ? Json::parse(outcome.out, "run")["prompt_ids"] : Json(outcome.err);
  };
  EXPECT_EQ(prompt_ids(run_greedy({kChat, "--json"}, {.input = question(), .no_input = false})),
            ids);
  TemporaryFile file(question());
  EXPECT_EQ(prompt_ids(run_greedy({kChat, "--json", "--file", file.path()})), ids);
  EXPECT_EQ(prompt_ids(
                run_greedy({kChat, "--json", "-f", "-"}, {.input = question(), .no_input = false})),
            ids);
  EXPECT_EQ(prompt_ids(run_greedy({kChat, "--json", "-p", "What is"},
                                  {.input = "in it?", .no_input = false})),
            prompt_ids(run_greedy({kChat, "--json", "-p", "What is\nin it?"})));
  EXPECT_EQ(
      prompt_ids(run_greedy({kChat, "--json", "-p", question()}, {.input = "", .no_input = false})),
      ids);
  Outcome nothing = run_greedy({kChat});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_THAT(nothing.last_error_line(), HasSubstr("no prompt"));
}

TEST(RunVerb, RawPromptIsTheTokenizersIds) {
  Json result =
      Json::parse(run_greedy({kChat, "--raw", "-p", "The crane", "-n", "4", "--json"}).out, "run");
  Json tokens =
      Json::parse(run_crane({"tokenize", kChat, "--text", "The crane", "--json"}).out, "t");
  EXPECT_EQ(result["prompt_ids"], tokens["ids"]);
  EXPECT_EQ(result["finish_reason"].as_string(), "length");
  EXPECT_EQ(result["ids"].as_array().size(), 4u);
}

TEST(RunVerb, IdsNeedNoTokenizer) {
  Json result = Json::parse(
      run_greedy({golden("qwen2-f32-tied"), "--ids", "80,107,2", "-n", "5", "--json"}).out, "run");
  EXPECT_TRUE(result["text"].is_null());
  EXPECT_EQ(result["ids"].as_array().size(), 5u);
  EXPECT_EQ(result["prompt_ids"].dump(), "[80,107,2]");
  Outcome text = run_greedy({golden("qwen2-f32-tied"), "-p", "x"});
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.last_error_line(), HasSubstr("--ids"));
}

TEST(RunVerb, NoTokensIsAnAnswerToo) {
  Outcome outcome = run_greedy({kChat, "-p", "hi", "-n", "0", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Json result = Json::parse(outcome.out, "run");
  EXPECT_EQ(result["text"].as_string(), "");
  EXPECT_EQ(result["finish_reason"].as_string(), "length");
  EXPECT_TRUE(result["timings"]["predicted_per_second"].is_null());
}

TEST(RunVerb, StopStringsAndSystemMessage) {
  Json result =
      Json::parse(run_greedy({kChat, "-p", question(), "--stop", " water", "--json"}).out, "run");
  EXPECT_EQ(result["text"].as_string(), "The crane stands in the");
  EXPECT_EQ(result["finish_reason"].as_string(), "stop");
  Json with_system = Json::parse(
      run_greedy({kChat, "-sys", "Be brief.", "-p", "x", "-n", "1", "--json"}).out, "run");
  Json conversation = Json::parse(
      R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "x"}],
          "add_generation_prompt": true})",
      "conversation");
  std::string rendered = run_crane({"template", kChat, "--input", "-"},
                                   {.input = conversation.dump(), .no_input = false})
                             .out;
  Json tokens = Json::parse(
      run_crane({"tokenize", kChat, "--text", rendered, "--no-bos", "--json"}).out, "t");
  EXPECT_EQ(with_system["prompt_ids"], tokens["ids"]);
}

TEST(RunVerb, SeedsReproduceAndThreadsChangeNothing) {
  auto ids = [](const std::vector<std::string>& more) {
    std::vector<std::string> call = {"run", kChat,     "-p", question(), "--temp",
                                     "2",   "-n",      "20", "--json",   "--top-k",
                                     "0",   "--min-p", "0",  "--top-p",  "1"};
    call.insert(call.end(), more.begin(), more.end());
    return Json::parse(run_crane(call).out, "run")["ids"].dump();
  };
  std::string first = ids({"--seed", "1"});
  EXPECT_EQ(ids({"--seed", "1"}), first);
  EXPECT_EQ(ids({"--seed", "1", "-t", "1"}), first);
  EXPECT_NE(ids({"--seed", "2"}), first);
}

TEST(RunVerb, PromptOverTheContextIsRefusedWithBothNumbers) {
  std::string ids = "1";
  for (int i = 0; i < 520; ++i) ids += ",1";
  Outcome outcome = run_greedy({kChat, "--ids", ids, "--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.last_error_line(), AllOf(HasSubstr("521"), HasSubstr("512")));
  Json full = Json::parse(
      run_greedy({kChat, "--ids", "267,285", "-c", "64", "--ignore-eos", "--json"}).out, "run");
  EXPECT_EQ(full["finish_reason"].as_string(), "length");
  EXPECT_LE(full["ids"].as_array().size(), 63u);
}

TEST(RunVerb, TemplateFlags) {
  Json result = Json::parse(run_greedy({kChat, "-p", "x", "-n", "1", "--json", "--chat-template",
                                        "{{ messages[0].content }}{{ more }}",
                                        "--chat-template-kwargs", R"({"more": "The crane"})"})
                                .out,
                            "run");
  Json tokens =
      Json::parse(run_crane({"tokenize", kChat, "--text", "xThe crane", "--json"}).out, "t");
  EXPECT_EQ(result["prompt_ids"], tokens["ids"]);
}

}  // namespace
}  // namespace crane::test
