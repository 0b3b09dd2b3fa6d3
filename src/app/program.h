// The program: chooses the verb, and turns errors into exit codes.
#pragma once

#include <string>
#include <vector>

#include "app/options.h"

namespace crane {

// `arguments` are those after the program's name. Returns the exit code: 0 done, 1 failed with one
// plain line at the end of stderr, 2 a check that ran and failed.
int run_program(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace crane
