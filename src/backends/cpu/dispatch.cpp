#include "backends/cpu/dispatch.h"

#include <array>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/error.h"
#include "base/strings.h"

namespace crane::cpu {
namespace {

struct Level {
  const Kernels* kernels;
  bool (*runs_here)();
};

bool always() { return true; }

#if defined(__x86_64__)
// clang 14's __builtin_cpu_supports does not know this one.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
// The builtin also asks whether the system saves the wide registers.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}
bool has_avx512vnni() { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }

constexpr std::array kLevels = {
    Level{&kernels_avx512vnni, has_avx512vnni},
    Level{&kernels_avx512, has_avx512},
    Level{&kernels_avx2, has_avx2},
    Level{&kernels_generic, always},
};
#else
constexpr std::array kLevels = {Level{&kernels_generic, always}};
#endif

}  // namespace

std::vector<std::string_view> available_levels() {
  std::vector<std::string_view> names;
  for (const Level& level : kLevels)
    if (level.runs_here()) names.push_back(level.kernels->name);
  return names;
}

const Kernels& select_kernels(std::string_view isa) {
  for (const Level& level : kLevels)
    if ((isa == "auto" || isa == level.kernels->name) && level.runs_here()) return *level.kernels;
  std::string names;
  for (std::string_view name : available_levels()) names += cat(", ", name);
  throw Error(ErrorCode::invalid_argument,
              cat("isa: got \"", isa, "\", this machine has auto", names));
}

}  // namespace crane::cpu
