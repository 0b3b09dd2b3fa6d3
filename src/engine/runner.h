// Runner: a plan of the scheduler becomes a Batch, the model runs it, rows of logits come back.
#pragma once

#include <span>
#include <vector>

#include "core/device.h"
#include "engine/scheduler.h"
#include "models/model.h"

namespace crane {

// The logits after one token of a sequence.
struct LogitRow {
  uint64_t id = 0;  // of the sequence, which may end before its last row is read
  Sequence* sequence = nullptr;
  int index = 0;            // of the token they follow
  std::span<float> logits;  // [vocab_size], raw; the sampler may change them
};

class Runner {
 public:
  Runner(Device& device, const TextModel& model, KvCache& cache)
      : device_(device), model_(model), cache_(cache) {}

  // Runs one step; the rows hold until the next call. A run that has tokens of both modes becomes
  // two, and those of prompt mode come first in the batch. What the model throws passes through;
  // Error(internal) when it returns logits of another shape.
  std::span<const LogitRow> run(const Plan& plan);
  // Gives the memory of the logits back.
  void release() { logits_ = {}; }

 private:
  void build(const Plan& plan);
  void add_run(const Sequence& sequence, int begin, int count, TokenMode mode);

  Device& device_;
  const TextModel& model_;
  KvCache& cache_;
  Batch batch_;
  Tensor logits_;
  std::vector<LogitRow> rows_;
  std::vector<int> first_blocks_;  // where the table of each planned sequence begins
};

}  // namespace crane
