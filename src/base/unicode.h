// UTF-8 and Unicode: decoding with the maximal-subpart rule, case, classes, normalization.
// The library (utf8proc) stays behind unicode.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crane {

struct DecodedCodePoint {
  char32_t code_point;  // U+FFFD where `valid` is false
  int length;           // bytes consumed: the maximal ill-formed part where not valid; never 0
  bool valid;
};

// Decodes the code point at text[at]; `at` must be inside the text.
DecodedCodePoint decode_utf8(std::string_view text, size_t at);
void append_utf8(std::string& out, char32_t code_point);

// Byte offset of the first ill-formed sequence, or nothing when the text is well-formed.
std::optional<size_t> find_invalid_utf8(std::string_view text);

// Each maximal ill-formed part becomes one U+FFFD (the rule of Python and Rust).
std::string replace_invalid_utf8(std::string_view text);

// Length of the longest prefix that does not end inside a code point which more bytes could
// complete; ill-formed bytes count as complete. What a streaming decoder may emit.
size_t complete_utf8_prefix(std::string_view text);

std::u32string to_code_points(std::string_view text);  // ill-formed parts become U+FFFD
std::string to_utf8(std::u32string_view code_points);

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::string normalize(std::string_view text, NormalForm form);

// The classes are those of the reference tokenizer, which lags behind Unicode in some of them:
// tools/make_unicode_tables.py.
bool is_white_space(char32_t c);      // Unicode White_Space, as Rust's char::is_whitespace
bool is_punctuation(char32_t c);      // general category P*, and every ASCII punctuation mark
bool is_control(char32_t c);          // Cc
bool is_other(char32_t c);            // C* that BERT's cleaning removes
bool is_nonspacing_mark(char32_t c);  // Mn
bool is_combining_mark(char32_t c);   // M*
bool is_letter(char32_t c);           // L*
bool is_number(char32_t c);           // N*
bool is_decimal_digit(char32_t c);    // Nd
bool is_word(char32_t c);             // \w of Rust's regex crate
int script_of(char32_t c);            // index of the script; 0 where none is known

std::string to_lower(std::string_view text);  // full mapping, as Python's str.lower
std::string to_upper(std::string_view text);
void append_lower(std::string& out, char32_t c);  // full mapping without context (no final sigma)

// Extended grapheme clusters, as views into `text`.
std::vector<std::string_view> split_graphemes(std::string_view text);

}  // namespace crane
