#include "io/json_file.h"

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"

namespace crane {

Json parse_file_json(std::string_view text, std::string_view where, int max_depth) {
  try {
    return Json::parse(text, where, max_depth);
  } catch (const Error& error) {
    throw Error(ErrorCode::io, error.what());
  }
}

Json read_json_file(const std::string& path, size_t limit) {
  return parse_file_json(read_text_file(path, limit), path);
}

}  // namespace crane
