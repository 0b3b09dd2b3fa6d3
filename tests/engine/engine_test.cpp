#include "engine/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "engine/engine_support.h"

namespace crane {
namespace {

using fake::World;

TEST(Engine, GreedyEqualsTheDefinition) {
  for (bool modes : {false, true}) {
    World world(512, modes);
    Engine engine(world.device, world.model, {});
    Outcome outcome;
    engine.submit(recording(greedy_request({1, 2, 3}, 200), outcome));
    run_all(engine);
    EXPECT_EQ(outcome.ids, fake::greedy({1, 2, 3}, 200, modes));
    EXPECT_EQ(outcome.end.reason, FinishReason::length);
    EXPECT_EQ(outcome.end.prompt_tokens, 3);
    EXPECT_EQ(outcome.end.generated_tokens, 200);
    EXPECT_EQ(outcome.ends, 1);
    expect_idle(engine);
  }
}

// Prompts that share heads of many lengths, to reach the prefix tree in every way.
std::vector<std::vector<int32_t>> shared_prompts(uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<int32_t> base = random_prompt(rng, 200);
  std::vector<std::vector<int32_t>> prompts;
  for (int shared : {0, 1, 63, 64, 65, 128, 150, 191, 192, 200}) {
    std::vector<int32_t> prompt(base.begin(), base.begin() + shared);
    std::vector<int32_t> rest = random_prompt(rng, 1 + static_cast<int>(rng() % 90));
    prompt.insert(prompt.end(), rest.begin(), rest.end());
    prompts.push_back(prompt);
    prompts.push_back(std::move(prompt));  // twice
  }
  return prompts;
}

struct Variation {
  int chunk;
  bool prefix_cache;
  int blocks;  // of the pool; a full context needs 8
  int max_running;
  bool modes;
};

class EngineVariations : public testing::TestWithParam<Variation> {};

TEST_P(EngineVariations, OutputNeverChanges) {
  Variation v = GetParam();
  World world(512, v.modes);
  EngineOptions options = small_cache(v.blocks);
  options.chunk_tokens = v.chunk;
  options.prefix_cache = v.prefix_cache;
  options.max_running = v.max_running;
  Engine engine(world.device, world.model, options);
  ASSERT_EQ(engine.context_length(), 512);
  auto prompts = shared_prompts(7);
  std::vector<Outcome> outcomes(prompts.size());
  for (int round = 0; round < 2; ++round) {
    for (Outcome& outcome : outcomes) outcome = {};
    for (size_t i = 0; i < prompts.size(); ++i) {
      engine.submit(recording(greedy_request(prompts[i], 70), outcomes[i]));
      if (i % 3 == 0) engine.step();
    }
    run_all(engine);
    for (size_t i = 0; i < prompts.size(); ++i) {
      EXPECT_EQ(outcomes[i].ids, fake::greedy(prompts[i], 70, v.modes)) << "prompt " << i;
      if (!v.prefix_cache) {
        EXPECT_EQ(outcomes[i].end.cached_tokens, 0);
      }
    }
    expect_idle(engine);
  }
  if (v.blocks <= 12 && v.max_running > 4) {
    EXPECT_GT(engine.stats().preemptions, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EngineVariations,
    testing::Values(Variation{1, true, 128, 8, false}, Variation{7, true, 128, 8, false},
                    Variation{512, true, 128, 8, false}, Variation{512, false, 128, 8, false},
                    Variation{7, false, 12, 8, false}, Variation{512, true, 8, 8, false},
                    Variation{7, true, 9, 8, true}, Variation{512, true, 12, 8, true},
                    Variation{512, true, 128, 1, true}, Variation{64, true, 10, 16, true}));

TEST(Engine, PrefixCacheIsUsedAndCounted) {
  World world;
  Engine engine(world.device, world.model, {});
  std::mt19937 rng(1);
  auto prompt = random_prompt(rng, 300);
  Outcome first, second, longer;
  engine.submit(recording(greedy_request(prompt, 5), first));
  run_all(engine);
  int columns = world.model.columns;
  engine.submit(recording(greedy_request(prompt, 5), second));
  run_all(engine);
  EXPECT_EQ(first.end.cached_tokens, 0);
  EXPECT_EQ(second.end.cached_tokens, 299);  // the last prompt token gives the logits
  EXPECT_EQ(world.model.columns - columns, 1 + 4);
  EXPECT_EQ(second.ids, first.ids);
  // A next turn: prompt, reply and a question. Where modes are equal, the reply is found too.
  auto turn = prompt;
  turn.insert(turn.end(), first.ids.begin(), first.ids.end());
  turn.push_back(3);
  engine.submit(recording(greedy_request(turn, 5), longer));
  run_all(engine);
  EXPECT_EQ(longer.end.cached_tokens, 304);
  EXPECT_EQ(longer.ids, fake::greedy(turn, 5, false));
}

TEST(Engine, ReplyIsPromptTextInTheNextTurn) {  // where modes differ it must be computed again
  World world(512, true);
  Engine engine(world.device, world.model, {});
  std::mt19937 rng(2);
  auto prompt = random_prompt(rng, 64);
  Outcome first, second;
  engine.submit(recording(greedy_request(prompt, 100), first));
  run_all(engine);
  auto turn = prompt;
  turn.insert(turn.end(), first.ids.begin(), first.ids.end());
  engine.submit(recording(greedy_request(turn, 20), second));
  run_all(engine);
  EXPECT_EQ(second.end.cached_tokens, 64);
  EXPECT_EQ(second.ids, fake::greedy(turn, 20, true));
}

// Another request arrives at every step and, being older in nothing, takes what it can get; with
// room for little more than one context, running ones are preempted all the time.
TEST(Engine, PreemptionAtEveryStepChangesNothing) {
  for (bool modes : {false, true}) {
    for (int chunk : {5, 512}) {
      World world(256, modes);
      EngineOptions options = small_cache(5);
      options.max_running = 6;
      options.chunk_tokens = chunk;
      Engine engine(world.device, world.model, options);
      std::mt19937 rng(3);
      std::vector<std::vector<int32_t>> prompts;
      std::vector<Outcome> outcomes(24);
      for (size_t i = 0; i < outcomes.size(); ++i)
        prompts.push_back(random_prompt(rng, 20 + static_cast<int>(rng() % 50)));
      for (size_t i = 0; i < outcomes.size(); ++i)
        engine.submit(recording(greedy_request(prompts[i], 120), outcomes[i]));
      run_all(engine);
      EXPECT_GT(engine.stats().preemptions, 10);
      for (size_t i = 0; i < outcomes.size(); ++i)
        EXPECT_EQ(outcomes[i].ids, fake::greedy(prompts[i], 120, modes)) << i;
      expect_idle(engine);
    }
  }
}

TEST(Engine, CancelAtEveryStep) {
  auto prompts = shared_prompts(11);
  for (int at = 0; at < 40; ++at) {
    World world;
    EngineOptions options = small_cache(12);
    options.chunk_tokens = 40;
    Engine engine(world.device, world.model, options);
    std::vector<Outcome> outcomes(6);
    std::vector<Engine::RequestId> ids;
    for (size_t i = 0; i < outcomes.size(); ++i)
      ids.push_back(engine.submit(recording(greedy_request(prompts[i * 2], 30), outcomes[i])));
    for (int step = 0; step < at; ++step) engine.step();
    size_t victim = static_cast<size_t>(at) % outcomes.size();
    engine.cancel(ids[victim]);
    engine.step();
    EXPECT_EQ(outcomes[victim].ends, 1);  // within one step
    run_all(engine);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      EXPECT_EQ(outcomes[i].ends, 1);
      auto expected = fake::greedy(prompts[i * 2], 30, false);
      if (outcomes[i].end.reason == FinishReason::cancelled) {
        EXPECT_EQ(i, victim);
        expected.resize(outcomes[i].ids.size());
      }
      EXPECT_EQ(outcomes[i].ids, expected);
    }
    expect_idle(engine);
  }
}

TEST(Engine, CancelWhileQueuedDoesNoWork) {
  World world;
  EngineOptions options;
  options.max_running = 1;
  Engine engine(world.device, world.model, options);
  Outcome running, queued;
  engine.submit(recording(greedy_request({1, 2}, 10), running));
  engine.step();
  auto id = engine.submit(recording(greedy_request({3, 4}, 10), queued));
  engine.step();
  EXPECT_EQ(engine.stats().waiting, 1);
  engine.cancel(id);
  engine.cancel(12345);  // unknown: ignored
  run_all(engine);
  EXPECT_EQ(queued.end.reason, FinishReason::cancelled);
  EXPECT_EQ(queued.ends, 1);
  EXPECT_EQ(running.ids, fake::greedy({1, 2}, 10, false));
  EXPECT_EQ(world.model.columns, 2 + 9);
}

TEST(Engine, SeedsReproduceWhateverRunsBeside) {
  auto sampled = [](int mates, int blocks, uint64_t seed) {
    World world;
    EngineOptions options = small_cache(blocks);
    options.max_running = 8;
    Engine engine(world.device, world.model, options);
    std::vector<Outcome> outcomes(static_cast<size_t>(mates) + 1);
    std::mt19937 rng(4);
    for (int i = 0; i <= mates; ++i) {
      Request request = greedy_request({20, 21, 22}, 100);
      if (i != mates / 2) request.prompt = random_prompt(rng, 10 + 17 * i);
      request.sampling = {};
      request.sampling.seed = i == mates / 2 ? seed : static_cast<uint64_t>(i);
      engine.submit(recording(request, outcomes[static_cast<size_t>(i)]));
    }
    run_all(engine);
    return outcomes[static_cast<size_t>(mates) / 2].ids;
  };
  auto alone = sampled(0, 64, 42);
  EXPECT_EQ(alone.size(), 100u);
  EXPECT_EQ(sampled(7, 64, 42), alone);
  EXPECT_EQ(sampled(11, 9, 42), alone);  // with preemptions
  EXPECT_NE(sampled(0, 64, 43), alone);
}

TEST(Engine, RecurrentModelsGetSlotsAndNoPrefixReuse) {
  World world;
  world.model.recurrent = true;
  std::vector<int> slots;
  world.model.before_forward = [&](const Batch& batch) {
    std::vector<bool> used(4, false);
    for (const SequenceRun& run : batch.runs) {
      ASSERT_FALSE(used.at(static_cast<size_t>(run.slot)));
      used[static_cast<size_t>(run.slot)] = true;
    }
  };
  EngineOptions options;
  options.max_running = 4;
  Engine engine(world.device, world.model, options);
  EXPECT_EQ(world.backend->slots, 4);
  std::mt19937 rng(8);
  auto prompt = random_prompt(rng, 100);
  std::vector<Outcome> outcomes(9);
  for (Outcome& outcome : outcomes) engine.submit(recording(greedy_request(prompt, 10), outcome));
  run_all(engine);
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.end.cached_tokens, 0);
    EXPECT_EQ(outcome.ids, fake::greedy(prompt, 10, false));
  }
  EXPECT_EQ(engine.stats().blocks_free, engine.stats().blocks_total);
}

TEST(Engine, ThreadServesManyClients) {
  World world;
  EngineOptions options = small_cache(16);
  options.chunk_tokens = 32;
  auto engine = std::make_unique<Engine>(world.device, world.model, options);
  engine->start();
  auto prompts = shared_prompts(21);
  std::atomic<int> finished{0}, cancelled{0};
  std::vector<std::thread> clients;
  for (size_t c = 0; c < 4; ++c) {
    clients.emplace_back([&, c] {
      for (size_t i = c; i < prompts.size(); i += 4) {
        auto outcome = std::make_shared<Outcome>();
        Request request = recording(greedy_request(prompts[i], 40), *outcome);
        auto expected = fake::greedy(prompts[i], 40, false);
        request.on_finish = [&, outcome, expected](const FinishEvent& end) {
          auto head = expected;
          head.resize(outcome->ids.size());
          EXPECT_EQ(outcome->ids, head);
          if (end.reason == FinishReason::cancelled) ++cancelled;
          ++finished;
        };
        auto id = engine->submit(request);
        if (i % 5 == 0) engine->cancel(id);
        (void)engine->stats();
      }
    });
  }
  for (auto& client : clients) client.join();
  for (int wait = 0; finished < static_cast<int>(prompts.size()) && wait < 6000; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(finished, static_cast<int>(prompts.size()));
  expect_idle(*engine);
  // What runs when the engine goes away is cancelled.
  Outcome last;
  world.model.before_forward = nullptr;
  engine->submit(recording(greedy_request({1, 2, 3}, -1), last));
  engine.reset();
  EXPECT_EQ(last.ends, 1);
}

}  // namespace
}  // namespace crane
