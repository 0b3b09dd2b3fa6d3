#include "engine/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace crane {

Scheduler::Scheduler(const SchedulerOptions& options, BlockPool& pool)
    : options_(options), pool_(pool), key_buffer_(static_cast<size_t>(pool.block_size())) {
  check(options.max_running > 0 && options.batch_tokens >= options.max_running &&
            options.chunk_tokens > 0 && options.prompt_logit_rows > 0,
        "scheduler: options out of range");
  auto most = static_cast<size_t>(options.max_running);
  running_.reserve(most);
  plan_.runs.reserve(most);
  plan_.copies.reserve(most);
  for (int slot = options.max_running; slot-- > 0;) free_slots_.push_back(slot);
}

Sequence& Scheduler::add(uint64_t id, std::span<const int32_t> prompt, int max_known,
                         bool score_prompt) {
  check(!prompt.empty() && blocks_for(max_known) <= pool_.total(),
        "scheduler: a sequence that cannot fit");
  auto sequence = std::make_unique<Sequence>();
  sequence->id = id;
  sequence->tokens.reserve(
      static_cast<size_t>(std::max(max_known, static_cast<int>(prompt.size()))));
  sequence->tokens.assign(prompt.begin(), prompt.end());
  sequence->blocks.reserve(static_cast<size_t>(blocks_for(max_known)));
  sequence->prompt_tokens = static_cast<int>(prompt.size());
  sequence->score_prompt = score_prompt;
  sequence->order = next_order_++;
  sequence->waiting_since = plans_;
  waiting_.push_back(std::move(sequence));
  return *waiting_.back();
}

void Scheduler::finish(Sequence& sequence, bool reusable) {
  drop_blocks(sequence, reusable);
  if (!take(running_, sequence)) take(waiting_, sequence);
}

const Plan& Scheduler::plan() {
  ++plans_;
  plan_.copies.clear();
  plan_.runs.clear();
  plan_.tokens = 0;
  int decoding = static_cast<int>(
      std::count_if(running_.begin(), running_.end(), [](auto& s) { return s->remaining() == 1; }));
  prompt_budget_ = options_.batch_tokens - decoding;
  row_budget_ = options_.prompt_logit_rows;
  int64_t preemptions = preemptions_;

  // From the oldest to the youngest: whoever is preempted has not been planned yet.
  for (size_t i = 0; i < running_.size(); ++i) {
    Sequence& sequence = *running_[i];
    if (sequence.remaining() == 1) {
      schedule(sequence, 1, true);
    } else if (sequence.remaining() > 1) {
      schedule(sequence, std::min(options_.chunk_tokens, prompt_budget_), true);
    }
  }
  while (preemptions == preemptions_ && prompt_budget_ > 0) {
    Sequence* next = next_waiting();
    if (next == nullptr) break;
    schedule(move_to_running(*next), std::min(options_.chunk_tokens, prompt_budget_), false);
  }
  return plan_;
}

void Scheduler::commit() {
  for (const PlannedRun& run : plan_.runs) {
    Sequence& sequence = *run.sequence;
    sequence.computed += run.count;
    sequence.high_water = std::max(sequence.high_water, sequence.computed);
    publish_full_blocks(sequence);
  }
  plan_.runs.clear();
}

// Tokens to compute next, at most `limit`.
int Scheduler::chunk_of(const Sequence& sequence, int limit) const {
  int count = std::min(limit, sequence.remaining());
  if (!sequence.score_prompt || sequence.scored >= sequence.prompt_tokens) return count;
  int without_rows = std::max(0, sequence.scored - sequence.computed);
  return std::min(count, without_rows + row_budget_);
}

// `was_running`: before this plan; then it may preempt, and its one token is in the budget already.
bool Scheduler::schedule(Sequence& sequence, int limit, bool was_running) {
  if (chunk_of(sequence, limit) <= 0) return false;
  bool reserved = was_running && sequence.remaining() == 1;
  reuse_prefix(sequence);
  int count = chunk_of(sequence, limit);
  int needed = blocks_for(sequence.computed + count);
  while (static_cast<int>(sequence.blocks.size()) < needed) {
    int block = pool_.allocate();
    if (block == BlockPool::kNone) {
      if (was_running && preempt_younger_than(sequence)) continue;
      break;
    }
    sequence.blocks.push_back(block);
  }
  int room = static_cast<int>(sequence.blocks.size()) * pool_.block_size() - sequence.computed;
  count = std::min(count, room);
  if (count <= 0) return false;
  plan_.runs.push_back({&sequence, sequence.computed, count});
  plan_.tokens += count;
  if (!reserved) prompt_budget_ -= count;
  if (sequence.score_prompt) {
    int first = std::max(sequence.scored, sequence.computed);
    int last = std::min(sequence.computed + count, sequence.prompt_tokens);
    row_budget_ -= std::max(0, last - first);
  }
  return true;
}

