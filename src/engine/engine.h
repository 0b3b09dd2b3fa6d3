// Engine: one thread that admits, plans, runs, samples and delivers; requests come from any thread.
//
// The loop is docs/architecture.md's "step". Tests call step() by hand instead of starting the
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/device.h"
#include "engine/request.h"
#include "models/model.h"

namespace crane {

struct EngineOptions {
  int max_running = 16;          // sequences in a step
  int batch_tokens = 2048;       // tokens in a step
  int chunk_tokens = 512;        // prompt tokens of one request in a step
  int context_length = 0;        // 0: the model's
  int64_t kv_cache_bytes = 0;    // 0: enough for one full context or a share of the free memory
  std::optional<DType> kv_type;  // absent: the backend's default
  bool prefix_cache = true;
};

struct EngineStats {
  int waiting = 0, running = 0;
  int blocks_total = 0, blocks_free = 0, blocks_cached = 0;  // cached: reusable, no owner
  int64_t steps = 0, tokens = 0, preemptions = 0;
};

class Engine {
 public:
  using RequestId = uint64_t;

  Engine(Device& device, const TextModel& model, const EngineOptions& options);
  ~Engine();  // cancels what runs

  // Thread-safe. Throws Error(invalid_argument) for a request that can never run: an empty prompt,
  // an id outside the vocabulary, a prompt over the context (the message has both numbers), a
  // sampling value out of range.
  RequestId submit(Request request);
  void cancel(RequestId id);  // takes effect within one step; an unknown id is ignored

  void start();  // runs step() on a thread of its own
  bool step();   // one step; false when nothing was to do. Only without start()
  EngineStats stats() const;
  int context_length() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace crane
