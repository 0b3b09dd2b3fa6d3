#include "base/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "base/strings.h"
#include "base/unicode_tables.h"

namespace crane {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// First byte -> number of bytes, and the allowed range of the second byte (Unicode table 3-7).
struct LeadByte {
  int length;
  unsigned char low, high;
};

LeadByte classify_lead(unsigned char lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xC2) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// Bytes of the well-formed beginning at `at`, and how many the lead byte asks for (0: bad lead).
struct Progress {
  int have, want;
};

Progress measure(std::string_view text, size_t at) {
  const LeadByte lead = classify_lead(static_cast<unsigned char>(text[at]));
  int have = 1;
  while (have < lead.length && at + static_cast<size_t>(have) < text.size()) {
    const auto byte = static_cast<unsigned char>(text[at + static_cast<size_t>(have)]);
    const unsigned char low = have == 1 ? lead.low : 0x80;
    const unsigned char high = have == 1 ? lead.high : 0xBF;
    if (byte < low || byte > high) break;
    ++have;
  }
  return {have, lead.length};
}

bool in_table(const CodePointRange* table, size_t count, char32_t c) {
  const CodePointRange* at = std::upper_bound(
      table, table + count, c,
      [](char32_t value, const CodePointRange& range) { return value < range.first; });
  return at != table && c <= (at - 1)->last;
}

bool is_opaque(char32_t c) { return in_table(kNormalizationOpaque, kNormalizationOpaqueCount, c); }

utf8proc_option_t options_of(NormalForm form) {
  int options = UTF8PROC_STABLE;
  options |=
      form == NormalForm::nfc || form == NormalForm::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::nfkc || form == NormalForm::nfkd) options |= UTF8PROC_COMPAT;
  return static_cast<utf8proc_option_t>(options);
}

void append_normalized(std::string& out, std::string_view part, utf8proc_option_t options) {
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(part.data()),
                   static_cast<utf8proc_ssize_t>(part.size()), &result, options);
  std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> guard(result, &std::free);
  if (length < 0)
    throw Error(ErrorCode::invalid_argument,
                cat("Unicode normalization: ", utf8proc_errmsg(length)));
  out.append(reinterpret_cast<const char*>(result), static_cast<size_t>(length));
}

void append_case(std::string& out, char32_t c, const CaseException* exceptions, size_t count,
                 utf8proc_int32_t (*simple)(utf8proc_int32_t)) {
  const CaseException* at =
      std::lower_bound(exceptions, exceptions + count, c,
                       [](const CaseException& row, char32_t value) { return row.from < value; });
  if (at == exceptions + count || at->from != c) {
    append_utf8(out, static_cast<char32_t>(simple(static_cast<utf8proc_int32_t>(c))));
    return;
  }
  for (const char32_t to : at->to)
    if (to != 0) append_utf8(out, to);
}

std::string_view newer_category(char32_t c) {
  for (size_t i = 0; i < kNewerCategoriesCount; ++i)
    if (c >= kNewerCategories[i].first && c <= kNewerCategories[i].last)
      return kNewerCategories[i].category;
  return {};
}

bool is_cased(char32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT || (c >= 0x24B6 && c <= 0x24E9) ||
         (c >= 0x2160 && c <= 0x217F);
}

bool is_case_ignorable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return c == '\'' || c == '.' || c == ':' || c == 0xB7 || c == 0x387 || c == 0x2018 ||
             c == 0x2019 || c == 0x2024 || c == 0x2027;
  }
}

// Unicode's Final_Sigma: a cased letter before it and none after it, case-ignorables skipped.
bool is_final_sigma(std::string_view text, size_t begin, size_t end) {
  bool cased_before = false;
  for (size_t at = begin; at > 0;) {
    do {
      --at;
    } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
    const char32_t c = decode_utf8(text, at).code_point;
    if (is_case_ignorable(c)) continue;
    cased_before = is_cased(c);
    break;
  }
  if (!cased_before) return false;
  for (size_t at = end; at < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, at);
    if (!is_case_ignorable(decoded.code_point)) return !is_cased(decoded.code_point);
    at += static_cast<size_t>(decoded.length);
  }
  return true;
}

}  // namespace

DecodedCodePoint decode_utf8(std::string_view text, size_t at) {
  const auto byte = [&](int i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at + static_cast<size_t>(i)]));
  };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const Progress progress = measure(text, at);
  if (progress.have != progress.want) return {kReplacement, progress.have, false};
  switch (progress.want) {
    case 2:
      return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2, true};
    case 3:
      return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3, true};
    default:
      return {
          (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
          4, true};
  }
}

void append_utf8(std::string& out, char32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = kReplacement;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Progress progress = measure(text, at);
    if (progress.have != progress.want) return at;
    at += static_cast<size_t>(progress.have);
  }
  return std::nullopt;
}

