// A model without weights whose logits are a function of the keys and values that the engine's
// bookkeeping leads it to: it writes each token into the K/V block that the batch names and reads
// the whole context back through the block table. A wrong table, a missing copy, a stale block or a
// wrong mode changes its output.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/device.h"
#include "models/model.h"

namespace crane::fake {

// Contents of K/V blocks: id and mode of each token. Unwritten places hold garbage.
class Blocks {
 public:
  static constexpr int64_t kGarbage = -7;
  int64_t& at(int block, int offset) {
    auto& content = blocks_[block];
    content.resize(KvCache::kBlockSize, kGarbage);
    return content[static_cast<size_t>(offset)];
  }
  void copy(int from, int to, int tokens) {
    for (int i = 0; i < KvCache::kBlockSize; ++i) at(to, i) = i < tokens ? at(from, i) : kGarbage;
  }

 private:
  std::map<int, std::vector<int64_t>> blocks_;
};

class StubBackend : public Backend {
 public:
  explicit StubBackend(bool modes_differ) : modes_differ_(modes_differ) {}
  Blocks blocks;
  int slots = 0;

  void allocate(Device&, KvCache&, int count) override { slots = count; }
  void copy_block(KvCache&, int from, int to, int tokens) override {
    blocks.copy(from, to, tokens);
  }
  bool modes_differ() const override { return modes_differ_; }
  DType default_kv_type(bool) const override { return DType::f32; }
  std::string description() const override { return "stub"; }

  Tensor upload(Device&, const HostWeight&) override { return none(); }
  Tensor upload_vector(Device&, const HostWeight&) override { return none(); }
  void embed(Tensor&, const Tensor&, std::span<const int32_t>) override { none(); }
  void select_rows(Tensor&, const Tensor&, std::span<const int32_t>) override { none(); }
  void rms_norm(Tensor&, const Tensor&, const Tensor&, float) override { none(); }
  void linear(Tensor&, const Tensor&, std::span<const LinearPart>) override { none(); }
  void gate(Tensor&, const Tensor&, const Tensor&, Activation) override { none(); }
  void add(Tensor&, const Tensor&, const Tensor&) override { none(); }
  void scale(Tensor&, const Tensor&, float) override { none(); }
  void rope_angles(Tensor&, std::span<const int32_t>, std::span<const float>, float) override {
    none();
  }
  void rope(Tensor&, const Tensor&) override { none(); }
  void store_kv(KvCache::Layer&, const Tensor&, const Tensor&, const Batch&) override { none(); }
  void attention(Tensor&, const Tensor&, KvCache::Layer&, const Batch&,
                 const AttentionOptions&) override {
    none();
  }

 private:
  [[noreturn]] static Tensor none() { throw Error(ErrorCode::unsupported, "stub backend"); }
  bool modes_differ_;
};

inline uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

constexpr int kVocab = 50;

// What one token leaves in its block.
inline int64_t content_of(int32_t id, bool generated) { return int64_t{id} * 2 + generated; }

// Logits in [0, 8) after a context, as steps of 1/64 so that ties occur.
inline std::vector<float> logits_of(const std::vector<int64_t>& context) {
  uint64_t hash = context.size();
  for (int64_t value : context) hash = mix(hash ^ static_cast<uint64_t>(value));
  std::vector<float> logits(kVocab);
  for (int i = 0; i < kVocab; ++i)
    logits[static_cast<size_t>(i)] =
        static_cast<float>(mix(hash + static_cast<uint64_t>(i)) % 512) / 64.0f;
  return logits;
}

class Model : public TextModel {
 public:
  Model(Device& device, Blocks& blocks, int context_length, bool modes_differ)
      : device_(device),
        blocks_(blocks),
        context_length_(context_length),
        modes_differ_(modes_differ) {}

  // Called before each forward; may throw.
  std::function<void(const Batch&)> before_forward;
  // May change a row: (tokens of its context, logits).
  std::function<void(const std::vector<int64_t>&, std::vector<float>&)> change_row;
  bool recurrent = false;
  mutable int steps = 0, columns = 0, most_rows = 0;

