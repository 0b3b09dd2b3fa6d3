// The cases of tests/golden/sampling, made by make_sampling.py there.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"

namespace crane::golden {

inline JsonArray cases(const std::string& name) {
  std::string path = std::string(CRANE_SOURCE_DIR) + "/tests/golden/sampling/" + name + ".json";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return Json::parse(text.str(), path).as_array();
}

inline std::vector<float> floats(const Json& array) {
  std::vector<float> out;
  for (const Json& value : array.as_array()) out.push_back(static_cast<float>(value.as_number()));
  return out;
}

inline std::vector<int32_t> ints(const Json& array) {
  std::vector<int32_t> out;
  for (const Json& value : array.as_array())
    out.push_back(static_cast<int32_t>(value.as_integer()));
  return out;
}

}  // namespace crane::golden
