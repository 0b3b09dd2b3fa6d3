// Scores, stops, limits and errors of single requests.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/engine_support.h"

namespace crane {
namespace {

using fake::World;

TEST(EngineRequests, ScoreGivesLogprobsOfThePrompt) {
  std::mt19937 rng(5);
  for (int blocks : {128, 8}) {
    World world;
    EngineOptions options = small_cache(blocks);
    options.chunk_tokens = 50;
    Engine engine(world.device, world.model, options);
    std::vector<std::vector<int32_t>> prompts;
    std::vector<Outcome> outcomes(5);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      prompts.push_back(random_prompt(rng, 1 + static_cast<int>(i) * 97));
      Request request = greedy_request(prompts[i], 0);
      request.prompt_logprobs = true;
      request.top_logprobs = 3;
      engine.submit(recording(request, outcomes[i]));
    }
    run_all(engine);
    EXPECT_LE(world.model.most_rows, 64 + 16);
    for (size_t i = 0; i < outcomes.size(); ++i) {
      ASSERT_EQ(outcomes[i].prompt.size(), prompts[i].size());
      EXPECT_TRUE(outcomes[i].ids.empty());
      EXPECT_EQ(outcomes[i].end.reason, FinishReason::length);
      EXPECT_TRUE(std::isnan(outcomes[i].prompt[0].logprob));
      std::vector<int64_t> context;
      for (size_t t = 0; t < prompts[i].size(); ++t) {
        EXPECT_EQ(outcomes[i].prompt[t].id, prompts[i][t]);
        context.push_back(fake::content_of(prompts[i][t], false));
        auto logits = fake::logits_of(context);
        long double sum = 0;
        for (float x : logits) sum += std::exp(static_cast<long double>(x));
        auto logprob = [&](int32_t id) {
          return static_cast<float>(static_cast<long double>(logits[static_cast<size_t>(id)]) -
                                    std::log(sum));
        };
        if (t + 1 < prompts[i].size()) {
          EXPECT_NEAR(outcomes[i].prompt[t + 1].logprob, logprob(prompts[i][t + 1]), 1e-6f);
        }
        std::vector<int32_t> order(fake::kVocab);
        for (int id = 0; id < fake::kVocab; ++id) order[static_cast<size_t>(id)] = id;
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
          return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
        });
        ASSERT_EQ(outcomes[i].prompt[t].top.size(), 3u);
        for (size_t k = 0; k < 3; ++k) {
          EXPECT_EQ(outcomes[i].prompt[t].top[k].id, order[k]);
          EXPECT_NEAR(outcomes[i].prompt[t].top[k].logprob, logprob(order[k]), 1e-6f);
        }
      }
    }
    expect_idle(engine);
  }
}

TEST(EngineRequests, LogprobsOfGeneratedTokensAreRaw) {
  World world;
  Engine engine(world.device, world.model, {});
  Request request = greedy_request({9}, 4);
  request.logprobs = true;
  request.top_logprobs = 2;
  request.sampling.logit_bias = {{7, 100.0f}};
  Outcome outcome;
  engine.submit(recording(request, outcome));
  run_all(engine);
  std::vector<int64_t> context{fake::content_of(9, false)};
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(outcome.ids[i], 7);
    auto logits = fake::logits_of(context);
    double sum = 0;
    for (float x : logits) sum += std::exp(static_cast<double>(x));
    EXPECT_NEAR(outcome.logprobs[i], static_cast<double>(logits[7]) - std::log(sum), 1e-6);
    EXPECT_EQ(outcome.top[i].size(), 2u);
    context.push_back(fake::content_of(7, false));
  }
}

TEST(EngineRequests, StopIdsMinTokensAndIgnoreEos) {
  World world;
  Engine engine(world.device, world.model, {});
  auto expected = fake::greedy({5, 6}, 20, false);
  int32_t stop = expected[3];
  size_t first =
      static_cast<size_t>(std::find(expected.begin(), expected.end(), stop) - expected.begin());
  Outcome stopped, ignored, forced;
  Request request = greedy_request({5, 6}, 20);
  request.stop_ids = {stop, 100000, -3};  // ids outside the vocabulary never come
  engine.submit(recording(request, stopped));
  request.ignore_eos = true;
  engine.submit(recording(request, ignored));
  request.ignore_eos = false;
  request.min_tokens = 10;
  engine.submit(recording(request, forced));
  run_all(engine);
  EXPECT_EQ(stopped.ids,
            std::vector<int32_t>(expected.begin(), expected.begin() + static_cast<long>(first)));
  EXPECT_EQ(stopped.end.reason, FinishReason::stop);
  EXPECT_EQ(stopped.end.generated_tokens, static_cast<int>(first) + 1);  // the stop id counts
  EXPECT_EQ(ignored.ids, expected);
  EXPECT_GE(forced.ids.size(), 10u);
  for (size_t i = 0; i < 10; ++i) EXPECT_NE(forced.ids[i], stop);
}

