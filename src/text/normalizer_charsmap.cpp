#include "text/normalizer_charsmap.h"

#include <cstring>

#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

// Fields of a unit of the double array (darts-clone).
constexpr bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
constexpr uint32_t value_of(uint32_t unit) { return unit & 0x7FFFFFFF; }
constexpr uint32_t label_of(uint32_t unit) { return unit & (1u << 31 | 0xFF); }
constexpr uint32_t offset_of(uint32_t unit) { return unit >> 10 << ((unit & 1u << 9) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view blob) {
  const auto fail = [](std::string_view what) {
    throw Error(ErrorCode::io, cat("precompiled_charsmap: ", what));
  };
  uint32_t bytes = 0;
  if (blob.size() < sizeof(bytes)) fail(cat(blob.size(), " bytes, expected at least 4"));
  std::memcpy(&bytes, blob.data(), sizeof(bytes));
  blob.remove_prefix(sizeof(bytes));
  if (bytes > blob.size() || bytes % 4 != 0 || bytes == 0)
    fail(cat("a trie of ", bytes, " bytes in ", blob.size()));
  units_.resize(bytes / 4);
  std::memcpy(units_.data(), blob.data(), bytes);
  replacements_ = blob.substr(bytes);
  if (!replacements_.empty() && replacements_.back() != '\0') fail("the last rule has no end");
}

std::optional<Charsmap::Match> Charsmap::find(std::string_view text, bool shortest) const {
  std::optional<Match> best;
  size_t node = offset_of(units_[0]);
  for (size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units_.size() || label_of(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    if (node >= units_.size()) break;
    const size_t begin = value_of(units_[node]);
    if (begin >= replacements_.size()) break;
    best = Match{i + 1, std::string_view(replacements_.data() + begin)};
    if (shortest) break;
  }
  return best;
}

std::string decode_base64(std::string_view text, std::string_view where) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string out;
  out.reserve(text.size() * 3 / 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) throw Error(ErrorCode::io, cat(where, ": not base64"));
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  return out;
}

}  // namespace crane
