// The model registry: one explicit table from architecture to factory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "io/weights.h"
#include "models/model.h"

namespace crane {

// Builds the model that config.model_type (else architectures[0]) names. An unknown one throws
// Error(unsupported) with its name and the known ones.
TextModelPtr make_text_model(const Json& config, const Weights& weights);
std::vector<std::string> known_architectures();

TextModelPtr make_qwen2(const Json& config, const Weights& weights);

}  // namespace crane
