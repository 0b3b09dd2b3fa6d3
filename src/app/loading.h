// From options to a loaded model: what the verbs share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/verbs.h"
#include "engine/engine.h"
#include "pipelines/model_bundle.h"

namespace crane {

// Text side only, or everything, with a progress bar on stderr. `stop` is asked while weights load;
// true ends the load with an Error.
TextBundle load_text_side(const Invocation& invocation);
ModelBundle load_whole_model(const Invocation& invocation, const std::function<bool()>& stop = {});

// Throws Error for values that are known but not built.
EngineOptions engine_options(const Options& options);

// The tokenizer, or an Error that names --ids.
const Tokenizer& require_tokenizer(const TextBundle& text);

// The text of --text or --file; throws unless exactly one was given.
std::string read_given_text(const Options& options);

// A JSON array of ids.
Json ids_to_json(const std::vector<int32_t>& ids);

}  // namespace crane
