#include "base/error.h"

#include "base/strings.h"

namespace crane {

void throw_check_failed(const char* what, const char* file, int line) {
  std::string_view path(file);
  if (size_t at = path.rfind("src/"); at != std::string_view::npos) path.remove_prefix(at + 4);
  throw Error(ErrorCode::internal, cat(path, ":", line, ": ", what));
}

}  // namespace crane
