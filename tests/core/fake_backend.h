// A backend that keeps what it is given and computes nothing, for tests below the real ones.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "core/backend.h"
#include "core/device.h"

namespace crane::testing {

class FakeBackend : public Backend {
 public:
  Tensor upload(Device& device, const HostWeight& weight) override {
    uploads.push_back(weight);
    return Tensor::packed(device, copy(weight), weight.dtype, {weight.rows, weight.columns});
  }
  Tensor upload_vector(Device& device, const HostWeight& weight) override {
    vectors.push_back(weight);
    return Tensor(device, copy(weight), weight.dtype, {weight.rows * weight.columns});
  }
  void allocate(Device&, KvCache&, int) override {}
  void copy_block(KvCache&, int, int, int) override {}
  bool modes_differ() const override { return false; }
  DType default_kv_type(bool) const override { return DType::f32; }
  std::string description() const override { return "fake"; }

  void embed(Tensor&, const Tensor&, std::span<const int32_t>) override {}
  void select_rows(Tensor&, const Tensor&, std::span<const int32_t>) override {}
  void rms_norm(Tensor&, const Tensor&, const Tensor&, float) override {}
  void linear(Tensor&, const Tensor&, std::span<const LinearPart>) override {}
  void gate(Tensor&, const Tensor&, const Tensor&, Activation) override {}
  void add(Tensor&, const Tensor&, const Tensor&) override {}
  void scale(Tensor&, const Tensor&, float) override {}
  void rope_angles(Tensor&, std::span<const int32_t>, std::span<const float>, float) override {}
  void rope(Tensor&, const Tensor&) override {}
  void store_kv(KvCache::Layer&, const Tensor&, const Tensor&, const Batch&) override {}
  void attention(Tensor&, const Tensor&, KvCache::Layer&, const Batch&,
                 const AttentionOptions&) override {}

  std::vector<HostWeight> uploads, vectors;

 private:
  static StorageRef copy(const HostWeight& weight) {
    size_t bytes = static_cast<size_t>(weight.rows * row_bytes(weight.dtype, weight.columns));
    auto memory = std::shared_ptr<std::byte[]>(new std::byte[bytes]);
    std::memcpy(memory.get(), weight.data, bytes);
    return make_storage(memory.get(), bytes, memory);
  }
};

}  // namespace crane::testing
