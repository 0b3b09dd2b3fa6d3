// Files and loaders that the tokenizer tests share.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/support/gguf_header.h"
#include "text/tokenizer_gguf.h"
#include "text/tokenizer_json.h"

namespace crane::test {

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline bool file_exists(const std::string& path) { return std::ifstream(path).good(); }

inline std::string shared_data() {
  const char* folder = std::getenv("CRANE_SHARED_DATA");
  return folder != nullptr ? folder : CRANE_SOURCE_DIR "/../shared/data";
}

inline std::string golden_folder() { return CRANE_SOURCE_DIR "/tests/golden/tokenizers/"; }

inline std::shared_ptr<const Tokenizer> load_gguf_tokenizer(const std::string& path) {
  return make_tokenizer(GgufHeaderReader(path).read());
}

inline std::shared_ptr<const Tokenizer> load_json_tokenizer(const std::string& text) {
  return make_tokenizer(Json::parse(text, "tokenizer.json"), Json());
}

}  // namespace crane::test
