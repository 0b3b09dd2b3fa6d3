#include "base/regex_dialect.h"

#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "base/unicode.h"
#include "base/unicode_tables.h"

namespace crane {
namespace {

constexpr int kMaxDepth = 200;
constexpr std::string_view kSpace =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kNotSpace =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";
constexpr std::string_view kHexDigit = "0-9a-fA-F";
// Alphabetic symbols that are no letters: circled and squared Latin letters.
constexpr std::string_view kWordSymbols =
    R"(\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";

std::string hex(char32_t c) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  do {
    digits.insert(digits.begin(), kDigits[c & 15]);
    c >>= 4;
  } while (c != 0);
  return cat("\\x{", digits, "}");
}

// "\p{L}" and what Unicode has added to L since PCRE2's tables were made, as class items.
std::string category_items(std::string_view category) {
  std::string out = cat("\\p{", category, "}");
  for (size_t i = 0; i < kNewerCategoriesCount; ++i) {
    const NewerCategory& row = kNewerCategories[i];
    if (std::string_view(row.category).substr(0, category.size()) != category) continue;
    out += hex(row.first);
    if (row.last != row.first) out += cat("-", hex(row.last));
  }
  return out;
}

// Outside a class Oniguruma counts superscripts and fractions of Latin-1 as word characters as
// well.
constexpr std::string_view kBareWord = R"(\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";

std::string word_items() {
  return cat(category_items("L"), category_items("M"), category_items("Nd"), category_items("Nl"),
             category_items("Pc"), kWordSymbols);
}

// The general category of a property name ("Letter", "uppercase_letter", "lu"), or empty.
std::string_view general_category(std::string_view name) {
  static constexpr std::array<std::array<std::string_view, 2>, 37> kNames{{
      {"letter", "L"},
      {"uppercaseletter", "Lu"},
      {"lowercaseletter", "Ll"},
      {"titlecaseletter", "Lt"},
      {"modifierletter", "Lm"},
      {"otherletter", "Lo"},
      {"mark", "M"},
      {"nonspacingmark", "Mn"},
      {"spacingmark", "Mc"},
      {"enclosingmark", "Me"},
      {"combiningmark", "M"},
      {"number", "N"},
      {"decimalnumber", "Nd"},
      {"letternumber", "Nl"},
      {"othernumber", "No"},
      {"punctuation", "P"},
      {"connectorpunctuation", "Pc"},
      {"dashpunctuation", "Pd"},
      {"openpunctuation", "Ps"},
      {"closepunctuation", "Pe"},
      {"initialpunctuation", "Pi"},
      {"finalpunctuation", "Pf"},
      {"otherpunctuation", "Po"},
      {"symbol", "S"},
      {"mathsymbol", "Sm"},
      {"currencysymbol", "Sc"},
      {"modifiersymbol", "Sk"},
      {"othersymbol", "So"},
      {"separator", "Z"},
      {"spaceseparator", "Zs"},
      {"lineseparator", "Zl"},
      {"paragraphseparator", "Zp"},
      {"control", "Cc"},
      {"format", "Cf"},
      {"privateuse", "Co"},
      {"punct", "P"},
      {"digit", "Nd"},
  }};
  for (const auto& row : kNames)
    if (row[0] == name) return row[1];
  static constexpr std::string_view kShort =
      " L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Cc "
      "Cf Co ";
  for (size_t at = 1; at < kShort.size();) {
    const size_t end = kShort.find(' ', at);
    if (to_lower_ascii(kShort.substr(at, end - at)) == name) return kShort.substr(at, end - at);
    at = end + 1;
  }
  return {};
}

// A set of code points: class items of PCRE2, and sets that these cannot hold.
struct Set {
  bool negated = false;
  std::string items;
  std::vector<Set> others;     // united with the items
  std::vector<Set> intersect;  // then intersected with each of these
};

// One atom of PCRE2 that matches one code point of the set.
std::string to_atom(const Set& set) {
  std::string atom;
  if (set.others.empty()) {
    if (set.intersect.empty()) {
      if (set.items.empty()) return set.negated ? "(?s:.)" : "(?!)";
      return cat("[", set.negated ? "^" : "", set.items, "]");
    }
    atom = set.items.empty() ? "(?!)" : cat("[", set.items, "]");
  } else {
    atom = "(?:";
    if (!set.items.empty()) atom += cat("[", set.items, "]|");
    for (size_t i = 0; i < set.others.size(); ++i)
      atom += cat(i == 0 ? "" : "|", to_atom(set.others[i]));
    atom += ")";
  }
  if (!set.intersect.empty()) {
    std::string guard;
    for (const Set& other : set.intersect) guard += cat("(?=", to_atom(other), ")");
    atom = cat("(?:", guard, atom, ")");
  }
  return set.negated ? cat("(?:(?!", atom, ")(?s:.))") : atom;
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {
    if (find_invalid_utf8(pattern)) refuse("text that is not UTF-8");
  }

  std::string run() {
    while (at_ < pattern_.size()) step();
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(ErrorCode::unsupported, cat("regular expression ", pattern_, ": ", what,
                                            " at byte ", at_, " is not supported"));
  }
  bool has(std::string_view text) const { return pattern_.substr(at_, text.size()) == text; }
  char32_t take() {
    const DecodedCodePoint c = decode_utf8(pattern_, at_);
    at_ += static_cast<size_t>(c.length);
    return c.code_point;
  }
  void atom(std::string_view text) {
    atom_ = out_.size();
    out_ += text;
  }

  void step() {
    switch (pattern_[at_]) {
      case '\\':
        return escape();
      case '[':
        ++at_;
        return atom(to_atom(set(0)));
      case '(':
        return open();
      case ')':
        ++at_;
        if (!groups_.empty()) {
          atom_ = groups_.back();
          groups_.pop_back();
        }
        out_ += ')';
        return;
      case '{':
        return interval();
      case '*':
      case '+':
      case '?':
      case '|':
      case '^':
      case '$':
        out_ += pattern_[at_++];
        return;
      case '.':
        ++at_;
        return atom(".");
      default:
        return literal(take());
    }
  }

  void literal(char32_t c) {
    const bool plain = c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                       (c >= 'a' && c <= 'z') || c == ' ' || c == '\'' || c == '_' || c == '<' ||
                       c == '>';
    std::string text;
    if (plain)
      append_utf8(text, c);
    else
      text = hex(c);
    atom(text);
  }

  void open() {
    groups_.push_back(out_.size());
    if (groups_.size() > kMaxDepth) refuse("nesting this deep");
    if (!has("(?")) {
      ++at_;
      out_ += '(';
      return;
    }
    if (has("(?#")) {
      groups_.pop_back();
      const size_t end = pattern_.find(')', at_);
      at_ = end == std::string_view::npos ? pattern_.size() : end + 1;
      return;
    }
    for (const std::string_view head : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?<"}) {
      if (!has(head)) continue;
      out_ += head;
      at_ += head.size();
      return;
    }
    at_ += 2;
    std::string flags;
    for (; at_ < pattern_.size() && pattern_[at_] != ')' && pattern_[at_] != ':'; ++at_) {
      const char flag = pattern_[at_];
      if (flag != 'i' && flag != 'm' && flag != '-') refuse(cat("group option ", flag));
      flags += flag == 'm' ? 's' : flag;
    }
    if (at_ == pattern_.size()) refuse("an open group option");
    out_ += cat("(?", flags, pattern_[at_]);
    if (pattern_[at_++] == ')') groups_.pop_back();
  }

  // {n,m}: a literal brace where it is no interval. Here a plus after it repeats the whole.
  void interval() {
    size_t end = at_ + 1;
    const auto number = [&] {
      const size_t begin = end;
      while (end < pattern_.size() && pattern_[end] >= '0' && pattern_[end] <= '9') ++end;
      return std::string(pattern_.substr(begin, end - begin));
    };
    const std::string low = number();
    const bool comma = end < pattern_.size() && pattern_[end] == ',';
    if (comma) ++end;
    const std::string high = comma ? number() : low;
    if (end >= pattern_.size() || pattern_[end] != '}' || (low.empty() && high.empty())) {
      ++at_;
      return atom("\\{");
    }
    at_ = end + 1;
    out_ += cat("{", low.empty() ? "0" : low, comma ? "," : "", comma ? high : "", "}");
    const bool plus = at_ < pattern_.size() && pattern_[at_] == '+';
    const bool fixed_question = !comma && at_ < pattern_.size() && pattern_[at_] == '?';
    if (plus || fixed_question) {
      out_.insert(atom_, "(?:");
      out_ += ")";
    }
  }

  void escape() {
    ++at_;
    if (at_ == pattern_.size()) refuse("a backslash at the end");
    const char c = pattern_[at_];
    if (std::optional<Set> set = class_escape()) {
      if (c == 'w' || c == 'W') set->items += kBareWord;
      return atom(to_atom(*set));
    }
    switch (c) {
      case 'b':
      case 'B': {
        ++at_;
        const std::string word = cat("[", word_items(), kBareWord, "]");
        out_ += c == 'b' ? cat("(?:(?<=", word, ")(?!", word, ")|(?<!", word, ")(?=", word, "))")
                         : cat("(?:(?<=", word, ")(?=", word, ")|(?<!", word, ")(?!", word, "))");
        return;
      }
      case 'A':
      case 'z':
      case 'Z':
      case 'G':
      case 'K':
        ++at_;
        out_ += cat("\\", c);
        return;
      case 'R':
      case 'X':
        ++at_;
        return atom(cat("\\", c));
      case 'k':
      case 'g': {
        const size_t end = pattern_.find('>', at_);
        if (c == 'g' || at_ + 1 >= pattern_.size() || pattern_[at_ + 1] != '<' ||
            end == std::string_view::npos)
          refuse(cat("\\", c));
        const std::string_view name = pattern_.substr(at_, end + 1 - at_);
        at_ = end + 1;
        return atom(cat("\\", name));
      }
      default:
        break;
    }
    if (c >= '1' && c <= '9') {
      std::string digits;
      while (at_ < pattern_.size() && pattern_[at_] >= '0' && pattern_[at_] <= '9')
        digits += pattern_[at_++];
      return atom(cat("\\g{", digits, "}"));
    }
    literal(escaped_code_point());
  }

  // The code point that an escape stands for; at_ is behind the backslash.
  char32_t escaped_code_point() {
    const char32_t c = take();
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'a':
        return '\a';
      case 'e':
        return 0x1B;
      case '0':
        return number_in(8, 2);
      case 'u':
        return number_in(16, 4);
      case 'x':
        if (at_ < pattern_.size() && pattern_[at_] == '{') {
          ++at_;
          const char32_t value = number_in(16, 8);
          if (at_ == pattern_.size() || pattern_[at_++] != '}') refuse("an open \\x{");
          return value;
        }
        return number_in(16, 2);
      default:
        break;
    }
    if (c == 'N' || c == 'O' || c == 'y' || c == 'Y' || c == 'c' || c == 'C' || c == 'M')
      refuse(cat("\\", static_cast<char>(c)));
    return c;
  }

