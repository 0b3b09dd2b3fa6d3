// Memory for packed weights: large regions of 2 MiB pages, filled one weight after the other in
// the order of packing, which is the order of use.
#pragma once

#include <cstddef>
#include <memory>

#include "core/arena.h"

namespace crane::cpu {

class WeightMemory {
 public:
  // Storage of `bytes`, aligned to 64 and zero. It stays alive as long as a tensor refers to it,
  // also after this object is gone. Throws Error(out_of_memory) with the size.
  StorageRef allocate(size_t bytes);

 private:
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kRegion = size_t{64} << 20;  // address space; touched as it is used

  std::shared_ptr<std::byte> region_;
  size_t size_ = 0, used_ = 0;
};

}  // namespace crane::cpu
