// Runs the built program (CRANE_BINARY) the way a script does, and finds the models of the tests.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace crane::test {

struct Outcome {
  int code = -1;  // 128 + n for a signal
  std::string out, err;
  // The last line of stderr, without its end.
  std::string last_error_line() const {
    std::string text = err;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }
};

struct RunOptions {
  std::string input;                                           // what a pipe gives
  bool no_input = true;                                        // /dev/null instead of the pipe
  std::vector<std::pair<std::string, std::string>> variables;  // set in the environment
  std::string stdout_path;                                     // instead of a pipe
};

inline std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  close(descriptor);
  return text;
}

// The child's side: descriptors and environment in place, then the program.
[[noreturn]] inline void become_program(const std::vector<std::string>& arguments,
                                        const RunOptions& options, int in, int out, int err) {
  if (options.no_input) in = open("/dev/null", O_RDONLY);
  if (!options.stdout_path.empty()) out = open(options.stdout_path.c_str(), O_WRONLY);
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  for (int descriptor = 3; descriptor < 64; ++descriptor) close(descriptor);
  for (const auto& [name, value] : options.variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv{const_cast<char*>(CRANE_BINARY)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(CRANE_BINARY, argv.data());
  _exit(127);
}

inline Outcome run_crane(const std::vector<std::string>& arguments,
                         const RunOptions& options = {}) {
  int in[2], out[2], err[2];
  if (pipe(in) != 0 || pipe(out) != 0 || pipe(err) != 0) return {};
  pid_t child = fork();
  if (child == 0) become_program(arguments, options, in[0], out[1], err[1]);
  for (int descriptor : {in[0], out[1], err[1]}) close(descriptor);
  Outcome outcome;
  std::thread errors([&] { outcome.err = read_to_end(err[0]); });
  std::thread writer([&] {
    if (!options.no_input && write(in[1], options.input.data(), options.input.size()) < 0) return;
  });
  writer.join();
  close(in[1]);
  outcome.out = read_to_end(out[0]);
  errors.join();
  int status = 0;
  waitpid(child, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

// A model of tests/golden/models.
inline std::string golden(const std::string& name) {
  return std::string(CRANE_SOURCE_DIR "/tests/golden/models/") + name;
}

// The default model, where the README's first command or a person put it; empty when absent.
inline std::string default_model() {
  namespace fs = std::filesystem;
  const char* variable = std::getenv("CRANE_TEST_MODELS");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path base = cache && *cache ? fs::path(cache) : fs::path(home ? home : ".") / ".cache";
  std::vector<fs::path> folders = {base / "crane" / "models", base / "crane-test-models"};
  if (variable && *variable) folders.insert(folders.begin(), variable);
  for (const fs::path& folder : folders) {
    fs::path file = folder / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf";
    std::error_code ignored;
    if (fs::exists(file, ignored)) return file.string();
  }
  return "";
}

// A file with this text that goes away with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    std::string pattern = (std::filesystem::temp_directory_path() / "crane-test-XXXXXX").string();
    int descriptor = mkstemp(pattern.data());
    if (descriptor >= 0) close(descriptor);
    path_ = pattern;
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace crane::test