  char32_t number_in(unsigned base, int max_digits) {
    char32_t value = 0;
    for (int i = 0; i < max_digits && at_ < pattern_.size(); ++i) {
      const char c = pattern_[at_];
      unsigned digit = 99;
      if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
      if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
      if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
      if (digit >= base) break;
      value = value * base + digit;
      ++at_;
    }
    if (value > 0x10FFFF) refuse("a code point beyond U+10FFFF");
    return value;
  }

  // A set escape (\d \s \w \h, upper case negated, \p{…}), at_ on its letter; else nothing.
  std::optional<Set> class_escape() {
    const char c = pattern_[at_];
    Set set;
    switch (c) {
      case 'd':
      case 'D':
        set.items = category_items("Nd");
        break;
      case 's':
      case 'S':
        ++at_;
        set.items = c == 's' ? kSpace : kNotSpace;
        return set;
      case 'w':
      case 'W':
        set.items = word_items();
        break;
      case 'h':
      case 'H':
        set.items = kHexDigit;
        break;
      case 'p':
      case 'P':
        return property();
      default:
        return std::nullopt;
    }
    ++at_;
    set.negated = c < 'a';
    return set;
  }

  Set property() {
    Set set;
    set.negated = pattern_[at_] == 'P';
    ++at_;
    if (!has("{")) refuse("\\p without braces");
    const size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) refuse("an open \\p{");
    std::string_view name = pattern_.substr(at_ + 1, end - at_ - 1);
    if (!name.empty() && name[0] == '^') {
      set.negated = !set.negated;
      name.remove_prefix(1);
    }
    set.items = property_items(name);
    at_ = end + 1;
    return set;
  }

  std::string property_items(std::string_view name) const {
    std::string simple;
    for (const char c : name)
      if (c != ' ' && c != '_' && c != '-') simple += c;
    simple = to_lower_ascii(simple);
    if (const std::string_view category = general_category(simple); !category.empty())
      return category_items(category);
    if (simple == "space" || simple == "whitespace") return std::string(kSpace);
    for (size_t i = 1; i < kScriptNameCount; ++i)
      if (to_lower_ascii(kScriptNames[i]) == simple) return script_items(kScriptNames[i]);
    refuse(cat("property ", name));
  }

  static std::string script_items(std::string_view script) {
    std::string out = cat("\\p{sc:", script, "}");
    if (script == "Han") out += R"(\x{2b739}\x{2ebf0}-\x{2ee5d}\x{31350}-\x{323af})";
    return out;
  }

  // [:name:] inside a class; nothing where it is no such bracket.
  std::optional<Set> posix_bracket() {
    const size_t end = pattern_.find(":]", at_);
    if (!has("[:") || end == std::string_view::npos) return std::nullopt;
    std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    if (name.find_first_not_of("^abcdefghijklmnopqrstuvwxyz") != std::string_view::npos)
      return std::nullopt;
    Set set;
    if (!name.empty() && name[0] == '^') {
      set.negated = true;
      name.remove_prefix(1);
    }
    if (name == "digit")
      set.items = category_items("Nd");
    else if (name == "space")
      set.items = kSpace;
    else if (name == "word")
      set.items = word_items();
    else if (name == "xdigit")
      set.items = kHexDigit;
    else if (name == "punct")
      set.items = cat(category_items("P"), category_items("S"));
    else if (name == "cntrl")
      set.items = "\\p{Cc}";
    else if (name == "blank")
      set.items = cat("\\x{9}", category_items("Zs"));
    else
      refuse(cat("[:", name, ":]"));
    at_ = end + 2;
    return set;
  }

  static void unite(Set& into, Set other) {
    if (!other.negated && other.others.empty() && other.intersect.empty())
      into.items += other.items;
    else
      into.others.push_back(std::move(other));
  }

  // A class, at_ behind its opening bracket.
  Set set(int depth) {
    if (depth > kMaxDepth) refuse("nesting this deep");
    Set whole;
    bool negated = false;
    if (has("^")) {
      negated = true;
      ++at_;
    }
    bool first = true;
    std::vector<Set> operands;
    for (;; first = false) {
      if (at_ >= pattern_.size()) refuse("an open class");
      if (has("]") && !first) break;
      if (has("&&")) {
        at_ += 2;
        operands.push_back(std::move(whole));
        whole = Set();
        continue;
      }
      if (std::optional<Set> posix = posix_bracket()) {
        unite(whole, std::move(*posix));
        continue;
      }
      if (has("[")) {
        ++at_;
        unite(whole, set(depth + 1));
        continue;
      }
      member(whole);
    }
    ++at_;
    if (!operands.empty()) whole.intersect = std::move(operands);
    if (negated) whole.negated = true;
    return whole;
  }

  // One code point, range or class escape.
  void member(Set& whole) {
    if (has("\\")) {
      ++at_;
      if (at_ == pattern_.size()) refuse("a backslash at the end");
      if (std::optional<Set> escaped = class_escape()) return unite(whole, std::move(*escaped));
    }
    const char32_t low = member_code_point();
    whole.items += hex(low);
    if (!has("-") || at_ + 1 >= pattern_.size() || pattern_[at_ + 1] == ']') return;
    const size_t dash = at_++;
    if (has("[")) {
      at_ = dash;
      return;
    }
    if (has("\\")) {
      ++at_;
      if (at_ < pattern_.size() && std::strchr("dDsSwWhHpP", pattern_[at_]) != nullptr) {
        at_ = dash;  // [a-\d]: the dash is a member, as in Ruby
        whole.items += hex('-');
        ++at_;
        return;
      }
      whole.items += cat("-", hex(member_code_point()));
      return;
    }
    whole.items += cat("-", hex(take()));
  }

  // at_ is behind a backslash where there was one.
  char32_t member_code_point() {
    if (at_ == 0 || pattern_[at_ - 1] != '\\') return take();
    if (pattern_[at_] == 'b') {
      ++at_;
      return '\b';
    }
    return escaped_code_point();
  }

  std::string_view pattern_;
  size_t at_ = 0;
  std::string out_;
  size_t atom_ = 0;             // where in out_ the last atom begins
  std::vector<size_t> groups_;  // where in out_ the open groups begin
};

}  // namespace

std::string translate_oniguruma(std::string_view pattern) { return Translator(pattern).run(); }

}  // namespace crane
