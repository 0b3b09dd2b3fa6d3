#include "backends/registry.h"

#include <algorithm>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/dispatch.h"
#include "base/strings.h"
#include "base/thread_pool.h"

namespace crane {
namespace {

cpu::Precision parse_precision(const std::string& dtype) {
  if (dtype == "auto") return cpu::Precision::automatic;
  if (dtype == "f32") return cpu::Precision::f32;
  if (dtype == "f16" || dtype == "bf16")
    throw Error(ErrorCode::unsupported, cat("--dtype ", dtype, " is not built; auto and f32 are"));
  throw Error(ErrorCode::invalid_argument, cat("--dtype: got ", dtype, ", expected auto or f32"));
}

}  // namespace

std::unique_ptr<Device> make_device(const DeviceOptions& options) {
  cpu::Precision precision = parse_precision(options.dtype);
  if (options.threads < 0 || options.threads > 1024)
    throw Error(ErrorCode::invalid_argument,
                cat("--threads: got ", options.threads, ", expected 1 to 1024, or 0 for all CPUs"));
  int threads = options.threads > 0 ? options.threads : usable_cpus();
  return std::make_unique<Device>(cpu::make_backend(options.isa, threads, precision),
                                  options.arena_bytes);
}

std::vector<std::string> available_isa_levels() {
  std::vector<std::string> names;
  for (std::string_view level : cpu::available_levels()) names.emplace_back(level);
  return names;
}

}  // namespace crane
