#include "app/version.h"

#include "backends/registry.h"
#include "base/strings.h"

// Set by CMake for this file only.
#ifndef CRANE_VERSION
#define CRANE_VERSION "0.0.0"
#endif
#ifndef CRANE_COMMIT
#define CRANE_COMMIT "unknown"
#endif

namespace crane {
namespace {

std::string compiler() {
#if defined(__clang__)
  return cat("clang ", __clang_major__, ".", __clang_minor__, ".", __clang_patchlevel__);
#else
  return cat("g++ ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

std::string version_number() { return CRANE_VERSION; }
std::string commit_name() { return CRANE_COMMIT; }

std::string version_line() {
  return cat("crane ", CRANE_VERSION, " (", CRANE_COMMIT, ", ", compiler(), ", ",
             available_isa_levels().front(), ")");
}

}  // namespace crane