bool Scheduler::preempt_younger_than(const Sequence& sequence) {
  if (running_.empty() || running_.back()->order <= sequence.order) return false;
  preempt(*running_.back());
  return true;
}

void Scheduler::preempt(Sequence& sequence) {
  drop_blocks(sequence, true);
  sequence.preempted = true;
  sequence.waiting_since = plans_;
  insert_by_order(waiting_, take(running_, sequence));
  ++preemptions_;
}

// The waiting sequence to admit now, or null.
Sequence* Scheduler::next_waiting() {
  if (waiting_.empty() || running() == options_.max_running) return nullptr;
  Sequence* chosen = nullptr;
  for (auto& sequence : waiting_)
    if (sequence->preempted) {
      chosen = sequence.get();
      break;
    }
  if (chosen == nullptr) {
    chosen = waiting_.front().get();
    bool overdue = plans_ - chosen->waiting_since > static_cast<uint64_t>(options_.age_bound);
    if (!overdue && options_.prefix_cache && waiting_.size() > 1) {
      int longest = 0;
      auto window = std::min(waiting_.size(), static_cast<size_t>(options_.admission_window));
      for (size_t i = 0; i < window; ++i) {
        int blocks = match(*waiting_[i]).blocks;
        if (blocks > longest) {
          longest = blocks;
          chosen = waiting_[i].get();
        }
      }
    }
  }
  return fits(*chosen) ? chosen : nullptr;
}

bool Scheduler::fits(const Sequence& sequence) const {
  auto full_need = [this](const Sequence& s) {
    return std::min(blocks_for(s.known() + 1), pool_.total());
  };
  int promised = 0;  // to running sequences, for tokens they know already
  for (const auto& other : running_)
    promised += std::max(0, full_need(*other) - static_cast<int>(other->blocks.size()));
  return full_need(sequence) - match(sequence).owned <= pool_.available() - promised;
}

Sequence& Scheduler::move_to_running(Sequence& sequence) {
  sequence.slot = free_slots_.back();
  free_slots_.pop_back();
  sequence.preempted = false;
  insert_by_order(running_, take(waiting_, sequence));
  return sequence;
}

int Scheduler::blocks_for(int tokens) const {
  return (tokens + pool_.block_size() - 1) / pool_.block_size();
}

// What the prefix tree compares. Ids are far below 2^30.
std::span<const int32_t> Scheduler::keys(const Sequence& sequence, int begin, int count) const {
  for (int i = 0; i < count; ++i) {
    int32_t key = sequence.tokens[static_cast<size_t>(begin + i)];
    if (options_.modes_differ && sequence.mode(begin + i) == TokenMode::generated) key |= 1 << 30;
    key_buffer_[static_cast<size_t>(i)] = key;
  }
  return std::span<const int32_t>(key_buffer_).first(static_cast<size_t>(count));
}

// The first token whose logits are needed: tokens before it may come from the prefix tree.
int Scheduler::reuse_limit(const Sequence& sequence) const {
  bool scoring = sequence.score_prompt && sequence.scored < sequence.prompt_tokens;
  return scoring ? sequence.scored : sequence.known() - 1;
}

Scheduler::Match Scheduler::match(const Sequence& sequence) const {
  Match result;
  if (!options_.prefix_cache) return result;
  int size = pool_.block_size();
  int limit = reuse_limit(sequence);
  int parent = BlockPool::kNone;
  for (int begin = 0; begin + size <= limit; begin += size) {
    parent = pool_.find(parent, keys(sequence, begin, size));
    if (parent == BlockPool::kNone) break;
    ++result.blocks;
    result.owned += pool_.owners(parent) > 0;
  }
  return result;
}

