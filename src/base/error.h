// The one exception type of the library, and check() for broken promises inside the engine.
//
// Throw Error when the current request, load or start-up cannot go on; return a value for what is
// normal (end of text, no free block). Messages read `where: what was got, what was expected`.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace crane {

enum class ErrorCode {
  invalid_argument,  // the caller's input: a flag, a request field, a prompt
  not_found,         // a file, a model, a tensor
  unsupported,       // known, but not built: an architecture, a config option, a dtype
  out_of_memory,     // memory or K/V blocks
  io,                // a file that cannot be read or is malformed
  internal           // our own mistake
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

[[noreturn]] void throw_check_failed(const char* what, const char* file, int line);

// Throws Error(internal) with file and line, in every build. (clang 14 has no
// std::source_location; the builtins as default arguments give the caller's place.)
inline void check(bool condition, const char* what, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (!condition) [[unlikely]]
    throw_check_failed(what, file, line);
}

}  // namespace crane
