// ActiveRequest: what the engine holds of one request from submit to its last event: the sampler,
// the counts, the clock, and how a row of logits becomes events.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/request.h"
#include "engine/runner.h"
#include "engine/sampler.h"

namespace crane {

// Buffers for one row at a time, shared by all requests.
struct RowScratch {
  SamplerScratch sampler;
  std::vector<float> raw;  // a copy for log-probs: the sampler changes the row
};

// How a request ends, once it is known.
struct Ending {
  FinishReason reason = FinishReason::stop;
  std::optional<Error> error;
};

class ActiveRequest {
 public:
  // Throws Error(invalid_argument) for a request that can never run.
  ActiveRequest(uint64_t id, Request request, int vocab_size, int context_length);

  uint64_t id() const { return id_; }
  const Request& request() const { return request_; }
  int max_known() const { return max_known_; }

  Sequence* sequence = nullptr;  // the scheduler's, once it is admitted to the queue

  void mark_started();  // its first tokens are in a step
  // Scores or samples the row and calls back; an ending when that was the last of it.
  std::optional<Ending> handle(const LogitRow& row, Scheduler& scheduler, RowScratch& scratch);
  // The last event, when the scheduler has forgotten the sequence. Never throws.
  void finish(const Ending& ending, int cached_tokens);

 private:
  using Clock = std::chrono::steady_clock;

  void score(const LogitRow& row, Scheduler& scheduler);
  std::optional<Ending> generate(const LogitRow& row, Scheduler& scheduler, RowScratch& scratch);
  bool is_stop(int32_t token) const;

  uint64_t id_;
  Request request_;
  Sampler sampler_;
  int context_length_;
  int max_known_ = 0;
  int generated_ = 0;
  float next_logprob_ = 0;  // of the next prompt token, given those before it
  TokenEvent event_;        // reused
  Clock::time_point submitted_ = Clock::now();
  std::optional<Clock::time_point> started_, prompt_done_;
};

}  // namespace crane
