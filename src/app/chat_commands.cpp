#include "app/chat_commands.h"

#include <algorithm>
#include <utility>

#include "app/answer.h"
#include "app/chat.h"
#include "app/terminal.h"
#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

constexpr const char* kHelp =
    "/bye, /exit              leave (also Ctrl-D)\n"
    "/clear                   forget the conversation\n"
    "/history                 show the conversation\n"
    "/set parameter NAME X    temperature, top_k, top_p, min_p, seed, num_predict, stop, ...\n"
    "/set system TEXT         a system message; without TEXT: none\n"
    "/set verbose, /set quiet all figures after an answer, or none\n"
    "/show                    info, parameters, system, template\n"
    "/stats                   tokens and cache of the last answer\n"
    "\"\"\"                      begins and ends a message of several lines\n"
    "Ctrl-C                   stops the answer; at an empty prompt it leaves";

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::string_view part : split(line, ' '))
    if (!part.empty()) words.emplace_back(part);
  return words;
}

// What stands behind the first `count` words, as it was typed.
std::string after_words(const std::string& line, int count) {
  size_t at = 0;
  for (int i = 0; i < count && at != std::string::npos; ++i) {
    at = line.find_first_not_of(' ', at);
    if (at != std::string::npos) at = line.find(' ', at);
  }
  if (at != std::string::npos) at = line.find_first_not_of(' ', at);
  return at == std::string::npos ? "" : line.substr(at);
}

}  // namespace

ChatCommands::Next ChatCommands::execute(const std::string& line) {
  std::vector<std::string> words = words_of(line);
  const std::string& command = words.front();
  if (command == "/bye" || command == "/exit") return Next::leave;
  if (command == "/help" || command == "/?") {
    write_notice(kHelp);
  } else if (command == "/clear") {
    chat_.messages_.clear();
    chat_.last_.reset();
    write_notice("the conversation is empty now");
  } else if (command == "/history") {
    history();
  } else if (command == "/stats") {
    stats();
  } else if (command == "/show") {
    show(words.size() > 1 ? words[1] : "info");
  } else if (command == "/set") {
    set(words, line);
  } else {
    std::string nearest = nearest_match(
        command, {"/bye", "/exit", "/clear", "/history", "/stats", "/show", "/set", "/help"});
    write_notice(cat("unknown command ", command,
                     nearest.empty() ? "" : cat("; did you mean ", nearest, "?"),
                     " (/help lists them)"));
  }
  return Next::ask;
}

void ChatCommands::set(const std::vector<std::string>& words, const std::string& line) {
  const std::string what = words.size() > 1 ? words[1] : "";
  if (what == "verbose" || what == "quiet") {
    chat_.options_.verbose = what == "verbose";
    chat_.options_.quiet = what == "quiet";
  } else if (what == "system") {
    std::string text = after_words(line, 2);
    chat_.options_.system_prompt = text.empty() ? std::nullopt : std::optional(text);
  } else if (what == "parameter" && words.size() > 3) {
    set_parameter(words[2], after_words(line, 3));
  } else {
    write_notice("/set parameter NAME X, /set system TEXT, /set verbose or /set quiet");
  }
}

// A parameter is a flag of `run`, written as there or as Ollama writes it.
void ChatCommands::set_parameter(const std::string& name, const std::string& value) {
  std::string flag = "--" + name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  if (flag == "--num-predict") flag = "--predict";
  try {
    Options changed = parse_options(
        kRun, {flag, value}, [](const std::string&) { return std::optional<std::string>(); });
    Options& options = chat_.options_;
    bool limits = flag == "--predict" || flag == "--max-new-tokens";
    if (changed.sampling.empty() && changed.stop_strings.empty() && !limits)
      return write_notice(cat(name, " cannot be changed in a chat"));
    options.sampling.insert(options.sampling.end(), changed.sampling.begin(),
                            changed.sampling.end());
    options.stop_strings.insert(options.stop_strings.end(), changed.stop_strings.begin(),
                                changed.stop_strings.end());
    if (limits) options.max_tokens = changed.max_tokens;
  } catch (const Error& error) {
    write_notice(error.what());
  }
}

void ChatCommands::show(const std::string& what) {
  const TextBundle& text = chat_.bundle_.text;
  if (what == "info") {
    write_notice(cat("model    ", text.checkpoint.path()));
    write_notice(cat("device   ", chat_.bundle_.device->backend().description()));
    write_notice(cat("context  ", chat_.generation_.engine().context_length(), " tokens"));
  } else if (what == "parameters") {
    show_parameters();
  } else if (what == "system") {
    write_notice(chat_.options_.system_prompt.value_or("no system message"));
  } else if (what == "template") {
    write_notice(chat_.options_.chat_template.empty() ? text.checkpoint.chat_template_text()
                                                      : chat_.options_.chat_template);
  } else {
    write_notice("/show info, /show parameters, /show system or /show template");
  }
}

void ChatCommands::show_parameters() {
  const GenerationRequest request = make_request(chat_.options_, chat_.bundle_);
  const SamplingParams& params = request.sampling;
  write_notice(cat("temperature     ", params.temperature));
  write_notice(cat("top_k           ", params.top_k));
  write_notice(cat("top_p           ", params.top_p));
  write_notice(cat("min_p           ", params.min_p));
  write_notice(cat("repeat_penalty  ", params.repeat_penalty));
  write_notice(cat("seed            ", params.seed ? std::to_string(*params.seed) : "random"));
  write_notice(cat("num_predict     ", request.max_tokens));
  for (const std::string& stop : request.stop_strings)
    write_notice(cat("stop            ", json_quote(stop)));
}

void ChatCommands::history() {
  if (chat_.options_.system_prompt) write_notice(cat("system: ", *chat_.options_.system_prompt));
  for (const Json& message : chat_.messages_)
    write_notice(cat(message.get<std::string>("role"), ": ", message.get<std::string>("content")));
  if (chat_.messages_.empty()) write_notice("the conversation is empty");
}

void ChatCommands::stats() {
  EngineStats stats = chat_.generation_.engine().stats();
  int context = chat_.generation_.engine().context_length();
  if (chat_.last_) {
    const GenerationResult& last = *chat_.last_;
    int used = last.prompt_tokens + static_cast<int>(last.ids.size());
    write_notice(cat("last answer   ", last.prompt_tokens, " prompt tokens, ", last.cached_tokens,
                     " of them cached; ", last.ids.size(), " generated"));
    write_notice(cat("context       ", used, " of ", context, " tokens"));
    report_rates(last, chat_.bundle_.load_ms, false);
  } else {
    write_notice(cat("context       0 of ", context, " tokens"));
  }
  write_notice(cat("K/V blocks    ", stats.blocks_total, ", ", stats.blocks_free, " free, ",
                   stats.blocks_cached, " cached"));
}

}  // namespace crane
