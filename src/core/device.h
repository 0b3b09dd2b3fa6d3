// Device: one stream of work, one arena, one backend. Everything a tensor needs to know about
// where it lives.
#pragma once

#include <memory>

#include "core/arena.h"
#include "core/backend.h"
#include "core/tensor.h"

namespace crane {

class Device {
 public:
  Device(std::unique_ptr<Backend> backend, size_t arena_bytes)
      : backend_(std::move(backend)), arena_(arena_bytes) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  Backend& backend() { return *backend_; }
  Arena& arena() { return arena_; }

  // An activation, uninitialised.
  Tensor empty(const Shape& shape, DType type = DType::f32) {
    size_t bytes = static_cast<size_t>(shape.elements() * info(type).block_bytes);
    return Tensor(*this, arena_.allocate(bytes), type, shape);
  }

 private:
  std::unique_ptr<Backend> backend_;
  Arena arena_;
};

}  // namespace crane