void Scheduler::reuse_prefix(Sequence& sequence) {
  int size = pool_.block_size();
  bool at_boundary = static_cast<int>(sequence.blocks.size()) == sequence.published &&
                     sequence.computed == sequence.published * size;
  if (!options_.prefix_cache || !at_boundary) return;
  int limit = reuse_limit(sequence);
  int parent = sequence.published == 0 ? BlockPool::kNone : sequence.blocks.back();
  while (sequence.computed + size <= limit) {
    int block = pool_.find(parent, keys(sequence, sequence.computed, size));
    if (block == BlockPool::kNone) break;
    pool_.acquire(block);
    sequence.blocks.push_back(block);
    ++sequence.published;
    sequence.computed += size;
    parent = block;
  }
  int rest = std::min(limit - sequence.computed, size);
  if (rest > 0) {
    auto head = pool_.find_partial(parent, keys(sequence, sequence.computed, rest));
    if (head.tokens > 0) {
      pool_.acquire(head.block);  // so that allocate() does not evict what is to be copied
      int block = pool_.allocate();
      pool_.release(head.block);
      if (block != BlockPool::kNone) {
        plan_.copies.push_back({head.block, block, head.tokens});
        sequence.blocks.push_back(block);
        sequence.computed += head.tokens;
      }
    }
  }
  int before = std::min(sequence.high_water, sequence.prompt_tokens);
  sequence.high_water = std::max(sequence.high_water, sequence.computed);
  sequence.cached_tokens += std::min(sequence.high_water, sequence.prompt_tokens) - before;
}

void Scheduler::publish_full_blocks(Sequence& sequence) {
  if (!options_.prefix_cache) return;
  int size = pool_.block_size();
  while ((sequence.published + 1) * size <= sequence.computed) {
    auto index = static_cast<size_t>(sequence.published);
    int parent = index == 0 ? BlockPool::kNone : sequence.blocks[index - 1];
    sequence.blocks[index] = pool_.publish(parent, sequence.blocks[index],
                                           keys(sequence, sequence.published * size, size));
    ++sequence.published;
  }
}

void Scheduler::drop_blocks(Sequence& sequence, bool reusable) {
  int begin = sequence.published * pool_.block_size();
  if (options_.prefix_cache && reusable && sequence.computed > begin) {
    auto index = static_cast<size_t>(sequence.published);
    int parent = index == 0 ? BlockPool::kNone : sequence.blocks[index - 1];
    pool_.publish(parent, sequence.blocks[index], keys(sequence, begin, sequence.computed - begin));
  }
  for (size_t i = sequence.blocks.size(); i-- > 0;) pool_.release(sequence.blocks[i]);
  sequence.blocks.clear();
  sequence.computed = 0;
  sequence.published = 0;
  if (sequence.slot >= 0) free_slots_.push_back(sequence.slot);
  sequence.slot = -1;
}

void Scheduler::insert_by_order(List& list, std::unique_ptr<Sequence> sequence) {
  auto place = std::find_if(list.begin(), list.end(),
                            [&](auto& other) { return other->order > sequence->order; });
  list.insert(place, std::move(sequence));
}

std::unique_ptr<Sequence> Scheduler::take(List& list, const Sequence& sequence) {
  auto place =
      std::find_if(list.begin(), list.end(), [&](auto& other) { return other.get() == &sequence; });
  if (place == list.end()) return nullptr;
  std::unique_ptr<Sequence> taken = std::move(*place);
  list.erase(place);
  return taken;
}

void Scheduler::check_integrity() const {
  pool_.check_integrity();
  std::vector<int> owners(static_cast<size_t>(pool_.total()), 0);
  std::vector<bool> slots(static_cast<size_t>(options_.max_running), false);
  for (int slot : free_slots_) slots[static_cast<size_t>(slot)] = true;
  for (const auto& s : running_) {
    check(s->slot >= 0 && !slots[static_cast<size_t>(s->slot)], "scheduler: a slot is used twice");
    slots[static_cast<size_t>(s->slot)] = true;
    check(s->computed <= static_cast<int>(s->blocks.size()) * pool_.block_size() &&
              s->computed <= s->known() && s->published * pool_.block_size() <= s->computed,
          "scheduler: computed tokens without a block");
    for (int block : s->blocks) ++owners[static_cast<size_t>(block)];
  }
  check(running() + static_cast<int>(free_slots_.size()) == options_.max_running,
        "scheduler: slots miscounted");
  for (int block = 0; block < pool_.total(); ++block)
    check(owners[static_cast<size_t>(block)] == pool_.owners(block),
          "scheduler: owners of a block miscounted");
  for (const auto& s : waiting_)
    check(s->blocks.empty() && s->slot < 0 && s->computed == 0,
          "scheduler: a waiting sequence holds memory");
  auto older = [](auto& a, auto& b) { return a->order < b->order; };
  check(std::is_sorted(waiting_.begin(), waiting_.end(), older) &&
            std::is_sorted(running_.begin(), running_.end(), older),
        "scheduler: sequences out of order");
}

}  // namespace crane