std::string replace_invalid_utf8(std::string_view text) {
  const std::optional<size_t> first = find_invalid_utf8(text);
  if (!first) return std::string(text);
  std::string out(text.substr(0, *first));
  for (size_t at = *first; at < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, at);
    if (decoded.valid)
      out.append(text, at, static_cast<size_t>(decoded.length));
    else
      append_utf8(out, kReplacement);
    at += static_cast<size_t>(decoded.length);
  }
  return out;
}

size_t complete_utf8_prefix(std::string_view text) {
  // Only the last three bytes can begin a code point that is still open.
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const size_t at = text.size() - back;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;
    const Progress progress = measure(text, at);
    const bool open = progress.want > progress.have && static_cast<size_t>(progress.have) == back;
    return open ? at : text.size();
  }
  return text.size();
}

std::u32string to_code_points(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, at);
    out += decoded.code_point;
    at += static_cast<size_t>(decoded.length);
  }
  return out;
}

std::string to_utf8(std::u32string_view code_points) {
  std::string out;
  out.reserve(code_points.size());
  for (const char32_t c : code_points) append_utf8(out, c);
  return out;
}

std::string normalize(std::string_view text, NormalForm form) {
  // Below this no code point changes, and none combines with what stands before it.
  const char32_t first_affected = form == NormalForm::nfc   ? 0x300
                                  : form == NormalForm::nfd ? 0xC0
                                                            : 0xA0;
  const utf8proc_option_t options = options_of(form);
  const auto is_plain = [&](const DecodedCodePoint& c) {
    return c.code_point < first_affected || !c.valid || is_opaque(c.code_point);
  };
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  size_t plain = 0;               // begin of the part to copy as it is
  std::optional<size_t> starter;  // its last code point, where a mark may combine with that
  for (size_t at = 0; at < text.size();) {
    DecodedCodePoint c = decode_utf8(text, at);
    if (is_plain(c)) {
      starter = c.code_point < first_affected ? std::optional(at) : std::nullopt;
      at += static_cast<size_t>(c.length);
      continue;
    }
    const size_t begin = starter.value_or(at);
    do {
      at += static_cast<size_t>(c.length);
    } while (at < text.size() && !is_plain(c = decode_utf8(text, at)));
    out.append(text, plain, begin - plain);
    append_normalized(out, text.substr(begin, at - begin), options);
    plain = at;
    starter.reset();
  }
  out.append(text, plain);
  return out;
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_punctuation(char32_t c) { return in_table(kPunctuation, kPunctuationCount, c); }
bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }
bool is_other(char32_t c) { return in_table(kOther, kOtherCount, c); }
bool is_nonspacing_mark(char32_t c) {
  return c >= 0x300 && in_table(kNonspacingMark, kNonspacingMarkCount, c);
}
bool is_combining_mark(char32_t c) {
  return c >= 0x300 && in_table(kCombiningMark, kCombiningMarkCount, c);
}
bool is_letter(char32_t c) { return in_table(kLetter, kLetterCount, c); }
bool is_number(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return in_table(kNumber, kNumberCount, c);
}
bool is_decimal_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return is_number(c) &&
         (utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND ||
          newer_category(c) == "Nd");
}
bool is_word(char32_t c) {
  if (c < 0x80)
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z');
  return in_table(kWord, kWordCount, c);
}

int script_of(char32_t c) {
  const ScriptRange* end = kScripts + kScriptCount;
  const ScriptRange* at = std::upper_bound(
      kScripts, end, c,
      [](char32_t value, const ScriptRange& range) { return value < range.first; });
  return at != kScripts && c <= (at - 1)->last ? (at - 1)->script : 0;
}

void append_lower(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return;
  }
  append_case(out, c, kLowerExceptions, kLowerExceptionsCount, &utf8proc_tolower);
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, at);
    const size_t after = at + static_cast<size_t>(decoded.length);
    if (decoded.code_point == 0x3A3 && is_final_sigma(text, at, after))
      append_utf8(out, 0x3C2);
    else
      append_lower(out, decoded.code_point);
    at = after;
  }
  return out;
}

std::string to_upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, at);
    append_case(out, decoded.code_point, kUpperExceptions, kUpperExceptionsCount,
                &utf8proc_toupper);
    at += static_cast<size_t>(decoded.length);
  }
  return out;
}

std::vector<std::string_view> split_graphemes(std::string_view text) {
  std::vector<std::string_view> out;
  utf8proc_int32_t state = 0;
  size_t begin = 0;
  char32_t previous = 0;
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, at);
    if (at > 0 && utf8proc_grapheme_break_stateful(
                      static_cast<utf8proc_int32_t>(previous),
                      static_cast<utf8proc_int32_t>(decoded.code_point), &state)) {
      out.push_back(text.substr(begin, at - begin));
      begin = at;
    }
    previous = decoded.code_point;
    at += static_cast<size_t>(decoded.length);
  }
  if (begin < text.size()) out.push_back(text.substr(begin));
  return out;
}

}  // namespace crane
