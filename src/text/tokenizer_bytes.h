// GPT-2's byte alphabet: each byte as one printable code point, so that any bytes can be a token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace crane {

// Appends each byte of `bytes` as its code point.
void append_byte_alphabet(std::string& out, std::string_view bytes);

// The bytes that `text` spells; nothing when a code point is outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

// The byte of a SentencePiece byte token, "<0x0A>"; nothing for another text.
std::optional<char> byte_of_token(std::string_view text);

}  // namespace crane
