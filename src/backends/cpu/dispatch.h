// Which instruction set level runs: chosen once from what the machine can do, or forced by name.
#pragma once

#include <string_view>
#include <vector>

#include "backends/cpu/kernels.h"

namespace crane::cpu {

// "auto" or a level's name. A level that this machine lacks, or an unknown one, throws
// Error(invalid_argument) naming the levels it has.
const Kernels& select_kernels(std::string_view isa);

// Levels that this machine can run, best first; the last is "generic".
std::vector<std::string_view> available_levels();

}  // namespace crane::cpu
