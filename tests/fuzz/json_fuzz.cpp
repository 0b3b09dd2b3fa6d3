// Any bytes as JSON: an Error(invalid_argument), or a value whose text reads back as itself.
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    crane::Json value = crane::Json::parse(text, "input", 64);
    crane::Json again = crane::Json::parse(value.dump(size % 2 == 0), "again", 64);
    if (!(value == again)) std::abort();
  } catch (const crane::Error& error) {
    if (error.code() != crane::ErrorCode::invalid_argument) std::abort();
  }
  return 0;
}
