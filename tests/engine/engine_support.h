// Requests to an engine on the fake model, and what came of them.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/fake_model.h"

namespace crane {

struct Outcome {
  std::vector<int32_t> ids;
  std::vector<float> logprobs;
  std::vector<std::vector<TokenLogprob>> top;
  std::vector<TokenEvent> prompt;
  FinishEvent end;
  int ends = 0;
};

// Fills in the callbacks of a request so that they write to `outcome`.
inline Request recording(Request request, Outcome& outcome) {
  request.on_token = [&outcome](const TokenEvent& event) {
    EXPECT_EQ(outcome.ends, 0);
    outcome.ids.push_back(event.id);
    outcome.logprobs.push_back(event.logprob);
    outcome.top.push_back(event.top);
  };
  request.on_prompt_token = [&outcome](int index, const TokenEvent& event) {
    EXPECT_EQ(index, static_cast<int>(outcome.prompt.size()));
    outcome.prompt.push_back(event);
  };
  request.on_finish = [&outcome](const FinishEvent& event) {
    outcome.end = event;
    ++outcome.ends;
  };
  return request;
}

inline Request greedy_request(std::vector<int32_t> prompt, int max_tokens) {
  Request request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  request.sampling.temperature = 0;
  return request;
}

inline std::vector<int32_t> random_prompt(std::mt19937& rng, int length) {
  std::vector<int32_t> prompt;
  for (int i = 0; i < length; ++i) prompt.push_back(static_cast<int32_t>(rng() % fake::kVocab));
  return prompt;
}

inline void run_all(Engine& engine) {
  for (int guard = 0; engine.step(); ++guard) ASSERT_LT(guard, 100000);
}

inline void expect_idle(const Engine& engine) {
  EngineStats stats = engine.stats();
  EXPECT_EQ(stats.running, 0);
  EXPECT_EQ(stats.waiting, 0);
  EXPECT_EQ(stats.blocks_free + stats.blocks_cached, stats.blocks_total);
}

inline EngineOptions small_cache(int blocks) {
  EngineOptions options;
  options.kv_cache_bytes = int64_t{blocks} * KvCache::kBlockSize * 8;  // two f32 a token
  return options;
}

}  // namespace crane
