// Scheduler: which tokens of which sequences are computed in the next step.
//
// Numbers only: no tensors, no clocks, no text. There is no prefill or decode phase: a sequence has
// known tokens (prompt, then generated) and computed tokens, and each plan lets computed catch up.
// Decoding, chunked prefill, prefix reuse and recomputing after a preemption are the same case.
//
// Rules
//   - Each decoding sequence gets its one token before prompt chunks share what is left of a step.
//   - A sequence takes K/V blocks as it grows. When none is left, the youngest running sequence
//     loses its blocks and waits (its full blocks usually stay in the prefix tree). Only younger
//     sequences are preempted, so the oldest one always gets on.
//   - Admission: preempted sequences first; then a sequence that has waited too long; else, among
//     the first few, the one with the longest cached prefix. Only when all its known tokens and one
//     more fit beside what running sequences still need for theirs.
//   - Prefix reuse shares full blocks and copies the matching head of one more. It stops before the
//     first token whose logits are needed.
//   - A recurrent state cannot be shared by block; snapshots of it are not built yet, so the engine
//     turns prefix reuse off for models that have one.
//
// Not thread-safe. plan(), commit() and append() do not allocate once their buffers have grown.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/batch.h"
#include "engine/block_pool.h"

namespace crane {

struct SchedulerOptions {
  int max_running = 16;
  int batch_tokens = 2048;     // of a step; at least max_running
  int chunk_tokens = 512;      // of one sequence in a step
  int prompt_logit_rows = 64;  // of a step: logits of a whole chunk would be a huge matrix
  bool prefix_cache = true;
  bool modes_differ = false;  // a token's mode is part of its key in the prefix tree
  int age_bound = 64;         // plans that a sequence may be overtaken
  int admission_window = 16;  // waiting sequences that are compared
};

// A sequence as the scheduler sees it. Others read it only.
struct Sequence {
  uint64_t id = 0;
  std::vector<int32_t> tokens;  // known: the prompt, then what was generated
  int prompt_tokens = 0;
  int computed = 0;           // tokens whose keys and values lie in `blocks`
  std::vector<int> blocks;    // K/V blocks, in order
  int published = 0;          // leading blocks that are in the prefix tree
  int slot = -1;              // of the recurrent state, while running
  bool score_prompt = false;  // wants logits of every prompt token from `scored` on
  int scored = 0;
  int cached_tokens = 0;  // of the prompt, taken from the prefix tree

  uint64_t order = 0;          // of arrival
  uint64_t waiting_since = 0;  // plan number
  bool preempted = false;
  int high_water = 0;  // most tokens ever computed

  int known() const { return static_cast<int>(tokens.size()); }
  int remaining() const { return known() - computed; }
  TokenMode mode(int index) const {
    return index < prompt_tokens ? TokenMode::prompt : TokenMode::generated;
  }
  // Whether the logits after token `index` are wanted.
  bool wants_logits(int index) const {
    return index == known() - 1 || (score_prompt && index >= scored && index < prompt_tokens);
  }
};

struct PlannedRun {
  Sequence* sequence = nullptr;
  int begin = 0;  // token index
  int count = 0;
};

struct BlockCopy {
  int from = 0, to = 0, tokens = 0;
};

struct Plan {
  std::vector<BlockCopy> copies;  // in this order, before the step
  std::vector<PlannedRun> runs;   // at most one of a sequence
  int tokens = 0;
};

class Scheduler {
 public:
  Scheduler(const SchedulerOptions& options, BlockPool& pool);

  // `max_known` is the most tokens it will ever have; they must fit the pool.
  Sequence& add(uint64_t id, std::span<const int32_t> prompt, int max_known, bool score_prompt);
  void append(Sequence& sequence, int32_t token) { sequence.tokens.push_back(token); }
  void mark_scored(Sequence& sequence, int count) { sequence.scored = count; }
  // Takes a running sequence's blocks and slot away; it waits and is computed again. plan() does
  // this when blocks run out.
  void preempt(Sequence& sequence);
  // Gives back everything and destroys the sequence, waiting or running. `reusable`: what it
  // computed may be kept as a prefix; false after a failed step.
  void finish(Sequence& sequence, bool reusable);

  // The next step; valid until the next call. Empty when nothing can or need be computed.
  const Plan& plan();
  // The planned tokens were computed.
  void commit();

  int waiting() const { return static_cast<int>(waiting_.size()); }
  int running() const { return static_cast<int>(running_.size()); }
  int64_t preemptions() const { return preemptions_; }
  const SchedulerOptions& options() const { return options_; }
  // Throws Error(internal): owners of blocks are exactly the running sequences, lists are in order,
  // slots are used once.
  void check_integrity() const;

 private:
  using List = std::vector<std::unique_ptr<Sequence>>;
  struct Match {
    int blocks = 0;
    int owned = 0;  // of these, in use by others
  };

  int blocks_for(int tokens) const;
  std::span<const int32_t> keys(const Sequence& sequence, int begin, int count) const;
  int reuse_limit(const Sequence& sequence) const;
  Match match(const Sequence& sequence) const;
  void reuse_prefix(Sequence& sequence);
  void publish_full_blocks(Sequence& sequence);
  void drop_blocks(Sequence& sequence, bool reusable);

  int chunk_of(const Sequence& sequence, int limit) const;
  bool schedule(Sequence& sequence, int limit, bool was_running);
  bool preempt_younger_than(const Sequence& sequence);
  Sequence* next_waiting();
  bool fits(const Sequence& sequence) const;
  Sequence& move_to_running(Sequence& sequence);
  static void insert_by_order(List& list, std::unique_ptr<Sequence> sequence);
  static std::unique_ptr<Sequence> take(List& list, const Sequence& sequence);

  SchedulerOptions options_;
  BlockPool& pool_;
  List waiting_, running_;  // by order of arrival
  std::vector<int> free_slots_;
  Plan plan_;
  int prompt_budget_ = 0;  // of the plan being made
  int row_budget_ = 0;
  uint64_t next_order_ = 0;
  uint64_t plans_ = 0;
  int64_t preemptions_ = 0;
  mutable std::vector<int32_t> key_buffer_;
};

}  // namespace crane
