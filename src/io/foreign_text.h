// Names that come from files, made safe to stand in an error message.
#pragma once

#include <string>
#include <string_view>

namespace crane {

// `text` on one line: bytes outside printable ASCII as \xNN, cut after `limit` bytes.
std::string printable(std::string_view text, size_t limit = 80);

}  // namespace crane
