#include "text/tokenizer_bytes.h"

#include <array>

#include "base/unicode.h"

namespace crane {
namespace {

struct Alphabet {
  std::array<char16_t, 256> code_points{};
  std::array<int16_t, 0x144> bytes{};  // -1 outside the alphabet
};

// Printable bytes stand for themselves, the others for U+0100, U+0101, … in order.
constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (auto& byte : alphabet.bytes) byte = -1;
  char16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    const char16_t c = printable ? static_cast<char16_t>(byte) : next++;
    alphabet.code_points[byte] = c;
    alphabet.bytes[c] = static_cast<int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

void append_byte_alphabet(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) {
    const char16_t c = kAlphabet.code_points[static_cast<unsigned char>(byte)];
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else {
      out += static_cast<char>(0xC0 | c >> 6);
      out += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint c = decode_utf8(text, at);
    if (c.code_point >= kAlphabet.bytes.size() || kAlphabet.bytes[c.code_point] < 0)
      return std::nullopt;
    out += static_cast<char>(kAlphabet.bytes[c.code_point]);
    at += static_cast<size_t>(c.length);
  }
  return out;
}

std::optional<char> byte_of_token(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>') return std::nullopt;
  int value = 0;
  for (const char c : token.substr(3, 2)) {
    if (c >= '0' && c <= '9')
      value = value * 16 + (c - '0');
    else if (c >= 'A' && c <= 'F')
      value = value * 16 + (c - 'A' + 10);
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + (c - 'a' + 10);
    else
      return std::nullopt;
  }
  return static_cast<char>(value);
}

}  // namespace crane
