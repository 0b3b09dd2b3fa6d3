// A chat in the terminal: history, /commands, answers that Ctrl-C stops.
#pragma once

#include <optional>
#include <string>

#include "app/line_editor.h"
#include "app/verbs.h"
#include "pipelines/text_generation.h"

namespace crane {

class Chat {
 public:
  Chat(const Invocation& invocation, ModelBundle& bundle, TextGeneration& generation);

  // Asks and answers until the user leaves. `first` is answered before anything is asked.
  int run(const std::optional<std::string>& first);

 private:
  friend class ChatCommands;

  std::optional<std::string> read_message();  // nothing: leave
  std::optional<std::string> read_quoted(std::string text);
  void answer(const std::string& message);
  void report_end(const GenerationResult& result, bool stopped);

  Options options_;
  Environment environment_;
  ModelBundle& bundle_;
  TextGeneration& generation_;
  LineEditor editor_;
  JsonArray messages_;  // without the system message
  std::optional<GenerationResult> last_;
};

int run_chat(const Invocation& invocation, ModelBundle& bundle, TextGeneration& generation,
             const std::optional<std::string>& first);

}  // namespace crane
