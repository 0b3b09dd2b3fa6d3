// Reading of the JSON files that stand beside weights.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace crane {

// Json::parse with the error code of a bad file. `where` begins every message.
Json parse_file_json(std::string_view text, std::string_view where, int max_depth = 64);

// A file of at most `limit` bytes. Throws Error(not_found) or Error(io) naming the path.
Json read_json_file(const std::string& path, size_t limit);

}  // namespace crane
