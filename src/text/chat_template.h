// ChatTemplate: turns a conversation into the text of a prompt, as jinja2 does under transformers'
// settings (sandbox, trim_blocks, lstrip_blocks, loop controls, {% generation %}).
//
// A template is code from a stranger: it can make text and nothing else, within fixed budgets of
// steps, memory, output and nesting. docs/text.md lists what the language covers.
// Reference: transformers/utils/chat_template_utils.py (5.24) and jinja2 3.1.
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace crane {

// Thrown by render() when the template calls raise_exception; text() is its message as it stands.
class ChatTemplateException : public Error {
 public:
  ChatTemplateException(const std::string& message, std::string text)
      : Error(ErrorCode::invalid_argument, message), text_(std::move(text)) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct ChatTemplateOptions {
  std::optional<std::tm> now;  // what strftime_now prints; absent: the local time
};

namespace jinja {
struct Template;
}

// Parsed once, immutable, safe to share between threads.
class ChatTemplate {
 public:
  // Throws Error(invalid_argument) `chat template: line L, column C: …` on a syntax error, an
  // unknown tag, filter or test, or text that is not UTF-8.
  explicit ChatTemplate(std::string_view source);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

  // `variables`: messages, tools, documents, add_generation_prompt, bos_token, eos_token and
  // whatever else the template may read. Throws Error(invalid_argument) as above.
  std::string render(const JsonObject& variables, const ChatTemplateOptions& options = {}) const;

 private:
  std::unique_ptr<const jinja::Template> tree_;
};

// The variables for a conversation {messages, tools?, documents?, add_generation_prompt?,
// chat_template_kwargs?, bos_token?, eos_token?}, as transformers prepares them: message keys
// whose value is null are dropped, `tools` and `documents` are none when absent, and reasoning
// under one of its names (reasoning_content, thinking, reasoning) is given under the others that
// templates read. Throws Error(invalid_argument) naming a field of the wrong kind, an unknown
// field, or a reserved name among the chat_template_kwargs.
JsonObject chat_template_variables(const Json& conversation);

}  // namespace crane
