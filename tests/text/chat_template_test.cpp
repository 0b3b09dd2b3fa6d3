// Renderings of templates against jinja2 in transformers' environment, which
// tests/golden/templates/make_goldens.py recorded.
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace crane {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream buffer;
  buffer << file.rdbuf();
  return buffer.str();
}

Json golden(const std::string& name) {
  return Json::parse(read_file(std::string(CRANE_SOURCE_DIR "/tests/golden/templates/") + name),
                     name, 1000);
}

std::filesystem::path public_templates() {
  const char* shared = std::getenv("CRANE_SHARED_DATA");
  std::filesystem::path folder = shared != nullptr ? shared : CRANE_SOURCE_DIR "/../shared/data";
  return folder / "chat-templates";
}

// 2024-07-26 09:05:03, as the reference's clock stands.
ChatTemplateOptions fixed_time() {
  std::tm now{};
  now.tm_year = 124;
  now.tm_mon = 6;
  now.tm_mday = 26;
  now.tm_hour = 9;
  now.tm_min = 5;
  now.tm_sec = 3;
  now.tm_wday = 5;
  now.tm_yday = 207;
  return {now};
}

std::string fnv1a(const std::string& text) {
  uint64_t value = 0xCBF29CE484222325;
  for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

struct Outcome {
  std::string kind;  // text, raised or error
  std::string text;
};

Outcome render(const std::string& source, const JsonObject& variables) {
  try {
    return {"text", ChatTemplate(source).render(variables, fixed_time())};
  } catch (const ChatTemplateException& error) {
    return {"raised", error.text()};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return {"error", error.what()};
  }
}

// An error of the reference only has to be an error of ours, with its place.
void expect_outcome(const Outcome& got, const Json& expected) {
  if (const Json* text = expected.as_object().find("text")) {
    EXPECT_EQ(got.kind, "text") << got.text;
    EXPECT_EQ(got.text, text->as_string());
  } else if (const Json* raised = expected.as_object().find("raised")) {
    EXPECT_EQ(got.kind, "raised");
    EXPECT_EQ(got.text, raised->as_string());
  } else if (expected.as_object().find("error") != nullptr) {
    EXPECT_EQ(got.kind, "error") << got.text;
    EXPECT_EQ(got.text.substr(0, 20), "chat template: line ");
  } else {
    EXPECT_EQ(got.kind, "text") << got.text;
    EXPECT_EQ(static_cast<int64_t>(got.text.size()), expected["bytes"].as_integer());
    EXPECT_EQ(fnv1a(got.text), expected["hash"].as_string());
  }
}

TEST(ChatTemplate, RendersOurOwnTemplatesAsJinja2) {
  Json rows = golden("own.json");
  JsonObject shared = rows.as_array()[0]["variables"].as_object();
  size_t count = 0;
  for (const Json& row : rows.as_array()) {
    if (!row.contains("template")) continue;
    SCOPED_TRACE(row["name"].as_string());
    const JsonObject& variables = row.contains("variables") ? row["variables"].as_object() : shared;
    expect_outcome(render(row["template"].as_string(), variables), row);
    ++count;
  }
  EXPECT_GT(count, 300u);
}

// The words of the errors that people meet most are jinja2's own.
TEST(ChatTemplate, SaysWhatJinja2Says) {
  Json rows = golden("own.json");
  JsonObject shared = rows.as_array()[0]["variables"].as_object();
  for (const char* name :
       {"attribute of undefined", "item of undefined", "attribute of a missing key",
        "call of undefined", "add undefined", "compare undefined", "add None", "add list",
        "order of kinds", "iterate a number", "append", "pop", "unknown filter", "unknown tag",
        "unclosed", "wrong end", "empty print", "macro arguments", "json of undefined"}) {
    SCOPED_TRACE(name);
    const Json* found = nullptr;
    for (const Json& row : rows.as_array())
      if (row["name"].as_string() == name) found = &row;
    ASSERT_NE(found, nullptr);
    std::string reference = (*found)["error"].as_string();
    reference = reference.substr(reference.find(": ") + 2);
    Outcome got = render((*found)["template"].as_string(), shared);
    EXPECT_NE(got.text.find(reference), std::string::npos) << got.text << "\nnot: " << reference;
  }
}

TEST(ChatTemplate, RendersThePublicTemplatesAsTransformers) {
  if (!std::filesystem::is_directory(public_templates()))
    GTEST_SKIP() << "no public templates at " << public_templates();
  Json conversations = golden("conversations.json");
  Json rows = golden("public.json");
  for (const Json& row : rows.as_array()) {
    std::string name = row["template"].as_string();
    std::string source = read_file(public_templates() / name);
    ASSERT_FALSE(source.empty()) << name;
    for (size_t i = 0; i < conversations.as_array().size(); ++i) {
      const Json& conversation = conversations.as_array()[i];
      SCOPED_TRACE(name + ", " + conversation["name"].as_string());
      JsonObject variables = chat_template_variables(conversation["conversation"]);
      expect_outcome(render(source, variables), row["results"].as_array()[i]);
    }
  }
  EXPECT_GE(rows.as_array().size(), 70u);
}

JsonObject variables_of(const char* text) {
  return chat_template_variables(Json::parse(text, "conversation"));
}

std::string render_conversation(const char* source, const char* text) {
  return ChatTemplate(source).render(variables_of(text));
}

TEST(ChatTemplateVariables, ToolsAndDocumentsAreAlwaysDefined) {
  EXPECT_EQ(render_conversation("{{ tools }}{{ documents }}{{ add_generation_prompt }}"
                                "{{ bos_token is defined }}",
                                R"({"messages": []})"),
            "NoneNoneFalseFalse");
}

TEST(ChatTemplateVariables, NullMembersOfMessagesAreDropped) {
  EXPECT_EQ(render_conversation(
                "{{ messages }}",
                R"({"messages": [{"role": "user", "content": null, "x": [{"y": null}]}]})"),
            "[{'role': 'user', 'x': [{'y': None}]}]");
}

// transformers 5 hands reasoning on under the names that templates read, `thinking` first.
TEST(ChatTemplateVariables, ReasoningGoesByAllItsNames) {
  EXPECT_EQ(render_conversation("{{ messages[0]|tojson }}",
                                R"({"messages": [{"role": "a", "reasoning": "r"}]})"),
            R"({"thinking": "r", "role": "a", "reasoning": "r", "reasoning_content": "r"})");
}

TEST(ChatTemplateVariables, KwargsBecomeVariables) {
  EXPECT_EQ(render_conversation("{{ enable_thinking }}{{ x }}{{ bos_token }}",
                                R"({"messages": [], "bos_token": "<s>",
                    "chat_template_kwargs": {"enable_thinking": false, "x": [1.0, 2]}})"),
            "False[1.0, 2]<s>");
}

