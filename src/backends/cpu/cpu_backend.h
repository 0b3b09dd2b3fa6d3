// The CPU backend: its ops hand over to one file per family.
#pragma once

#include <memory>
#include <string_view>

#include "backends/cpu/context.h"
#include "core/backend.h"

namespace crane::cpu {

// `isa` as select_kernels takes it; `threads` at least 1.
std::unique_ptr<Backend> make_backend(std::string_view isa, int threads, Precision precision);

}  // namespace crane::cpu
