// Hand-written scanners for patterns that PCRE2 would match in more than linear time, or that are
// so common that their speed counts. Each gives exactly what its pattern gives.
#pragma once

#include <functional>
#include <string_view>

namespace crane {

using VisitMatch = std::function<void(size_t begin, size_t end)>;

// Visits every match in `text` in turn.
using Scanner = void (*)(std::string_view text, const VisitMatch& found);

// The scanner of a pattern, or null.
Scanner find_scanner(std::string_view pattern);

}  // namespace crane
