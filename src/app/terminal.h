// Standard input, output and error of the program. Answers go to stdout, everything else to stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crane {

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();

// Writes all of it to stdout. Returns false when the reader is gone (a closed pipe); throws
// Error(io) when the output cannot be written.
bool write_answer(std::string_view text);

// One line on stderr.
void write_notice(std::string_view line);

// Everything that standard input gives.
std::string read_standard_input();

// Standard input as part of a prompt: nothing when it is a terminal or empty. With `optional`, a
// pipe that stays silent for five seconds is left alone, and a line says so, so that a program that
// inherited an open pipe does not hang.
std::optional<std::string> read_piped_input(bool optional);

// The text of `path`, or of standard input when it is "-".
std::string read_text_argument(const std::string& path);

// A bar on stderr when that is a terminal, else a line every 10 % and 10 s, whichever is later.
class Progress {
 public:
  explicit Progress(std::string stage, bool quiet);
  ~Progress();  // removes the bar
  void update(int64_t done, int64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  std::string stage_;
  bool quiet_, terminal_, drawn_ = false;
  int last_percent_ = 0;
  Clock::time_point start_, last_;
};

// "491.4 MB"
std::string format_bytes(int64_t bytes);
// A number with `digits` behind the point.
std::string format_fixed(double value, int digits);

}  // namespace crane
