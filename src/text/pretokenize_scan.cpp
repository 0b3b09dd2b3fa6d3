#include "text/pretokenize_scan.h"

#include <array>
#include <vector>

#include "base/unicode.h"

namespace crane {
namespace {

bool is_digit(char32_t c);

// Calls run(begin of each digit and the end of the last one, next code point or 0) for every
// maximal run of digits.
template <class IsDigit, class Run>
void visit_runs(std::string_view text, const IsDigit& is_in_run, const Run& run) {
  std::vector<size_t> offsets;
  for (size_t at = 0; at <= text.size();) {
    const bool end = at == text.size();
    const DecodedCodePoint c = end ? DecodedCodePoint{0, 1, true} : decode_utf8(text, at);
    if (!end && is_in_run(c.code_point)) {
      offsets.push_back(at);
    } else if (!offsets.empty()) {
      offsets.push_back(at);
      run(offsets, c.code_point);
      offsets.clear();
    }
    at += static_cast<size_t>(c.length);
  }
}

// Groups of three counted from the right, the first one shorter.
void group_from_right(const std::vector<size_t>& offsets, const VisitMatch& found) {
  const size_t count = offsets.size() - 1;
  for (size_t i = 0; i < count;) {
    const size_t length = i == 0 && count % 3 != 0 ? count % 3 : 3;
    found(offsets[i], offsets[i + length]);
    i += length;
  }
}

// \d{1,3}(?=(?:\d{3})*\b): nothing in a run that a letter follows.
void scan_thousands(std::string_view text, const VisitMatch& found) {
  visit_runs(text, is_digit, [&](const std::vector<size_t>& offsets, char32_t next) {
    const bool joiner = next == 0x200C || next == 0x200D;  // not in Oniguruma's \w
    if (joiner || !is_word(next)) group_from_right(offsets, found);
  });
}

// (?=(\d{3})+(?!\d)): the empty places before groups of three counted from the right.
void scan_thousand_gaps(std::string_view text, const VisitMatch& found) {
  visit_runs(text, is_digit, [&](const std::vector<size_t>& offsets, char32_t) {
    const size_t count = offsets.size() - 1;
    for (size_t i = count % 3; i < count; i += 3) found(offsets[i], offsets[i]);
  });
}

// llama.cpp's name for: numbers in groups of three counted from the right.
void scan_number_groups(std::string_view text, const VisitMatch& found) {
  visit_runs(text, is_number, [&](const std::vector<size_t>& offsets, char32_t) {
    group_from_right(offsets, found);
  });
}

bool is_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return is_decimal_digit(c);
}

struct NamedScanner {
  std::string_view pattern;
  Scanner scanner;
};

constexpr std::array kScanners{
    NamedScanner{R"(\d{1,3}(?=(?:\d{3})*\b))", &scan_thousands},
    NamedScanner{R"((?=(\d{3})+(?!\d)))", &scan_thousand_gaps},
    NamedScanner{R"(\p{AFMoE_digits})", &scan_number_groups},
};

}  // namespace

Scanner find_scanner(std::string_view pattern) {
  for (const NamedScanner& row : kScanners)
    if (row.pattern == pattern) return row.scanner;
  return nullptr;
}

}  // namespace crane
