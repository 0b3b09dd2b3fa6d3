// Arithmetic on integers that come from files or the network: the one place that checks overflow.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/strings.h"

namespace crane {

inline uint64_t checked_multiply(uint64_t a, uint64_t b, std::string_view where) {
  uint64_t result;
  if (__builtin_mul_overflow(a, b, &result))
    throw Error(ErrorCode::io, cat(where, ": size overflow, ", a, " x ", b));
  return result;
}

inline uint64_t checked_add(uint64_t a, uint64_t b, std::string_view where) {
  uint64_t result;
  if (__builtin_add_overflow(a, b, &result))
    throw Error(ErrorCode::io, cat(where, ": size overflow, ", a, " + ", b));
  return result;
}

// The next multiple of `alignment`, a power of two.
inline uint64_t checked_align_up(uint64_t value, uint64_t alignment, std::string_view where) {
  return checked_add(value, alignment - 1, where) & ~(alignment - 1);
}

template <class To, class From>
To checked_narrow(From value, std::string_view where) {
  To result = static_cast<To>(value);
  if (static_cast<From>(result) != value || (result < To{}) != (value < From{}))
    throw Error(ErrorCode::io, cat(where, ": ", value, " is out of range"));
  return result;
}

}  // namespace crane
