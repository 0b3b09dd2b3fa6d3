// Devices by name. The only place above a backend that names one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device.h"

namespace crane {

struct DeviceOptions {
  std::string dtype = "auto";  // auto: fast and near the reference; f32: the reference mode
  std::string isa = "auto";    // a level of `available_isa_levels`
  int threads = 0;             // 0: all usable CPUs
  size_t arena_bytes = size_t{8} << 30;  // address space for activations, touched as used
};

// Throws Error(invalid_argument) naming the option and its values, Error(unsupported) for a dtype
// that is known but not built.
std::unique_ptr<Device> make_device(const DeviceOptions& options);

// Instruction set levels that this machine can run, best first.
std::vector<std::string> available_isa_levels();

}  // namespace crane