TEST(ChatTemplateVariables, RefusesReservedNamesAndWrongFields) {
  for (const char* name : {"messages", "tools", "documents", "add_generation_prompt", "bos_token",
                           "eos_token", "tokenize", "chat_template"}) {
    std::string text =
        std::string(R"({"messages": [], "chat_template_kwargs": {")") + name + R"(": 1}})";
    EXPECT_THROW(variables_of(text.c_str()), Error) << name;
  }
  for (const char* text :
       {"[]", "{}", R"({"messages": 1})", R"({"messages": [1]})",
        R"({"messages": [], "tools": {}})", R"({"messages": [], "tools": ["x"]})",
        R"({"messages": [], "documents": 3})", R"({"messages": [], "nonsense": 1})",
        R"({"messages": [], "add_generation_prompt": "yes"})",
        R"({"messages": [], "chat_template_kwargs": []})", R"({"messages": [], "bos_token": 1})"})
    EXPECT_THROW(variables_of(text), Error) << text;
}

TEST(ChatTemplate, PrintsTheLocalTimeWithoutAFixedOne) {
  std::time_t seconds = std::time(nullptr);
  std::tm before{};
  localtime_r(&seconds, &before);
  std::string year = ChatTemplate("{{ strftime_now('%Y') }}").render({});
  EXPECT_NEAR(std::atoi(year.c_str()), before.tm_year + 1900, 1);
}

TEST(ChatTemplate, IsReusable) {
  ChatTemplate chat(
      "{% set ns = namespace(n=0) %}{% for i in x %}{% set ns.n = ns.n + i %}"
      "{% endfor %}{{ ns.n }}");
  JsonObject variables;
  variables.push_back("x", JsonArray{Json(1), Json(2)});
  EXPECT_EQ(chat.render(variables), "3");
  EXPECT_EQ(chat.render(variables), "3");
}

}  // namespace
}  // namespace crane
