#include "app/chat.h"

#include <utility>

#include "app/answer.h"
#include "app/chat_commands.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/strings.h"
#include "base/unicode.h"

namespace crane {
namespace {

constexpr const char* kPrompt = ">>> ";
constexpr const char* kMore = "... ";
constexpr const char* kQuotes = "\"\"\"";

std::string history_file(const Environment& environment) {
  std::optional<std::string> state = environment("XDG_STATE_HOME");
  if (state && !state->empty()) return *state + "/crane/chat_history";
  std::optional<std::string> home = environment("HOME");
  return home ? *home + "/.local/state/crane/chat_history" : "";
}

bool ends_with(const std::string& text, const char* suffix) {
  size_t length = std::char_traits<char>::length(suffix);
  return text.size() >= length && text.compare(text.size() - length, length, suffix) == 0;
}

}  // namespace

Chat::Chat(const Invocation& invocation, ModelBundle& bundle, TextGeneration& generation)
    : options_(invocation.options),
      environment_(invocation.environment),
      bundle_(bundle),
      generation_(generation),
      editor_(history_file(invocation.environment)) {}

int Chat::run(const std::optional<std::string>& first) {
  if (!first && !options_.quiet) write_notice("/help lists the commands, /bye leaves");
  if (first) {
    answer(*first);
    if (options_.single_turn) return 0;
  }
  ChatCommands commands(*this);
  for (;;) {
    std::optional<std::string> message = read_message();
    if (!message) return 0;
    if (message->empty()) continue;
    if (message->front() == '/') {
      if (commands.execute(*message) == ChatCommands::Next::leave) return 0;
      continue;
    }
    answer(*message);
    if (options_.single_turn) return 0;
  }
}

std::optional<std::string> Chat::read_message() {
  std::string line;
  switch (editor_.read(kPrompt, line)) {
    case LineEditor::Result::end:
      write_notice("");
      return std::nullopt;
    case LineEditor::Result::interrupted:
      if (line.empty()) return std::nullopt;
      return "";
    case LineEditor::Result::line:
      break;
  }
  if (line.empty()) return "";
  editor_.remember(line);
  if (line.compare(0, 3, kQuotes) == 0) return read_quoted(line.substr(3));
  return line;
}

// The rest of a text of several lines, up to the line that ends in """.
std::optional<std::string> Chat::read_quoted(std::string text) {
  while (!ends_with(text, kQuotes)) {
    std::string line;
    LineEditor::Result result = editor_.read(kMore, line);
    if (result == LineEditor::Result::end) return std::nullopt;
    if (result == LineEditor::Result::interrupted) return "";
    editor_.remember(line);
    text += (text.empty() ? "" : "\n") + line;
  }
  text.resize(text.size() - 3);
  if (ends_with(text, "\n")) text.pop_back();
  return text;
}

void Chat::answer(const std::string& message) {
  if (std::optional<size_t> at = find_invalid_utf8(message)) {
    write_notice(cat("the message is not UTF-8 at byte ", *at));
    return;
  }
  messages_.push_back(make_message("user", message));
  bool answered = false;
  try {
    InterruptScope interrupts;
    GenerationRequest request = make_request(options_, bundle_);
    request.prompt_ids = generation_.encode_chat(make_conversation(options_, messages_));
    int context = generation_.engine().context_length();
    if (static_cast<int>(request.prompt_ids.size()) >= context) {
      write_notice(cat("the conversation is ", request.prompt_ids.size(),
                       " tokens long and the context holds ", context,
                       ": this message was not answered; /clear starts a new conversation"));
    } else {
      GenerationResult result = stream_answer(generation_, request, interrupts);
      write_answer("\n");
      report_end(result, interrupts.interrupted());
      messages_.push_back(make_message("assistant", result.text));
      last_ = std::move(result);
      answered = true;
    }
  } catch (const Error& error) {
    write_notice(error.what());
  }
  if (!answered) messages_.pop_back();  // the next message starts from what was answered
}

void Chat::report_end(const GenerationResult& result, bool stopped) {
  if (stopped) write_notice("[stopped]");
  int used = result.prompt_tokens + static_cast<int>(result.ids.size());
  int context = generation_.engine().context_length();
  if (result.reason == FinishReason::length)
    write_notice(used >= context ? cat("[the context of ", context,
                                       " tokens is full: the answer ends here; /clear starts a new "
                                       "conversation]")
                                 : cat("[the answer was cut at ", result.ids.size(), " tokens]"));
  if (!options_.quiet) report_rates(result, bundle_.load_ms, options_.verbose);
}

int run_chat(const Invocation& invocation, ModelBundle& bundle, TextGeneration& generation,
             const std::optional<std::string>& first) {
  // What no message could change is said before the first one.
  generation.encode_chat(make_conversation(invocation.options, {make_message("user", "")}));
  ignore_interrupts();
  return Chat(invocation, bundle, generation).run(first);
}

}  // namespace crane
