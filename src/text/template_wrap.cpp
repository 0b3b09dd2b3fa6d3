// Python's textwrap.wrap for one line, as the wordwrap filter calls it.
// Reference: CPython's Lib/textwrap.py (3.11).
#include "base/unicode.h"
#include "text/template_filters.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

bool is_blank(char32_t c) { return (c >= 0x09 && c <= 0x0D) || c == ' '; }
bool is_word(char32_t c) { return c == '_' || is_alnum(c); }
bool is_letter(char32_t c) { return is_word(c) && !is_decimal(c); }  // [^\d\W]
bool is_word_punctuation(char32_t c) {
  return is_word(c) || c == '!' || c == '"' || c == '\'' || c == '&' || c == '.' || c == ',' ||
         c == '?';
}

class Wrapper {
 public:
  Wrapper(Runtime& runtime, std::u32string text) : runtime_(runtime), text_(std::move(text)) {}

  std::vector<std::u32string> chunks(bool break_hyphens) const {
    std::vector<std::u32string> found;
    for (size_t at = 0; at < text_.size();) {
      size_t end = break_hyphens ? chunk_end(at) : plain_end(at);
      found.push_back(text_.substr(at, end - at));
      at = end;
    }
    return found;
  }

 private:
  char32_t at(size_t index) const { return index < text_.size() ? text_[index] : 0; }
  bool blank(size_t index) const { return index < text_.size() && is_blank(text_[index]); }

  size_t plain_end(size_t begin) const {
    size_t end = begin + 1;
    while (end < text_.size() && is_blank(text_[end]) == is_blank(text_[begin])) ++end;
    return end;
  }

  // "--" and a word behind a word: a dash between words. Gives the end of the dashes, or 0.
  size_t dash_end(size_t begin) const {
    size_t end = begin;
    while (at(end) == '-') ++end;
    bool long_enough = end - begin >= 2 && end < text_.size() && is_word(text_[end]);
    return long_enough && begin > 0 && is_word_punctuation(text_[begin - 1]) ? end : 0;
  }

  // Whether a word may end behind the hyphen at `index`.
  bool hyphen_breaks(size_t index) const {
    bool two_letters = index >= 2 && is_letter(text_[index - 1]) && is_letter(text_[index - 2]);
    bool letter_hyphen = index >= 3 && is_word_punctuation(text_[index - 1]) &&
                         text_[index - 2] == '-' && is_letter(text_[index - 3]);
    if (!two_letters && !letter_hyphen) return false;
    if (index + 1 >= text_.size() || !is_letter(text_[index + 1])) return false;
    size_t next = index + 2;
    if (at(next) == '-') ++next;
    return next < text_.size() && is_letter(text_[next]);
  }

  size_t chunk_end(size_t begin) const {
    runtime_.step();
    if (blank(begin)) return plain_end(begin);
    if (size_t end = dash_end(begin)) return end;
    for (size_t end = begin + 1;; ++end) {
      if (end >= text_.size() || is_blank(text_[end])) return end;
      if (text_[end] == '-' && hyphen_breaks(end)) return end + 1;
      if (text_[end] == '-' && dash_end(end) != 0) return end;
    }
  }

  Runtime& runtime_;
  std::u32string text_;
};

bool all_blank(const std::u32string& text) {
  for (char32_t c : text)
    if (!is_space(c)) return false;
  return true;
}

// Takes the part of a word too long for any line that fits into `room`.
void take_part(std::vector<std::u32string>& chunks, std::u32string& line, size_t room,
               bool break_hyphens) {
  std::u32string& word = chunks.back();
  size_t end = room;
  if (break_hyphens && word.size() > room) {
    size_t hyphen = room == 0 ? std::u32string::npos : word.rfind(U'-', room - 1);
    bool others = false;
    for (size_t i = 0; hyphen != std::u32string::npos && i < hyphen; ++i)
      others = others || word[i] != '-';
    if (hyphen != std::u32string::npos && hyphen > 0 && others) end = hyphen + 1;
  }
  line += word.substr(0, end);
  word.erase(0, end);
}

}  // namespace

std::string wrap_text(Runtime& runtime, std::string_view text, int64_t width, bool break_long,
                      bool break_hyphens, std::string_view separator) {
  if (width <= 0) fail("invalid width " + std::to_string(width) + " (must be > 0)");
  runtime.copy_cost(64 * text.size());
  auto limit = static_cast<size_t>(width);
  std::vector<std::u32string> chunks = Wrapper(runtime, to_code_points(text)).chunks(break_hyphens);
  std::vector<std::u32string> rest(chunks.rbegin(), chunks.rend());
  std::string out;
  bool first = true;
  while (!rest.empty()) {
    runtime.step();
    std::u32string line;
    std::u32string last;  // the chunk that ends the line
    if (!first && all_blank(rest.back())) rest.pop_back();
    while (!rest.empty() && line.size() + rest.back().size() <= limit) {
      last = rest.back();
      line += last;
      rest.pop_back();
    }
    if (!rest.empty() && rest.back().size() > limit) {
      size_t before = line.size();
      if (break_long) {
        runtime.step(rest.back().size() / 16);
        take_part(rest, line, limit - before, break_hyphens);
        last = line.substr(before);
      } else if (line.empty()) {
        line = last = rest.back();
        rest.pop_back();
      }
    }
    if (!line.empty() && all_blank(last)) line.resize(line.size() - last.size());
    if (line.empty()) continue;
    if (!first) out += separator;
    first = false;
    out += to_utf8(line);
    runtime.check_size(out.size());
  }
  return out;
}

}  // namespace crane::jinja
