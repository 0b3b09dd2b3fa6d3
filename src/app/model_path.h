// Where a model name leads: a file, a folder, or a name in the models folder.
#pragma once

#include <string>
#include <vector>

#include "app/options.h"

namespace crane {

// Throws Error(not_found) with what was looked for and where. An empty name is an error too.
std::string resolve_model(const std::string& name, const Environment& environment);

// ${XDG_CACHE_HOME:-~/.cache}/crane/models, where tools/quickstart and tools/get-model put files.
std::string models_folder(const Environment& environment);

// Names that resolve_model() finds in the models folder, sorted.
std::vector<std::string> models_in_folder(const std::string& folder);

}  // namespace crane