  int vocab_size() const override { return kVocab; }
  int context_length() const override { return context_length_; }
  StateSpec state_spec() const override {
    StateSpec spec = StateSpec::attention(1, 1, 1);
    if (recurrent) spec.layers.push_back({LayerState::Kind::recurrent, 0, 0, 0, 4});
    return spec;
  }

  Tensor forward(const Batch& batch, KvCache&) const override {
    if (before_forward) before_forward(batch);
    check_batch(batch);
    ++steps;
    columns += batch.size();
    most_rows = std::max(most_rows, static_cast<int>(batch.logit_rows.size()));
    for (const SequenceRun& run : batch.runs) write(batch, run);
    auto rows = static_cast<int64_t>(batch.logit_rows.size());
    Tensor logits = device_.empty({rows, kVocab});
    for (int64_t i = 0; i < rows; ++i) {
      std::vector<int64_t> context = read(batch, batch.logit_rows[static_cast<size_t>(i)]);
      std::vector<float> row = logits_of(context);
      if (change_row) change_row(context, row);
      std::copy(row.begin(), row.end(), logits.data<float>() + i * kVocab);
    }
    return logits;
  }

 private:
  void write(const Batch& batch, const SequenceRun& run) const {
    auto table = batch.blocks(run, KvCache::kBlockSize);
    bool generated = modes_differ_ && run.mode == TokenMode::generated;
    for (int i = 0; i < run.count; ++i) {
      int position = run.past + i;
      int block = table[static_cast<size_t>(position / KvCache::kBlockSize)];
      blocks_.at(block, position % KvCache::kBlockSize) =
          content_of(batch.tokens[static_cast<size_t>(run.begin + i)], generated);
    }
  }

  std::vector<int64_t> read(const Batch& batch, int row) const {
    std::vector<int64_t> context;
    for (const SequenceRun& run : batch.runs) {
      if (row < run.begin || row >= run.begin + run.count) continue;
      auto table = batch.blocks(run, KvCache::kBlockSize);
      for (int i = 0; i <= run.past + row - run.begin; ++i)
        context.push_back(blocks_.at(table[static_cast<size_t>(i / KvCache::kBlockSize)],
                                     i % KvCache::kBlockSize));
    }
    return context;
  }

  // What models and backends rely on.
  static void check_batch(const Batch& batch) {
    int row = 0;
    bool generated = false;
    for (const SequenceRun& run : batch.runs) {
      check(run.begin == row && run.count > 0, "fake: runs are not consecutive");
      row += run.count;
      generated = generated || run.mode == TokenMode::generated;
      check(generated == (run.mode == TokenMode::generated), "fake: prompt runs come first");
      if (!generated) check(row <= batch.prompt_tokens, "fake: prompt_tokens");
      for (int i = 0; i < run.count; ++i)
        check(batch.positions[static_cast<size_t>(run.begin + i)] == run.past + i,
              "fake: positions");
    }
    check(row == batch.size(), "fake: tokens without a run");
    check(std::is_sorted(batch.logit_rows.begin(), batch.logit_rows.end()), "fake: logit rows");
  }

  Device& device_;
  Blocks& blocks_;
  int context_length_;
  bool modes_differ_;
};

// Device, backend and model together.
struct World {
  explicit World(int context_length = 512, bool modes_differ = false)
      : backend(new StubBackend(modes_differ)),
        device(std::unique_ptr<Backend>(backend), size_t{1} << 26),
        model(device, backend->blocks, context_length, modes_differ) {}

  StubBackend* backend;
  Device device;
  Model model;
};

// The greedy continuation by definition: one sequence, no blocks, no engine.
inline std::vector<int32_t> greedy(const std::vector<int32_t>& prompt, int count,
                                   bool modes_differ) {
  std::vector<int64_t> context;
  for (int32_t id : prompt) context.push_back(content_of(id, false));
  std::vector<int32_t> out;
  for (int i = 0; i < count; ++i) {
    std::vector<float> logits = logits_of(context);
    auto best = std::max_element(logits.begin(), logits.end());
    out.push_back(static_cast<int32_t>(best - logits.begin()));
    context.push_back(content_of(out.back(), modes_differ));
  }
  return out;
}

}  // namespace crane::fake
