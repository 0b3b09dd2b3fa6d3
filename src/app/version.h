// What this build is.
#pragma once

#include <string>

namespace crane {

std::string version_line();  // "crane X.Y.Z (commit, compiler, instruction set)"
std::string version_number();
std::string commit_name();  // short, "unknown" outside a clone

}  // namespace crane
