#include "engine/scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace crane {
namespace {

constexpr int kSize = 8;

SchedulerOptions options_of(int running, int batch, int chunk) {
  SchedulerOptions options;
  options.max_running = running;
  options.batch_tokens = batch;
  options.chunk_tokens = chunk;
  return options;
}

std::vector<int32_t> prompt_of(int length, int first = 0) {
  std::vector<int32_t> prompt;
  for (int i = 0; i < length; ++i) prompt.push_back(first + i);
  return prompt;
}

int planned(const Plan& plan, const Sequence& sequence) {
  for (const PlannedRun& run : plan.runs)
    if (run.sequence == &sequence) return run.count;
  return 0;
}

TEST(Scheduler, ComputedCatchesUpWithKnown) {
  BlockPool pool(20, kSize);
  Scheduler scheduler(options_of(4, 100, 10), pool);
  Sequence& s = scheduler.add(1, prompt_of(25), 40, false);
  for (int expected : {10, 10, 5}) {
    EXPECT_EQ(planned(scheduler.plan(), s), expected);
    scheduler.commit();
  }
  EXPECT_TRUE(scheduler.plan().runs.empty());  // nothing is known that is not computed
  scheduler.append(s, 7);
  EXPECT_EQ(planned(scheduler.plan(), s), 1);
  scheduler.commit();
  scheduler.check_integrity();
  scheduler.finish(s, true);
  EXPECT_EQ(pool.available(), 20);
  scheduler.check_integrity();
}

TEST(Scheduler, DecodingSequencesComeBeforePromptChunks) {
  BlockPool pool(100, kSize);
  Scheduler scheduler(options_of(3, 8, 100), pool);
  Sequence& a = scheduler.add(1, prompt_of(200, 1000), 300, false);  // older, still in its prompt
  scheduler.plan();
  scheduler.commit();
  Sequence& b = scheduler.add(2, prompt_of(1), 50, false);
  Sequence& c = scheduler.add(3, prompt_of(1, 5), 50, false);
  EXPECT_EQ(planned(scheduler.plan(), a), 8);  // no room to admit the others: a has no end
  scheduler.commit();
  scheduler.finish(a, true);
  scheduler.plan();
  scheduler.commit();
  Sequence& d = scheduler.add(4, prompt_of(100, 3000), 150, false);
  scheduler.append(b, 1);
  scheduler.append(c, 1);
  const Plan& plan = scheduler.plan();
  EXPECT_EQ(planned(plan, b), 1);
  EXPECT_EQ(planned(plan, c), 1);
  EXPECT_EQ(planned(plan, d), 6);
  EXPECT_EQ(plan.tokens, 8);
}

TEST(Scheduler, PromptLogitsLimitTheChunk) {
  BlockPool pool(100, kSize);
  SchedulerOptions options = options_of(4, 500, 200);
  options.prompt_logit_rows = 16;
  Scheduler scheduler(options, pool);
  Sequence& a = scheduler.add(1, prompt_of(40), 40, true);
  Sequence& b = scheduler.add(2, prompt_of(40), 40, true);
  int rows_of_a = 0;
  while (a.scored < 40 || b.scored < 40) {
    const Plan& plan = scheduler.plan();
    int rows = 0;
    for (const PlannedRun& run : plan.runs)
      for (int i = run.begin; i < run.begin + run.count; ++i) rows += run.sequence->wants_logits(i);
    EXPECT_LE(rows, 16);
    rows_of_a += planned(plan, a);
    scheduler.commit();
    scheduler.mark_scored(a, a.computed);
    scheduler.mark_scored(b, b.computed);
    scheduler.check_integrity();
  }
  EXPECT_EQ(rows_of_a, 40);
  EXPECT_EQ(a.cached_tokens, 0);
  EXPECT_EQ(b.cached_tokens, 0);  // needs the logits of tokens that are in the tree
}

TEST(Scheduler, SharesFullBlocksAndCopiesTheRest) {
  BlockPool pool(40, kSize);
  Scheduler scheduler(options_of(4, 100, 100), pool);
  Sequence& a = scheduler.add(1, prompt_of(21), 40, false);
  scheduler.plan();
  scheduler.commit();
  Sequence& b = scheduler.add(2, prompt_of(21), 40, false);  // while a runs: two full blocks
  EXPECT_EQ(planned(scheduler.plan(), b), 5);
  EXPECT_EQ(b.blocks[0], a.blocks[0]);
  EXPECT_EQ(b.blocks[1], a.blocks[1]);
  EXPECT_NE(b.blocks[2], a.blocks[2]);
  EXPECT_EQ(b.cached_tokens, 16);
  scheduler.commit();
  scheduler.finish(a, true);
  Sequence& c = scheduler.add(3, prompt_of(21), 40, false);  // and a's last block
  const Plan& plan = scheduler.plan();
  EXPECT_EQ(planned(plan, c), 1);
  ASSERT_EQ(plan.copies.size(), 1u);
  EXPECT_EQ(plan.copies[0].tokens, 4);
  EXPECT_EQ(plan.copies[0].to, c.blocks[2]);
  EXPECT_EQ(c.cached_tokens, 20);
  scheduler.commit();
  scheduler.check_integrity();
}

TEST(Scheduler, ModesAreSeparateKeys) {
  for (bool differ : {false, true}) {
    BlockPool pool(40, kSize);
    SchedulerOptions options = options_of(4, 100, 100);
    options.modes_differ = differ;
    Scheduler scheduler(options, pool);
    Sequence& a = scheduler.add(1, prompt_of(8), 40, false);
    for (int i = 0; i < 12; ++i) {
      scheduler.plan();
      scheduler.commit();
      scheduler.append(a, 8 + i);
    }
    scheduler.finish(a, true);
    Sequence& b = scheduler.add(2, prompt_of(30), 40, false);
    scheduler.plan();
    EXPECT_EQ(b.cached_tokens, differ ? 8 : 19);
    // A preempted sequence finds its own generated tokens in either case.
    scheduler.commit();
    for (int i = 0; i < 10; ++i) {
      scheduler.append(b, 30 + i);
      scheduler.plan();
      scheduler.commit();
    }
    scheduler.append(b, 5);
    scheduler.preempt(b);
    EXPECT_EQ(planned(scheduler.plan(), b), 1);
    scheduler.check_integrity();
  }
}

TEST(Scheduler, YoungestIsPreemptedAndKeepsItsPlace) {
  BlockPool pool(6, kSize);
  Scheduler scheduler(options_of(3, 100, 100), pool);
  Sequence& a = scheduler.add(1, prompt_of(15, 100), 48, false);
  Sequence& b = scheduler.add(2, prompt_of(15, 200), 48, false);
  scheduler.plan();
  scheduler.commit();
  Sequence& waiting = scheduler.add(3, prompt_of(7, 300), 48, false);
  bool preempted = false;
  for (int i = 0; i < 33; ++i) {
    for (Sequence* s : {&a, &b})
      if (s->remaining() == 0) scheduler.append(*s, i);
    int before = a.computed;
    scheduler.plan();
    scheduler.commit();
    EXPECT_EQ(a.computed, before + 1);  // the oldest always gets on
    if (b.slot < 0) {
      preempted = true;
      EXPECT_LT(waiting.slot, 0);  // not overtaken by a younger one
    }
    scheduler.check_integrity();
  }
  EXPECT_TRUE(preempted);
  EXPECT_GT(scheduler.preemptions(), 0);
  scheduler.finish(a, true);
  scheduler.plan();
  EXPECT_GE(b.slot, 0);
}

TEST(Scheduler, LongestPrefixIsAdmittedFirstWithinTheAgeBound) {
  BlockPool pool(100, kSize);
  SchedulerOptions options = options_of(1, 100, 100);
  options.age_bound = 10;
  Scheduler scheduler(options, pool);
  auto finish_one = [&](Sequence& s) {
    scheduler.commit();
    scheduler.finish(s, true);
  };
  Sequence& seed = scheduler.add(1, prompt_of(32), 40, false);
  scheduler.plan();
  finish_one(seed);
  Sequence& stranger = scheduler.add(2, prompt_of(32, 500), 40, false);
  int overtaken = 0;
  for (uint64_t id = 3; id < 40; ++id) {
    Sequence& friendly = scheduler.add(id, prompt_of(32), 40, false);
    const Plan& plan = scheduler.plan();
    if (planned(plan, stranger) > 0) break;
    ASSERT_GT(planned(plan, friendly), 0);
    ++overtaken;
    finish_one(friendly);
  }
  EXPECT_EQ(overtaken, 10);
}

TEST(Scheduler, AdmitsOnlyWhatFitsBesideTheRunning) {
  BlockPool pool(10, kSize);
  Scheduler scheduler(options_of(4, 100, 8), pool);
  Sequence& a = scheduler.add(1, prompt_of(56, 100), 80, false);  // needs 8 blocks with one more
  Sequence& b = scheduler.add(2, prompt_of(20, 300), 80, false);  // needs 3
  Sequence& c = scheduler.add(3, prompt_of(7, 400), 80, false);   // needs 1
  scheduler.plan();
  scheduler.commit();
  EXPECT_GE(a.slot, 0);
  EXPECT_LT(b.slot, 0);  // although 9 blocks are free at this moment
  EXPECT_LT(c.slot, 0);  // the queue is not overtaken by what happens to fit
  scheduler.finish(a, false);
  scheduler.plan();
  EXPECT_GE(b.slot, 0);
  EXPECT_GE(c.slot, 0);
}

// Arrivals, steps, failures, cancels and preemptions at random. Every sequence that is not
// cancelled ends, every token is planned in order and just once between preemptions.
class SchedulerRandom : public testing::TestWithParam<int> {};

TEST_P(SchedulerRandom, Operations) {
  std::mt19937 rng(static_cast<uint32_t>(GetParam()));
  auto below = [&](int n) { return static_cast<int>(rng() % static_cast<uint32_t>(n)); };
  constexpr int kMost = 60;
  BlockPool pool(8 + below(20), kSize);
  SchedulerOptions options = options_of(1 + below(6), 6 + below(60), 1 + below(30));
  options.prompt_logit_rows = 1 + below(20);
  options.prefix_cache = below(4) > 0;
  options.modes_differ = below(2) > 0;
  options.age_bound = below(20);
  Scheduler scheduler(options, pool);
  std::map<uint64_t, Sequence*> live;
  std::map<uint64_t, int> wanted;
  uint64_t next_id = 1;
  int done = 0;

  auto retire = [&](uint64_t id, bool reusable) {
    scheduler.finish(*live.at(id), reusable);
    live.erase(id);
    ++done;
  };
  auto step = [&] {
    const Plan& plan = scheduler.plan();
    ASSERT_TRUE(live.empty() || !plan.runs.empty());
    std::set<Sequence*> seen;
    int tokens = 0;
    for (const PlannedRun& run : plan.runs) {
      ASSERT_TRUE(seen.insert(run.sequence).second);
      ASSERT_EQ(run.begin, run.sequence->computed);
      ASSERT_GT(run.count, 0);
      ASSERT_LE(run.begin + run.count, run.sequence->known());
      ASSERT_LE(run.count, std::max(1, options.chunk_tokens));
      tokens += run.count;
    }
    ASSERT_EQ(tokens, plan.tokens);
    ASSERT_LE(tokens, options.batch_tokens);
    for (const BlockCopy& copy : plan.copies) {
      ASSERT_NE(copy.from, copy.to);
      ASSERT_GT(copy.tokens, 0);
      ASSERT_LT(copy.tokens, kSize);
    }
    std::vector<Sequence*> batch(seen.begin(), seen.end());
    std::sort(batch.begin(), batch.end(), [](auto* a, auto* b) { return a->id < b->id; });
    if (below(30) == 0) {  // the model threw
      for (Sequence* s : batch) retire(s->id, false);
      return;
    }
    scheduler.commit();
    for (Sequence* s : batch) {
      if (s->score_prompt) scheduler.mark_scored(*s, std::min(s->computed, s->prompt_tokens));
      if (s->remaining() > 0) continue;
      if (s->known() >= wanted[s->id]) {
        retire(s->id, true);
      } else {
        scheduler.append(*s, below(3));
      }
    }
  };
  for (int i = 0; i < 1500; ++i) {
    int dice = below(10);
    if (dice < 2 && live.size() < 12) {
      std::vector<int32_t> prompt(static_cast<size_t>(1 + below(40)));
      for (int32_t& id : prompt) id = below(10) == 0 ? below(3) : 0;  // long common heads
      wanted[next_id] = std::min(kMost, static_cast<int>(prompt.size()) + below(30));
      live[next_id] = &scheduler.add(next_id, prompt, kMost, below(4) == 0);
      ++next_id;
    } else if (dice == 2 && !live.empty() && below(4) == 0) {
      retire(std::next(live.begin(), below(static_cast<int>(live.size())))->first, true);
    } else if (dice == 3 && !live.empty()) {
      Sequence* s = std::next(live.begin(), below(static_cast<int>(live.size())))->second;
      if (s->slot >= 0) scheduler.preempt(*s);
    } else {
      step();
    }
    if (HasFatalFailure()) return;
    scheduler.check_integrity();
  }
  for (int guard = 0; !live.empty(); ++guard) {
    ASSERT_LT(guard, 20000);
    step();
    if (HasFatalFailure()) return;
    scheduler.check_integrity();
  }
  EXPECT_EQ(done, static_cast<int>(next_id) - 1);
  EXPECT_EQ(pool.available(), pool.total());
  EXPECT_EQ(scheduler.running(), 0);
  EXPECT_EQ(scheduler.waiting(), 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SchedulerRandom, testing::Range(0, 40));

}  // namespace
}  // namespace crane
