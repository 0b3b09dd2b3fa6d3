#include "backends/cpu/cpu_backend.h"

#include "backends/cpu/attention.h"
#include "backends/cpu/dispatch.h"
#include "backends/cpu/elementwise.h"
#include "backends/cpu/embed.h"
#include "backends/cpu/linear.h"
#include "backends/cpu/pack.h"
#include "backends/cpu/weight_memory.h"
#include "base/strings.h"

namespace crane::cpu {
namespace {

class CpuBackend final : public Backend {
 public:
  CpuBackend(const Kernels& kernels, int threads, Precision precision)
      : pool_(threads), context_{pool_, kernels, precision, scratch_} {}

  Tensor upload(Device& device, const HostWeight& weight) override {
    return pack_weight(device, context_, weights_, weight);
  }
  Tensor upload_vector(Device& device, const HostWeight& weight) override {
    return pack_vector(device, context_, weights_, weight);
  }
  void allocate(Device& device, KvCache& cache, int slots) override {
    allocate_kv(device, cache, slots);
  }
  void copy_block(KvCache& cache, int from, int to, int tokens) override {
    cpu::copy_block(cache, from, to, tokens);
  }
  bool modes_differ() const override { return false; }
  DType default_kv_type(bool) const override {
    return context_.precision == Precision::f32 ? DType::f32 : DType::f16;
  }
  std::string description() const override {
    return cat("cpu, ", context_.kernels.name, ", ", pool_.size(),
               pool_.size() == 1 ? " thread" : " threads");
  }

  void embed(Tensor& y, const Tensor& table, std::span<const int32_t> ids) override {
    cpu::embed(context_, y, table, ids);
  }
  void select_rows(Tensor& y, const Tensor& x, std::span<const int32_t> rows) override {
    cpu::select_rows(y, x, rows);
  }
  void rms_norm(Tensor& y, const Tensor& x, const Tensor& weight, float eps) override {
    cpu::rms_norm(context_, y, x, weight, eps);
  }
  void linear(Tensor& y, const Tensor& x, std::span<const LinearPart> parts) override {
    cpu::linear(context_, y, x, parts);
  }
  void gated_linear(Tensor& y, const Tensor& x, std::span<const LinearPart, 2> parts,
                    Activation activation) override {
    cpu::gated_linear(context_, y, x, parts, activation);
  }
  void gate(Tensor& y, const Tensor& gate, const Tensor& up, Activation activation) override {
    cpu::gate(context_, y, gate, up, activation);
  }
  void add(Tensor& y, const Tensor& a, const Tensor& b) override { cpu::add(context_, y, a, b); }
  void scale(Tensor& y, const Tensor& x, float factor) override {
    cpu::scale(context_, y, x, factor);
  }
  void rope_angles(Tensor& angles, std::span<const int32_t> positions,
                   std::span<const float> frequencies, float magnitude) override {
    cpu::rope_angles(context_, angles, positions, frequencies, magnitude);
  }
  void rope(Tensor& x, const Tensor& angles) override { cpu::rope(context_, x, angles); }
  void store_kv(KvCache::Layer& layer, const Tensor& k, const Tensor& v,
                const Batch& batch) override {
    cpu::store_kv(context_, layer, k, v, batch);
  }
  void attention(Tensor& y, const Tensor& q, KvCache::Layer& layer, const Batch& batch,
                 const AttentionOptions& options) override {
    cpu::attention(context_, plan_, y, {q, layer, batch, options});
  }

 private:
  ThreadPool pool_;
  Scratch scratch_;
  WeightMemory weights_;
  Context context_;
  AttentionPlan plan_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(std::string_view isa, int threads, Precision precision) {
  return std::make_unique<CpuBackend>(select_kernels(isa), threads, precision);
}

}  // namespace crane::cpu
