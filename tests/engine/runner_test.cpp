#include "engine/runner.h"

#include <gtest/gtest.h>

#include "engine/fake_model.h"

namespace crane {
namespace {

using fake::World;

int32_t best_of(std::span<const float> row) {
  return static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

TEST(Runner, ForcedPreemptionAtEveryStep) {
  std::vector<int32_t> prompt;
  for (int i = 0; i < 100; ++i) prompt.push_back((i * 7) % fake::kVocab);
  for (bool modes : {false, true}) {
    auto expected = fake::greedy(prompt, 80, modes);
    for (bool prefix_cache : {false, true}) {
      for (int period = 1; period <= 9; ++period) {
        if (!prefix_cache && period < 5) continue;  // would start over for ever
        World world(256, modes);
        KvCache cache(world.model.state_spec(), DType::f32, 6);
        BlockPool pool(6, KvCache::kBlockSize);
        SchedulerOptions options;
        options.chunk_tokens = 30;
        options.prefix_cache = prefix_cache;
        options.modes_differ = modes;
        Scheduler scheduler(options, pool);
        Runner runner(world.device, world.model, cache);
        Sequence& s = scheduler.add(1, prompt, 180, false);
        // Without the tree all of it is computed again: give it time to.
        int steps_between = prefix_cache ? period : 8 + period;
        for (int step = 1; s.known() < 180; ++step) {
          ASSERT_LT(step, 3000);
          const Plan& plan = scheduler.plan();
          auto rows = runner.run(plan);
          scheduler.commit();
          for (const LogitRow& row : rows)
            if (row.index == s.known() - 1) scheduler.append(s, best_of(row.logits));
          if (step % steps_between == 0) scheduler.preempt(s);
          scheduler.check_integrity();
        }
        EXPECT_EQ(std::vector<int32_t>(s.tokens.begin() + 100, s.tokens.end()), expected);
      }
    }
  }
}

TEST(Runner, ChunkWithBothModesBecomesTwoRuns) {
  World world(256, true);
  KvCache cache(world.model.state_spec(), DType::f32, 6);
  BlockPool pool(6, KvCache::kBlockSize);
  SchedulerOptions options;
  options.prefix_cache = false;
  options.modes_differ = true;
  Scheduler scheduler(options, pool);
  Runner runner(world.device, world.model, cache);
  Sequence& a = scheduler.add(1, std::vector<int32_t>{1, 2, 3}, 50, false);
  for (int i = 0; i < 4; ++i) {
    runner.run(scheduler.plan());
    scheduler.commit();
    scheduler.append(a, 10 + i);
  }
  scheduler.preempt(a);
  scheduler.add(2, std::vector<int32_t>{4, 5}, 50, false);
  bool seen = false;
  world.model.before_forward = [&](const Batch& batch) {
    ASSERT_EQ(batch.runs.size(), 3u);
    EXPECT_EQ(batch.prompt_tokens, 5);
    EXPECT_EQ(batch.tokens, (std::vector<int32_t>{1, 2, 3, 4, 5, 10, 11, 12, 13}));
    EXPECT_EQ(batch.positions, (std::vector<int32_t>{0, 1, 2, 0, 1, 3, 4, 5, 6}));
    EXPECT_EQ(batch.logit_rows, (std::vector<int32_t>{4, 8}));
    EXPECT_EQ(batch.runs[2].past, 3);
    EXPECT_EQ(batch.runs[2].mode, TokenMode::generated);
    EXPECT_EQ(batch.runs[2].first_block, batch.runs[0].first_block);
    EXPECT_EQ(batch.runs[2].slot, batch.runs[0].slot);
    seen = true;
  };
  auto rows = runner.run(scheduler.plan());
  EXPECT_TRUE(seen);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].id, 2u);
  EXPECT_EQ(rows[1].id, 1u);
  EXPECT_EQ(rows[1].index, 6);
}

class WrongShape : public TextModel {
 public:
  explicit WrongShape(Device& device) : device_(device) {}
  int vocab_size() const override { return 5; }
  int context_length() const override { return 64; }
  StateSpec state_spec() const override { return StateSpec::attention(1, 1, 1); }
  Tensor forward(const Batch&, KvCache&) const override { return device_.empty({1, 4}); }

 private:
  Device& device_;
};

TEST(Runner, RefusesLogitsOfAnotherShape) {
  World world;
  WrongShape model(world.device);
  KvCache cache(model.state_spec(), DType::f32, 6);
  BlockPool pool(6, KvCache::kBlockSize);
  Scheduler scheduler({}, pool);
  Runner runner(world.device, model, cache);
  scheduler.add(1, std::vector<int32_t>{1, 2, 3}, 50, false);
  try {
    runner.run(scheduler.plan());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_NE(std::string(error.what()).find("[1, 4]"), std::string::npos);
  }
}

}  // namespace
}  // namespace crane
