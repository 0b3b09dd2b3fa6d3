// LineEditor: one line from the terminal with editing, history and Ctrl-C; libedit stays behind it.
#pragma once

#include <memory>
#include <string>

namespace crane {

class LineEditor {
 public:
  enum class Result { line, interrupted, end };

  // Reads and writes history at `history_path`; empty: history of this run only.
  explicit LineEditor(std::string history_path);
  ~LineEditor();

  // The line without its end. `interrupted`: Ctrl-C, what was typed is dropped, and `line` says
  // what that was. `end`: Ctrl-D at the start of a line, or the terminal is gone.
  Result read(const std::string& prompt, std::string& line);
  void remember(const std::string& line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace crane
