// Python's idea of characters (str methods of CPython 3.11), where base/unicode.h has no word for
// it.
#pragma once

#include <string>
#include <string_view>

namespace crane::jinja {

bool is_space(char32_t c);       // str.isspace, and \s of Python's regular expressions
bool is_line_break(char32_t c);  // where str.splitlines cuts
bool is_printable(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_alpha(char32_t c);
bool is_alnum(char32_t c);
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);  // Lt
bool is_cased(char32_t c);
bool is_identifier_start(char32_t c);
bool is_identifier_part(char32_t c);
int decimal_value(char32_t c);  // 0-9, or -1

std::string to_title(std::string_view text);        // str.title
std::string to_capitalized(std::string_view text);  // str.capitalize
std::string to_swapped_case(std::string_view text);
std::string to_casefolded(std::string_view text);

// Byte offset of code point `index`; text.size() when there are fewer.
size_t byte_offset(std::string_view text, size_t index);
// The decoder for text that is known to be well-formed; advances `at`.
char32_t next_code_point(std::string_view text, size_t& at);
// Start of the code point that ends before `at`.
size_t previous_start(std::string_view text, size_t at);

}  // namespace crane::jinja
