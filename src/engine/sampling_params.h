// Ranges of the sampling parameters. The server may be stricter; these are what the chain can
// compute with.
#pragma once

#include "engine/request.h"

namespace crane {

// Throws Error(invalid_argument) naming the parameter, the value that was got and its range.
void validate(const SamplingParams& params, int vocab_size);

}  // namespace crane
