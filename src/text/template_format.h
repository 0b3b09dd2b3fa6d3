// Pieces that both kinds of formatting share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crane::jinja {

std::string integer_digits(uint64_t value, int base, bool upper);
uint64_t magnitude(int64_t value);
std::string ascii_repr(std::string_view text);  // of a repr: what is not ASCII becomes escapes

}  // namespace crane::jinja
