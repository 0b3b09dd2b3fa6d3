#include "text/chat_template.h"

#include <algorithm>

#include "base/strings.h"
#include "base/unicode.h"
#include "text/template_interpreter.h"

namespace crane {
namespace {

std::string at_place(const jinja::Position& position, const std::string& message) {
  return cat("chat template: line ", position.line, ", column ", position.column, ": ", message);
}

jinja::Value make_text(const std::string& text) {
  return jinja::make_constant(find_invalid_utf8(text) ? replace_invalid_utf8(text) : text);
}

// The depth of a Json value is limited by its parser; a value built by code is trusted as far.
jinja::Value to_value(const Json& json) {
  using jinja::Kind;
  using jinja::Value;
  switch (json.kind()) {
    case Json::Kind::null:
      return Value::none();
    case Json::Kind::boolean:
      return Value::boolean(json.as_bool());
    case Json::Kind::integer:
      return Value::integer(json.as_integer());
    case Json::Kind::number:
      return Value::number(json.as_number());
    case Json::Kind::string:
      return make_text(json.as_string());
    case Json::Kind::array: {
      auto list = std::make_unique<jinja::ListObject>();
      for (const Json& item : json.as_array()) {
        list->items.push_back(to_value(item));
        list->nesting = std::max(list->nesting, 1 + jinja::nesting_of(list->items.back()));
      }
      return Value::object(Kind::list, list.release());
    }
    case Json::Kind::object:
      break;
  }
  auto dict = std::make_unique<jinja::DictObject>();
  for (const auto& [key, value] : json.as_object())
    dict->append_new(make_text(key), to_value(value));
  return Value::object(Kind::dict, dict.release());
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, "conversation: " + message);
}

constexpr const char* kReasoningKeys[] = {"reasoning_content", "thinking", "reasoning"};

// A message without its null members, and with its reasoning under the names templates read.
Json prepare_message(const Json& message, size_t index) {
  if (!message.is_object()) refuse(cat("messages[", index, "] is no object"));
  JsonObject kept;
  for (const auto& [key, value] : message.as_object())
    if (!value.is_null()) kept.push_back(key, value);
  const Json* reasoning = nullptr;
  for (const char* key : kReasoningKeys)
    if (reasoning == nullptr) reasoning = kept.find(key);
  if (reasoning == nullptr) return kept;
  JsonObject result;
  const Json* thinking = kept.find("thinking");
  result.push_back("thinking", thinking != nullptr ? *thinking : *reasoning);
  for (const auto& [key, value] : kept)
    if (key != "thinking") result.push_back(key, value);
  result["reasoning_content"] = *reasoning;
  return result;
}

// `tools` or `documents`: an array of objects, or none.
Json list_of_objects(const Json& value, const char* name) {
  if (value.is_null()) return value;
  if (!value.is_array()) refuse(cat(name, " is ", value.kind_name(), ", expected an array"));
  for (const Json& item : value.as_array())
    if (!item.is_object()) refuse(cat(name, " holds ", item.kind_name(), ", expected objects"));
  return value;
}

void add_kwargs(const Json& kwargs, JsonObject& variables) {
  static constexpr std::string_view kReserved[] = {"messages",
                                                   "tools",
                                                   "documents",
                                                   "add_generation_prompt",
                                                   "bos_token",
                                                   "eos_token",
                                                   "tokenize",
                                                   "chat_template",
                                                   "conversation",
                                                   "conversations",
                                                   "continue_final_message",
                                                   "return_assistant_tokens_mask"};
  if (kwargs.is_null()) return;
  if (!kwargs.is_object())
    refuse(cat("chat_template_kwargs is ", kwargs.kind_name(), ", expected an object"));
  for (const auto& [key, value] : kwargs.as_object()) {
    if (std::find(std::begin(kReserved), std::end(kReserved), key) != std::end(kReserved))
      refuse(cat("chat_template_kwargs may not set the reserved name '", key, "'"));
    variables.push_back(key, value);
  }
}

}  // namespace

ChatTemplate::ChatTemplate(std::string_view source) {
  if (auto at = find_invalid_utf8(source))
    throw Error(ErrorCode::invalid_argument, cat("chat template: not UTF-8 at byte ", *at));
  try {
    tree_ = jinja::parse_template(source);
  } catch (const jinja::SyntaxError& error) {
    throw Error(ErrorCode::invalid_argument, at_place(error.position, error.what()));
  }
}

ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

std::string ChatTemplate::render(const JsonObject& variables,
                                 const ChatTemplateOptions& options) const {
  jinja::Interpreter::Variables values;
  for (const auto& [name, value] : variables) values[name] = to_value(value);
  try {
    return jinja::Interpreter(*tree_, jinja::Limits(), options.now, std::move(values)).render();
  } catch (const jinja::RenderError& error) {
    std::string message = at_place(error.position, error.what());
    if (error.raised) throw ChatTemplateException(message, error.what());
    throw Error(ErrorCode::invalid_argument, message);
  }
}

JsonObject chat_template_variables(const Json& conversation) {
  static constexpr std::string_view kKnown[] = {
      "messages",  "tools",    "documents", "add_generation_prompt", "chat_template_kwargs",
      "bos_token", "eos_token"};
  if (!conversation.is_object())
    refuse(cat("got ", conversation.kind_name(), ", expected an object"));
  for (const auto& [key, value] : conversation.as_object())
    if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown))
      refuse(cat("unknown field '", key, "'"));
  if (!conversation["messages"].is_array()) refuse("messages is missing, expected an array");
  JsonObject variables;
  JsonArray messages;
  for (const Json& message : conversation["messages"].as_array())
    messages.push_back(prepare_message(message, messages.size()));
  variables.push_back("messages", std::move(messages));
  variables.push_back("tools", list_of_objects(conversation["tools"], "tools"));
  variables.push_back("documents", list_of_objects(conversation["documents"], "documents"));
  variables.push_back("add_generation_prompt",
                      conversation.get<bool>("add_generation_prompt", false));
  for (const char* token : {"bos_token", "eos_token"})
    if (conversation.contains(token))
      variables.push_back(token, conversation.get<std::string>(token));
  add_kwargs(conversation["chat_template_kwargs"], variables);
  return variables;
}

}  // namespace crane
