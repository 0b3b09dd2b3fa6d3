// crane tokenize and crane template, against the reference's values in tests/golden/models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/subprocess.h"
#include "base/json.h"
#include "base/mapped_file.h"

namespace crane::test {
namespace {

using ::testing::HasSubstr;

const std::string kFolder = golden("qwen2-chat");
const std::string kGguf = golden("qwen2-chat.gguf");

Json expected() {
  return Json::parse(read_text_file(golden("qwen2-chat.expected.json")), "expected")["text"];
}

std::string ids_argument(const Json& ids) {
  std::string text = ids.dump();
  return text.substr(1, text.size() - 2);
}

TEST(TokenizeVerb, GivesTheReferencesIdsFromBothFormats) {
  for (const std::string& model : {kFolder, kGguf}) {
    JsonArray texts, ids;
    const Json reference = expected();
    for (const Json& row : reference["texts"].as_array()) {
      // A GGUF has no normalizer: only tokenizer.json composes this letter.
      if (model == kGguf && row["text"].as_string() == "e\u0301") continue;
      texts.push_back(row["text"]);
      ids.push_back(row["ids"]);
    }
    TemporaryFile file(Json(texts).dump());
    Outcome outcome =
        run_crane({"tokenize", "--model", model, "--lines-json", file.path(), "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "{\"ids\":" + Json(ids).dump() + "}\n");
  }
}

TEST(TokenizeVerb, TextFileAndStandardInputAreTheSame) {
  const std::string text = "The crane\\n stands\n";
  std::string by_text = run_crane({"tokenize", kFolder, "--text", text, "--json"}).out;
  TemporaryFile file(text);
  EXPECT_EQ(run_crane({"tokenize", kFolder, "--file", file.path(), "--json"}).out, by_text);
  Outcome piped =
      run_crane({"tokenize", kFolder, "-f", "-", "--json"}, {.input = text, .no_input = false});
  EXPECT_EQ(piped.out, by_text);
}

TEST(TokenizeVerb, DecodeAddsNothing) {
  Json row = expected()["texts"].as_array().at(8);  // a text of special tokens
  std::string ids = ids_argument(row["ids"]);
  Outcome outcome = run_crane({"tokenize", "--model", kFolder, "--decode", "--ids", ids});
  EXPECT_EQ(outcome.out, row["text"].as_string());
  EXPECT_EQ(run_crane({"tokenize", kFolder, "--decode", "--ids", ids, "--no-special"}).out,
            "user\nhi\n");
  Json json =
      Json::parse(run_crane({"tokenize", kFolder, "--decode", "--ids", ids, "--json"}).out, "out");
  EXPECT_EQ(json["text"], row["text"]);
  Outcome outside = run_crane({"tokenize", kFolder, "--decode", "--ids", "99999"});
  EXPECT_EQ(outside.code, 1);
  EXPECT_THAT(outside.err, HasSubstr("99999"));
}

TEST(TokenizeVerb, IllFormedTextNamesTheByte) {
  TemporaryFile file("abc\xff");
  Outcome outcome = run_crane({"tokenize", kFolder, "--file", file.path(), "--json"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.last_error_line(), HasSubstr("3"));
}

TEST(TokenizeVerb, SpecialTokensAsPlainText) {
  Json plain = Json::parse(
      run_crane({"tokenize", kFolder, "--text", "<|im_end|>", "--no-special", "--json"}).out,
      "out");
  Json parsed =
      Json::parse(run_crane({"tokenize", kFolder, "--text", "<|im_end|>", "--json"}).out, "out");
  EXPECT_EQ(parsed["ids"].as_array().size(), 1u);
  EXPECT_GT(plain["ids"].as_array().size(), 1u);
}

Outcome render(const std::string& source, const std::string& conversation) {
  TemporaryFile chat_template(source), input(conversation);
  return run_crane({"template", "--template", chat_template.path(), "--input", input.path()});
}

TEST(TemplateVerb, RendersTheModelsTemplate) {
  for (const std::string& model : {kFolder, kGguf}) {
    const Json reference = expected();
    for (const Json& chat : reference["chats"].as_array()) {
      JsonObject conversation;
      conversation["messages"] = chat["messages"];
      conversation["add_generation_prompt"] = true;
      Outcome outcome = run_crane({"template", "--model", model, "--input", "-"},
                                  {.input = Json(conversation).dump(), .no_input = false});
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(outcome.out, chat["prompt"].as_string());
    }
  }
}

TEST(TemplateVerb, VariablesAreThoseOfTheConversation) {
  EXPECT_EQ(render("{{ bos_token is defined }} {{ tools is none }} {{ add_generation_prompt }}",
                   R"({"messages": []})")
                .out,
            "False True False");
  EXPECT_EQ(render("{{ bos_token }}{{ name }}", R"({"messages": [], "bos_token": "<s>",
             "chat_template_kwargs": {"name": "x"}})")
                .out,
            "<s>x");
  EXPECT_EQ(render("{{ messages[0].a is defined }}{{ messages[0].content }}",
                   R"({"messages": [{"role": "user", "content": "é\n", "a": null}]})")
                .out,
            "Falseé\n");
}

TEST(TemplateVerb, ErrorsSayWhatTheTemplateSays) {
  Outcome raised = render("{{ raise_exception('roles must alternate') }}", R"({"messages": []})");
  EXPECT_EQ(raised.code, 1);
  EXPECT_EQ(raised.out, "");
  EXPECT_THAT(raised.err, HasSubstr("roles must alternate"));
  EXPECT_EQ(render("{% if %}", R"({"messages": []})").code, 1);
  EXPECT_EQ(render("x", "[1]").code, 1);
  EXPECT_EQ(render("x", "{").code, 1);
}

}  // namespace
}  // namespace crane::test
