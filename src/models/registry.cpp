#include "models/registry.h"

#include <array>

#include "base/strings.h"

namespace crane {
namespace {

struct Architecture {
  std::string_view model_type;
  std::string_view class_name;  // architectures[0] of config.json
  TextModelPtr (*make)(const Json& config, const Weights& weights);
};

constexpr std::array kArchitectures = {
    Architecture{"qwen2", "Qwen2ForCausalLM", make_qwen2},
};

std::string architecture_name(const Json& config) {
  if (config.contains("model_type")) return config.get<std::string>("model_type");
  const Json& classes = config["architectures"];
  if (classes.is_array() && !classes.as_array().empty()) return classes.as_array()[0].as_string();
  throw Error(ErrorCode::invalid_argument, "config: neither model_type nor architectures is there");
}

}  // namespace

TextModelPtr make_text_model(const Json& config, const Weights& weights) {
  std::string wanted = architecture_name(config);
  for (const Architecture& architecture : kArchitectures)
    if (wanted == architecture.model_type || wanted == architecture.class_name)
      return architecture.make(config, weights);
  std::string near = nearest_match(wanted, known_architectures());
  throw Error(ErrorCode::unsupported, cat("model: architecture ", wanted, " is not built",
                                          near.empty() ? "" : "; nearest: ", near,
                                          "; known: ", join(known_architectures(), ", ")));
}

std::vector<std::string> known_architectures() {
  std::vector<std::string> names;
  for (const Architecture& architecture : kArchitectures)
    names.emplace_back(architecture.model_type);
  return names;
}

}  // namespace crane
