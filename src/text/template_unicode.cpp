#include "text/template_unicode.h"

#include <algorithm>
#include <iterator>

#include "base/unicode.h"
#include "text/template_case_tables.h"

namespace crane::jinja {
namespace {

template <size_t N>
bool within(const CodeRange (&table)[N], char32_t c) {
  const CodeRange* after =
      std::upper_bound(std::begin(table), std::end(table), c,
                       [](char32_t code, const CodeRange& range) { return code < range.first; });
  return after != std::begin(table) && c <= std::prev(after)->last;
}

template <size_t N>
const char32_t* mapped(const CaseMapping (&table)[N], char32_t c) {
  const CaseMapping* found =
      std::lower_bound(std::begin(table), std::end(table), c,
                       [](const CaseMapping& row, char32_t code) { return row.from < code; });
  return found != std::end(table) && found->from == c ? found->to : nullptr;
}

std::string_view piece(std::string_view text, size_t begin, size_t end) {
  return text.substr(begin, end - begin);
}

void append_title(std::string& out, std::string_view character, char32_t c) {
  if (const char32_t* to = mapped(kTitleMapping, c)) {
    out += to_utf8(to);
  } else {
    out += to_upper(character);
  }
}

// Whether the capital sigma at [begin, end) is the last letter of its word. Unicode 3.13.
bool is_final_sigma(std::string_view text, size_t begin, size_t end) {
  bool after_cased = false;
  while (begin > 0 && !after_cased) {
    begin = previous_start(text, begin);
    size_t at = begin;
    char32_t c = next_code_point(text, at);
    if (within(kCaseIgnorable, c)) continue;
    if (!within(kCased, c)) return false;
    after_cased = true;
  }
  if (!after_cased) return false;
  while (end < text.size()) {
    char32_t c = next_code_point(text, end);
    if (!within(kCaseIgnorable, c)) return !within(kCased, c);
  }
  return true;
}

// Lower case of the code point at [begin, end) of a text.
void append_lower(std::string& out, std::string_view text, size_t begin, size_t end, char32_t c) {
  if (c == 0x3A3) {
    out += is_final_sigma(text, begin, end) ? "\u03c2" : "\u03c3";
  } else {
    out += to_lower(piece(text, begin, end));
  }
}

}  // namespace

bool is_space(char32_t c) { return (c >= 0x1C && c <= 0x1F) || is_white_space(c); }

bool is_line_break(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_printable(char32_t c) { return !within(kNotPrintable, c); }
bool is_decimal(char32_t c) { return within(kDecimal, c); }
bool is_digit(char32_t c) { return within(kDecimal, c) || within(kDigit, c); }
bool is_numeric(char32_t c) { return is_digit(c) || within(kNumeric, c); }
bool is_alpha(char32_t c) { return within(kAlpha, c); }
bool is_alnum(char32_t c) { return is_alpha(c) || is_numeric(c); }
bool is_lower(char32_t c) { return within(kLower, c); }
bool is_upper(char32_t c) { return within(kUpper, c); }
bool is_title(char32_t c) { return within(kTitle, c); }
bool is_cased(char32_t c) { return is_lower(c) || is_upper(c) || is_title(c); }

bool is_identifier_start(char32_t c) {
  return c == '_' || is_alpha(c) || (c >= 0x16EE && c <= 0x16F0) || (c >= 0x2160 && c <= 0x2188) ||
         c == 0x2118 || c == 0x212E || (c >= 0x3021 && c <= 0x3029);
}

bool is_identifier_part(char32_t c) {
  return is_identifier_start(c) || is_decimal(c) || within(kIdentifierPartOnly, c);
}

int decimal_value(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1;
  const CodeRange* after =
      std::upper_bound(std::begin(kDecimal), std::end(kDecimal), c,
                       [](char32_t code, const CodeRange& range) { return code < range.first; });
  if (after == std::begin(kDecimal) || c > std::prev(after)->last) return -1;
  return static_cast<int>((c - std::prev(after)->first) % 10);  // digits come in tens
}

size_t byte_offset(std::string_view text, size_t index) {
  size_t at = 0;
  while (at < text.size()) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && index-- == 0) return at;
    ++at;
  }
  return at;
}

char32_t next_code_point(std::string_view text, size_t& at) {
  unsigned char lead = static_cast<unsigned char>(text[at]);
  if (lead < 0x80) return static_cast<char32_t>(text[at++]);
  DecodedCodePoint decoded = decode_utf8(text, at);
  at += static_cast<size_t>(decoded.length);
  return decoded.code_point;
}

size_t previous_start(std::string_view text, size_t at) {
  do {
    --at;
  } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

std::string to_title(std::string_view text) {
  std::string out;
  bool inside_word = false;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = next_code_point(text, at);
    if (inside_word) {
      append_lower(out, text, begin, at, c);
    } else {
      append_title(out, piece(text, begin, at), c);
    }
    inside_word = is_cased(c);
  }
  return out;
}

std::string to_capitalized(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = next_code_point(text, at);
    if (begin == 0) {
      append_title(out, piece(text, begin, at), c);
    } else {
      append_lower(out, text, begin, at, c);
    }
  }
  return out;
}

std::string to_swapped_case(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = next_code_point(text, at);
    if (is_upper(c)) {
      append_lower(out, text, begin, at, c);
    } else if (is_lower(c)) {
      out += to_upper(piece(text, begin, at));
    } else {
      out += piece(text, begin, at);
    }
  }
  return out;
}

std::string to_casefolded(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t begin = at;
    char32_t c = next_code_point(text, at);
    if (const char32_t* to = mapped(kFoldMapping, c)) {
      out += to_utf8(to);
    } else {
      out += to_lower(piece(text, begin, at));
    }
  }
  return out;
}

}  // namespace crane::jinja
