#include "text/template_lexer.h"

#include <cerrno>
#include <cstdlib>

#include "base/strings.h"
#include "base/unicode.h"
#include "text/template_runtime.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

// All line ends become "\n"; one at the very end is dropped.
std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out.push_back(source[i]);
      continue;
    }
    out.push_back('\n');
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)), text_(source_) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) lex_data();
    push(TokenKind::end, text_.size(), "");
    return std::move(tokens_);
  }

 private:
  // --- places
  Position position_of(size_t offset) {
    // Offsets only grow, except for a message, so that the scan goes on from the last place.
    if (offset < counted_) {
      counted_ = 0;
      position_ = Position();
    }
    for (; counted_ < offset; ++counted_) {
      unsigned char c = static_cast<unsigned char>(text_[counted_]);
      if (c == '\n') {
        ++position_.line;
        position_.column = 1;
      } else if ((c & 0xC0) != 0x80) {
        ++position_.column;
      }
    }
    return position_;
  }
  [[noreturn]] void error(const std::string& message, size_t offset) {
    throw SyntaxError(message, position_of(offset));
  }
  Token& push(TokenKind kind, size_t offset, std::string_view text) {
    Token token;
    token.kind = kind;
    token.position = position_of(offset);
    token.text = std::string(text);
    tokens_.push_back(std::move(token));
    return tokens_.back();
  }
  bool looking_at(std::string_view text) const { return text_.substr(at_, text.size()) == text; }
  void skip_space() {
    while (at_ < text_.size()) {
      size_t next = at_;
      if (!is_space(next_code_point(text_, next))) return;
      at_ = next;
    }
  }

  // --- template data up to the next tag
  void lex_data() {
    size_t begin = at_;
    size_t open = begin;
    for (;; ++open) {
      open = text_.find('{', open);
      if (open == std::string_view::npos || open + 1 >= text_.size()) {
        push(TokenKind::data, begin, text_.substr(begin));
        at_ = text_.size();
        return;
      }
      char mark = text_[open + 1];
      if (mark == '{' || mark == '%' || mark == '#') break;
    }
    char mark = text_[open + 1];
    at_ = open + 2;
    char sign = at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+') ? text_[at_] : 0;
    push_data(begin, open, sign, mark == '{');
    if (sign != 0) ++at_;
    if (mark == '#') {
      lex_comment(open);
    } else if (mark == '{') {
      push(TokenKind::variable_begin, open, "");
      lex_tag("}}", TokenKind::variable_end);
    } else if (!lex_raw(open)) {
      push(TokenKind::block_begin, open, "");
      lex_tag("%}", TokenKind::block_end);
    }
    line_starting_ = text_[at_ - 1] == '\n';
  }

  void push_data(size_t begin, size_t end, char sign, bool variable) {
    std::string_view data = text_.substr(begin, end - begin);
    if (sign == '-') {
      while (!data.empty()) {
        size_t last = previous_start(data, data.size());
        size_t at = last;
        if (!is_space(next_code_point(data, at))) break;
        data = data.substr(0, last);
      }
    } else if (sign != '+' && !variable) {
      data = strip_line_start(data);
    }
    if (!data.empty()) push(TokenKind::data, begin, data);
  }

  // lstrip_blocks: what stands before a tag on its line goes when it is blank.
  std::string_view strip_line_start(std::string_view data) const {
    size_t line = data.rfind('\n');
    line = line == std::string_view::npos ? 0 : line + 1;
    if (line == 0 && !line_starting_) return data;
    for (size_t at = line; at < data.size();)
      if (!is_space(next_code_point(data, at))) return data;
    return data.substr(0, line);
  }

  // The end of a block tag: `-%}` eats all white space, `%}` one newline, `+%}` nothing.
  bool lex_end(std::string_view end, bool plus_allowed, bool trim) {
    size_t start = at_;
    char sign = at_ < text_.size() ? text_[at_] : 0;
    if (sign == '-' || (sign == '+' && plus_allowed)) ++at_;
    if (!looking_at(end)) {
      at_ = start;
      return false;
    }
    bool signless = at_ == start;
    at_ += end.size();
    if (sign == '-' && !signless) skip_space();
    if (signless && trim && looking_at("\n")) ++at_;
    return true;
  }

  void lex_comment(size_t open) {
    for (size_t hash = at_;; ++hash) {
      hash = text_.find("#}", hash);
      if (hash == std::string_view::npos) error("Missing end of comment tag", open);
      at_ = hash > at_ && (text_[hash - 1] == '-' || text_[hash - 1] == '+') ? hash - 1 : hash;
      lex_end("#}", true, true);
      return;
    }
  }

  // {% raw %} … {% endraw %}
  bool lex_raw(size_t open) {
    size_t back = at_;
    skip_space();
    if (!looking_at("raw")) return at_ = back, false;
    at_ += 3;
    skip_space();
    if (!lex_end("%}", false, false)) return at_ = back, false;
    size_t begin = at_;
    for (size_t tag = begin;; ++tag) {
      tag = text_.find("{%", tag);
      if (tag == std::string_view::npos) error("Missing end of raw directive", open);
      at_ = tag + 2;
      char sign = at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+') ? text_[at_] : 0;
      if (sign != 0) ++at_;
      skip_space();
      if (!looking_at("endraw")) continue;
      at_ += 6;
      skip_space();
      if (!lex_end("%}", true, true)) continue;
      line_starting_ = begin > 0 && text_[begin - 1] == '\n';
      push_data(begin, tag, sign, false);
      return true;
    }
  }

  // --- inside a tag
  void lex_tag(std::string_view end, TokenKind end_kind) {
    brackets_.clear();
    for (;;) {
      size_t start = at_;
      bool block = end_kind == TokenKind::block_end;
      if (brackets_.empty() && lex_end(end, block, block)) {
        push(end_kind, start, "");
        return;
      }
      skip_space();
      if (at_ != start) continue;
      if (at_ >= text_.size()) {
        // jinja2 runs out of tokens here and lets the parser complain.
        return;
      }
      lex_token();
    }
  }

  void lex_token() {
    size_t start = at_;
    char c = text_[at_];
    if (is_digit_char(c) && (lex_float() || lex_integer())) return;
    size_t next = at_;
    char32_t code = next_code_point(text_, next);
    if (code == '_' || is_alnum(code) || is_identifier_part(code)) return lex_name();
    if (c == '\'' || c == '"') return lex_string();
    static constexpr std::string_view kSymbols[] = {"//", "**", "==", "!=", ">=", "<="};
    size_t length = 0;
    for (std::string_view symbol : kSymbols)
      if (looking_at(symbol)) length = 2;
    if (length == 0 && std::string_view("+-/*%~[](){}><=.:|,;").find(c) != std::string_view::npos)
      length = 1;
    if (length == 0)
      error(cat("unexpected char ", quote(text_.substr(start, next - start))), start);
    std::string_view symbol = text_.substr(start, length);
    balance(symbol[0], start);
    at_ += length;
    push(TokenKind::symbol, start, symbol);
  }

  void balance(char symbol, size_t start) {
    if (symbol == '{') brackets_.push_back('}');
    if (symbol == '(') brackets_.push_back(')');
    if (symbol == '[') brackets_.push_back(']');
    if (symbol != '}' && symbol != ')' && symbol != ']') return;
    if (brackets_.empty()) error(cat("unexpected '", symbol, "'"), start);
    char expected = brackets_.back();
    brackets_.pop_back();
    if (expected != symbol)
      error(cat("unexpected '", symbol, "', expected '", expected, "'"), start);
  }

  void lex_name() {
    size_t start = at_;
    bool valid = true;
    while (at_ < text_.size()) {
      size_t next = at_;
      char32_t code = next_code_point(text_, next);
      bool part = is_identifier_part(code);
      if (!part && !is_alnum(code)) break;
      valid = valid && part && (at_ != start || is_identifier_start(code));
      at_ = next;
    }
    if (!valid) error("Invalid character in identifier", start);
    push(TokenKind::name, start, text_.substr(start, at_ - start));
  }

  // Digits with single underscores between them; gives the end, or `from` when there are none.
  size_t digits_end(size_t from) const {
    size_t at = from;
    while (at < text_.size() && is_digit_char(text_[at])) {
      ++at;
      if (at + 1 < text_.size() && text_[at] == '_' && is_digit_char(text_[at + 1])) ++at;
    }
    return at;
  }

  bool lex_float() {
    size_t start = at_;
    if (start > 0 && text_[start - 1] == '.') return false;
    size_t end = digits_end(start);
    bool is_float = false;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit_char(text_[end + 1])) {
      end = digits_end(end + 1);
      is_float = true;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t digits = end + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      size_t exponent_end = digits_end(digits);
      if (exponent_end != digits) {
        end = exponent_end;
        is_float = true;
      }
    }
    if (!is_float) return false;
    std::string digits;
    for (char c : text_.substr(start, end - start))
      if (c != '_') digits.push_back(c);
    at_ = end;
    push(TokenKind::number, start, digits).value =
        Value::number(std::strtod(digits.c_str(), nullptr));
    return true;
  }

  static int digit_value(char c) {
    if (is_digit_char(c)) return c - '0';
    char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
  }

  bool lex_integer() {
    size_t start = at_;
    int base = 10;
    size_t at = start;
    char mark = at + 1 < text_.size() ? static_cast<char>(text_[at + 1] | 0x20) : ' ';
    if (text_[at] == '0' && (mark == 'b' || mark == 'o' || mark == 'x')) {
      base = mark == 'b' ? 2 : mark == 'o' ? 8 : 16;
      size_t first = at + 2;
      if (first < text_.size() && text_[first] == '_') ++first;
      if (first < text_.size() && digit_value(text_[first]) < base) {
        at = first;
      } else {
        base = 10;
      }
    }
    bool zeros = base == 10 && text_[at] == '0';  // "007" is two numbers, which then fails
    std::string digits;
    while (at < text_.size()) {
      char c = text_[at];
      bool underscore = c == '_' && !digits.empty() && at + 1 < text_.size();
      if (underscore) c = text_[at + 1];
      if (digit_value(c) >= base || (zeros && c != '0')) break;
      digits.push_back(c);
      at += underscore ? 2 : 1;
    }
    errno = 0;
    long long value = std::strtoll(digits.c_str(), nullptr, base);
    if (errno == ERANGE) error(cat("integer ", digits, " is outside of 64 bits"), start);
    at_ = at;
    push(TokenKind::integer, start, digits).value = Value::integer(value);
    return true;
  }

  void lex_string() {
    size_t start = at_;
    char quote_mark = text_[at_];
    size_t at = start + 1;
    while (at < text_.size() && text_[at] != quote_mark) at += text_[at] == '\\' ? 2 : 1;
    if (at >= text_.size())
      error(cat("unexpected char ", quote(std::string(1, quote_mark))), start);
    std::string value = unescape(text_.substr(start + 1, at - start - 1), start);
    at_ = at + 1;
    push(TokenKind::string, start, value);
  }

  // Python's "unicode-escape" codec, after non-ASCII characters became escapes themselves.
  std::string unescape(std::string_view raw, size_t start) {
    std::string out;
    for (size_t at = 0; at < raw.size();) {
      if (raw[at] != '\\') {
        out.push_back(raw[at++]);
        continue;
      }
      if (++at >= raw.size()) error("\\ at end of string", start);
      size_t begin = at;
      char32_t code = next_code_point(raw, at);
      if (code >= 0x80) {
        // "\é" is read as an escaped backslash and the plain text of é's own escape.
        out += escape_name(code);
      } else {
        at = unescape_one(raw, begin, out, start);
      }
    }
    return out;
  }

  static std::string escape_name(char32_t code) {
    static constexpr char kHex[] = "0123456789abcdef";
    int width = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
    std::string out(1, '\\');
    out.push_back(width == 2 ? 'x' : width == 4 ? 'u' : 'U');
    for (int shift = 4 * (width - 1); shift >= 0; shift -= 4)
      out.push_back(kHex[(code >> shift) & 15]);
    return out;
  }

  size_t unescape_one(std::string_view raw, size_t at, std::string& out, size_t start) {
    static constexpr std::string_view kFrom = "abfnrtv\\'\"";
    static constexpr std::string_view kTo = "\a\b\f\n\r\t\v\\'\"";
    char c = raw[at++];
    if (c == '\n') return at;  // a line that goes on
    size_t known = kFrom.find(c);
    if (known != std::string_view::npos) {
      out.push_back(kTo[known]);
      return at;
    }
    int width = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (width > 0) return unescape_hex(raw, at, width, out, start);
    if (c == 'N') error("\\N{...} in a string is not supported", start);
    if (c >= '0' && c <= '7') {
      char32_t code = static_cast<char32_t>(c - '0');
      for (int i = 0; i < 2 && at < raw.size() && raw[at] >= '0' && raw[at] <= '7'; ++i)
        code = code * 8 + static_cast<char32_t>(raw[at++] - '0');
      append_utf8(out, code);
      return at;
    }
    out.push_back('\\');
    out.push_back(c);
    return at;
  }

  size_t unescape_hex(std::string_view raw, size_t at, int width, std::string& out, size_t start) {
    uint64_t code = 0;
    for (int i = 0; i < width; ++i, ++at) {
      int digit = at < raw.size() ? digit_value(raw[at]) : 99;
      if (digit >= 16)
        error(cat("truncated ",
                  width == 2   ? "\\xXX"
                  : width == 4 ? "\\uXXXX"
                               : "\\UXXXXXXXX",
                  " escape"),
              start);
      code = code * 16 + static_cast<uint64_t>(digit);
    }
    if (code > 0x10FFFF) error("illegal Unicode character", start);
    if (code >= 0xD800 && code < 0xE000)
      error("a surrogate code point in a string is not supported", start);
    append_utf8(out, static_cast<char32_t>(code));
    return at;
  }

  std::string source_;
  std::string_view text_;
  size_t at_ = 0;
  size_t counted_ = 0;
  Position position_;
  bool line_starting_ = true;
  std::vector<char> brackets_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::data:
      return "template data / text";
    case TokenKind::variable_begin:
      return "begin of print statement";
    case TokenKind::variable_end:
      return "end of print statement";
    case TokenKind::block_begin:
      return "begin of statement block";
    case TokenKind::block_end:
      return "end of statement block";
    case TokenKind::string:
      return "string";
    case TokenKind::integer:
      return "integer";
    case TokenKind::number:
      return "float";
    case TokenKind::name:
    case TokenKind::symbol:
      return token.text;
    case TokenKind::end:
      break;
  }
  return "end of template";
}

}  // namespace crane::jinja
