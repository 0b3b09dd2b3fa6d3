// Small text helpers: concatenation for messages, shortest float printing, splitting.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace crane {

// Shortest decimal form that reads back to the same value; "nan", "inf", "-inf" where not finite.
std::string to_shortest(float value);
std::string to_shortest(double value);

inline void append_piece(std::string& out, std::string_view text) { out.append(text); }
inline void append_piece(std::string& out, char c) { out.push_back(c); }
template <class T>
requires std::is_arithmetic_v<T>
void append_piece(std::string& out, T value) {
  if constexpr (std::same_as<T, bool>) {
    out.append(value ? "true" : "false");
  } else if constexpr (std::is_floating_point_v<T>) {
    out.append(to_shortest(value));
  } else {
    out.append(std::to_string(value));
  }
}

// cat("tensor ", name, ": ", 3, " rows"): the pieces one after the other.
template <class... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string out;
  (append_piece(out, pieces), ...);
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string to_lower_ascii(std::string_view text);

// The candidate nearest to `word` by edit distance, or empty when none is near enough to suggest.
std::string nearest_match(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace crane
