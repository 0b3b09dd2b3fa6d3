// What every op of the CPU backend needs: the threads, the kernels of the chosen level, the
// precision asked for, and memory that is reused from step to step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "backends/cpu/kernels.h"
#include "base/error.h"
#include "base/strings.h"
#include "base/thread_pool.h"

namespace crane::cpu {

// f32 is the reference mode: weights are dequantised and everything is multiplied in f32.
enum class Precision { automatic, f32 };

// Buffers that only grow, so that no op allocates once the largest step has been seen. One slot
// has one user at a time; what it held before is lost when it is asked for again.
class Scratch {
 public:
  enum class Slot { quantized_input, product, attention };

  // Aligned to 64 bytes, uninitialised.
  std::byte* bytes(Slot slot, size_t size) {
    Buffer& buffer = buffers_[static_cast<size_t>(slot)];
    if (size > buffer.size) {
      size_t rounded = (size + size / 4 + 4095) / 4096 * 4096;
      buffer.data.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
      buffer.size = buffer.data ? rounded : 0;
      if (!buffer.data) throw Error(ErrorCode::out_of_memory, cat("scratch: no ", size, " bytes"));
    }
    return buffer.data.get();
  }
  float* floats(Slot slot, size_t count) {
    return reinterpret_cast<float*>(bytes(slot, count * sizeof(float)));
  }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  struct Buffer {
    std::unique_ptr<std::byte, Free> data;
    size_t size = 0;
  };
  std::array<Buffer, 3> buffers_;
};

struct Context {
  ThreadPool& pool;
  const Kernels& kernels;
  Precision precision;
  Scratch& scratch;
};

}  // namespace crane::cpu
