#include "app/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"

namespace crane {
namespace {

constexpr int kSilentMilliseconds = 5000;

// Waits until standard input has bytes or has ended; false when it stayed silent.
bool wait_for_input() {
  pollfd descriptor{STDIN_FILENO, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&descriptor, 1, kSilentMilliseconds);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

bool input_may_hold_text() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0) return false;  // closed
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISREG(status.st_mode);
}

}  // namespace

bool stdin_is_terminal() { return isatty(STDIN_FILENO) == 1; }
bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

bool write_answer(std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      return false;
    } else if (errno == EAGAIN) {  // a terminal that another program made non-blocking
      pollfd descriptor{STDOUT_FILENO, POLLOUT, 0};
      poll(&descriptor, 1, 1000);
    } else if (errno != EINTR) {
      throw Error(ErrorCode::io, cat("standard output: ", std::strerror(errno)));
    }
  }
  return true;
}

void write_notice(std::string_view line) {
  std::string text = cat(line, '\n');
  std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string read_standard_input() {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got > 0) {
      text.append(buffer.data(), static_cast<size_t>(got));
    } else if (errno != EINTR) {
      throw Error(ErrorCode::io, cat("standard input: ", std::strerror(errno)));
    }
  }
}

std::optional<std::string> read_piped_input(bool optional) {
  if (!input_may_hold_text()) return std::nullopt;
  if (optional && !wait_for_input()) {
    write_notice("standard input is a pipe that gave nothing for 5 s: going on without it");
    return std::nullopt;
  }
  std::string text = read_standard_input();
  if (text.empty()) return std::nullopt;
  return text;
}

std::string read_text_argument(const std::string& path) {
  return path == "-" ? read_standard_input() : read_text_file(path);
}

Progress::Progress(std::string stage, bool quiet)
    : stage_(std::move(stage)),
      quiet_(quiet),
      terminal_(stderr_is_terminal()),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::update(int64_t done, int64_t total) {
  if (quiet_ || total <= 0) return;
  int percent = static_cast<int>(done * 100 / total);
  auto now = Clock::now();
  double since_last = std::chrono::duration<double>(now - last_).count();
  bool due = terminal_ ? percent > last_percent_ && since_last > 0.05
                       : percent >= last_percent_ + 10 && since_last >= 10;
  if (!due) return;
  last_percent_ = percent;
  last_ = now;
  double seconds = std::chrono::duration<double>(now - start_).count();
  double rate = static_cast<double>(done) / seconds;
  std::string line = cat(stage_, " ", percent, " % of ", format_bytes(total), ", ",
                         format_bytes(static_cast<int64_t>(rate)), "/s, ",
                         format_fixed(static_cast<double>(total - done) / rate, 0), " s left");
  if (!terminal_) return write_notice(line);
  drawn_ = true;
  std::fputs(cat("\r\033[K", line).c_str(), stderr);
}

std::string format_fixed(double value, int digits) {
  std::array<char, 64> buffer;
  int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return std::string(buffer.data(), static_cast<size_t>(length));
}

std::string format_bytes(int64_t bytes) {
  double value = static_cast<double>(bytes);
  for (const char* unit : {" B", " kB", " MB"}) {
    if (value < 1000) return format_fixed(value, unit[1] == 'B' ? 0 : 1) + unit;
    value /= 1000;
  }
  return format_fixed(value, 2) + " GB";
}

}  // namespace crane