TEST(EngineRequests, ContextFullIsLength) {
  World world(70);
  Engine engine(world.device, world.model, {});
  Outcome open, full, scored;
  engine.submit(recording(greedy_request({1, 2, 3}, -1), open));
  std::mt19937 rng(6);
  auto prompt = random_prompt(rng, 70);
  engine.submit(recording(greedy_request(prompt, -1), full));
  Request score = greedy_request(prompt, 0);
  score.prompt_logprobs = true;
  engine.submit(recording(score, scored));
  run_all(engine);
  EXPECT_EQ(open.ids, fake::greedy({1, 2, 3}, 67, false));
  EXPECT_EQ(open.end.reason, FinishReason::length);
  EXPECT_TRUE(full.ids.empty());
  EXPECT_EQ(full.end.reason, FinishReason::length);
  EXPECT_EQ(scored.prompt.size(), 70u);
  try {
    engine.submit(greedy_request(random_prompt(rng, 71), 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("71"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("70"), std::string::npos);
  }
}

TEST(EngineRequests, RefusesWhatCannotRun) {
  World world;
  Engine engine(world.device, world.model, {});
  auto refused = [&](auto change) {
    Request request = greedy_request({1}, 1);
    change(request);
    try {
      engine.submit(request);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  EXPECT_TRUE(refused([](Request& r) { r.prompt.clear(); }));
  EXPECT_TRUE(refused([](Request& r) { r.prompt = {fake::kVocab}; }));
  EXPECT_TRUE(refused([](Request& r) { r.prompt = {-1}; }));
  EXPECT_TRUE(refused([](Request& r) { r.max_tokens = -2; }));
  EXPECT_TRUE(refused([](Request& r) { r.min_tokens = -1; }));
  EXPECT_TRUE(refused([](Request& r) { r.top_logprobs = -1; }));
  EXPECT_TRUE(refused([](Request& r) { r.sampling.top_p = 1.5f; }));
  EXPECT_FALSE(refused([](Request&) {}));
  EngineOptions options;
  options.context_length = 513;  // past the model's: allowed
  EXPECT_EQ(Engine(world.device, world.model, options).context_length(), 513);
  options.context_length = -1;
  EXPECT_THROW(Engine(world.device, world.model, options), Error);
  options = {};
  options.batch_tokens = 3;
  EXPECT_THROW(Engine(world.device, world.model, options), Error);
}

TEST(EngineRequests, ForwardThatThrowsEndsItsBatchOnly) {
  World world;
  EngineOptions options;
  options.max_running = 2;
  Engine engine(world.device, world.model, options);
  std::vector<Outcome> outcomes(3);
  for (size_t i = 0; i < 3; ++i)
    engine.submit(recording(greedy_request({static_cast<int32_t>(i), 8}, 10), outcomes[i]));
  for (int i = 0; i < 3; ++i) engine.step();
  world.model.before_forward = [](const Batch&) {
    throw Error(ErrorCode::out_of_memory, "arena: no room");
  };
  engine.step();
  world.model.before_forward = nullptr;
  run_all(engine);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(outcomes[i].end.reason, FinishReason::error);
    ASSERT_TRUE(outcomes[i].end.error.has_value());
    EXPECT_EQ(outcomes[i].end.error->code(), ErrorCode::out_of_memory);
    EXPECT_EQ(outcomes[i].ids.size(), 3u);
  }
  EXPECT_EQ(outcomes[2].ids, fake::greedy({2, 8}, 10, false));
  expect_idle(engine);
}

TEST(EngineRequests, NonFiniteLogitsEndThatRequestOnly) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                    -std::numeric_limits<float>::infinity()}) {
    for (float temperature : {0.0f, 0.7f}) {
      World world;
      world.model.change_row = [bad](const std::vector<int64_t>& context, std::vector<float>& row) {
        if (context[0] == fake::content_of(13, false) && context.size() > 4) row[49] = bad;
      };
      Engine engine(world.device, world.model, {});
      Outcome sick, healthy;
      Request request = greedy_request({13, 1}, 10);
      request.sampling.temperature = temperature;
      engine.submit(recording(request, sick));
      engine.submit(recording(greedy_request({12, 1}, 10), healthy));
      run_all(engine);
      EXPECT_EQ(sick.end.reason, FinishReason::error);
      ASSERT_TRUE(sick.end.error.has_value());
      EXPECT_NE(std::string(sick.end.error->what()).find("numerical error"), std::string::npos);
      EXPECT_EQ(sick.ids.size(), 3u);
      EXPECT_EQ(healthy.ids, fake::greedy({12, 1}, 10, false));
      expect_idle(engine);
    }
  }
}

TEST(EngineRequests, CallbackThatThrowsEndsItsRequest) {
  World world;
  Engine engine(world.device, world.model, {});
  Outcome bad, good;
  Request request = recording(greedy_request({1}, 10), bad);
  request.on_token = [](const TokenEvent&) { throw std::runtime_error("client went mad"); };
  engine.submit(request);
  request = recording(greedy_request({1, 4}, 0), bad);
  request.on_finish = [](const FinishEvent&) { throw 1; };
  engine.submit(request);
  engine.submit(recording(greedy_request({2}, 10), good));
  run_all(engine);
  EXPECT_EQ(bad.end.reason, FinishReason::error);
  EXPECT_EQ(bad.end.error->code(), ErrorCode::internal);
  EXPECT_EQ(good.ids, fake::greedy({2}, 10, false));
  expect_idle(engine);
}

TEST(EngineRequests, ForbiddenVocabularyIsAnError) {
  World world;
  Engine engine(world.device, world.model, {});
  for (float temperature : {0.0f, 1.0f}) {
    Request request = greedy_request({1}, 10);
    request.sampling.temperature = temperature;
    for (int id = 0; id < fake::kVocab; ++id)
      request.sampling.logit_bias.push_back({id, -std::numeric_limits<float>::infinity()});
    Outcome outcome;
    engine.submit(recording(request, outcome));
    run_all(engine);
    EXPECT_EQ(outcome.end.reason, FinishReason::error);
    EXPECT_EQ(outcome.end.error->code(), ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace crane
