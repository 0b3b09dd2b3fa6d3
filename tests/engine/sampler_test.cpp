#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/allocation_count.h"
#include "engine/golden.h"

namespace crane {
namespace {

SamplingParams neutral() {
  SamplingParams params;
  params.temperature = 1.0f;
  params.top_k = 0;
  params.top_p = 1.0f;
  params.min_p = 0.0f;
  params.seed = 1;
  return params;
}

SamplingParams params_of(const Json& c) {
  SamplingParams params = neutral();
  params.temperature = c.get<float>("temperature");
  params.dynamic_temperature_range = c.get<float>("dynatemp_range");
  params.dynamic_temperature_exponent = c.get<float>("dynatemp_exponent");
  params.top_k = c.get<int>("top_k");
  params.top_p = c.get<float>("top_p");
  params.min_p = c.get<float>("min_p");
  params.typical_p = c.get<float>("typical_p");
  params.top_n_sigma = c.get<float>("top_n_sigma");
  params.xtc_probability = c.get<float>("xtc_probability");
  params.xtc_threshold = c.get<float>("xtc_threshold");
  params.mirostat = c.get<int>("mirostat");
  params.mirostat_tau = c.get<float>("mirostat_tau");
  params.mirostat_eta = 0.0f;  // the bound stays, so that draws have one distribution
  params.min_keep = c.get<int>("min_keep");
  return params;
}

// Each filter alone and whole chains: the drawn tokens follow the reference's distribution.
TEST(Sampler, ChiSquared) {
  constexpr int kDraws = 20000;
  SamplerScratch scratch;
  for (const Json& c : golden::cases("chain")) {
    std::vector<float> logits = golden::floats(c["logits"]);
    std::vector<float> expected = golden::floats(c["probabilities"]);
    SamplingParams params = params_of(c);
    params.seed = 20240607;
    Sampler sampler(params, static_cast<int>(logits.size()));
    std::vector<int> counts(logits.size(), 0);
    for (int i = 0; i < kDraws; ++i) {
      std::vector<float> row = logits;
      ++counts[static_cast<size_t>(sampler.sample(row, {}, {}, scratch))];
    }
    double chi_squared = 0, rest = 0, rest_count = 0;
    int cells = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      double mean = static_cast<double>(expected[i]) * kDraws;
      if (expected[i] == 0.0f) {
        EXPECT_EQ(counts[i], 0) << "token " << i << " was filtered out: " << c.dump();
      } else if (mean < 5) {  // too rare for a cell of its own
        rest += mean;
        rest_count += counts[i];
      } else {
        chi_squared += (counts[i] - mean) * (counts[i] - mean) / mean;
        ++cells;
      }
    }
    if (rest > 5) {
      chi_squared += (rest_count - rest) * (rest_count - rest) / rest;
      ++cells;
    }
    double freedom = std::max(cells - 1, 1);
    // Wilson and Hilferty's normal form, five sigma.
    double z =
        (std::cbrt(chi_squared / freedom) - (1 - 2 / (9 * freedom))) / std::sqrt(2 / (9 * freedom));
    EXPECT_LT(z, 4.0) << "chi squared " << chi_squared << " of " << freedom << ": " << c.dump();
  }
}

TEST(Sampler, ChainKeepsExactlyTheReferenceTokens) {
  for (const Json& c : golden::cases("chain")) {
    auto share = c.get<float>("xtc_probability");
    if (share > 0 && share < 1) continue;  // a mixture
    std::vector<float> row = golden::floats(c["logits"]);
    std::vector<float> expected = golden::floats(c["probabilities"]);
    SamplerScratch scratch;
    Sampler sampler(params_of(c), static_cast<int>(row.size()));
    sampler.sample(row, {}, {}, scratch);
    double sum = scratch.candidates.weigh();
    std::vector<double> got(expected.size(), 0.0);
    for (const Candidate& item : scratch.candidates.items())
      got[static_cast<size_t>(item.id)] = static_cast<double>(item.weight) / sum;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i] > 0, expected[i] > 0) << c.dump();
      EXPECT_NEAR(got[i], expected[i], 2e-6) << c.dump();
    }
  }
}

TEST(Sampler, TemperatureZeroIsTheHighestAndTheLowerIdOnATie) {
  SamplerScratch scratch;
  SamplingParams params = neutral();
  params.temperature = 0;
  params.xtc_probability = 1.0f;  // these do not touch greedy
  params.mirostat = 2;
  params.dynamic_temperature_range = 1.0f;
  Sampler sampler(params, 5);
  std::vector<float> row{1, 4, 2, 4, 3};
  EXPECT_EQ(sampler.sample(row, {}, {}, scratch), 1);
  row = {1, 4, 2, 4, 3};
  EXPECT_EQ(sampler.sample(row, {}, std::vector<int32_t>{1}, scratch), 3);
  // After bias and penalties.
  params.logit_bias = {{2, 3.0f}};
  params.repeat_penalty = 2.0f;
  params.penalty_last_n = -1;
  Sampler biased(params, 5);
  row = {1, 4, 2, 4, 3};
  EXPECT_EQ(biased.sample(row, {}, {}, scratch), 2);
  row = {1, 4, 2, 4, 3};
  std::vector<int32_t> history{2, 1};
  EXPECT_EQ(biased.sample(row, {history, 2}, {}, scratch), 3);
}

TEST(Sampler, FrequencyCountsGeneratedTokensOnly) {
  SamplerScratch scratch;
  SamplingParams params = neutral();
  params.temperature = 0;
  params.presence_penalty = 1.5f;
  Sampler sampler(params, 3);
  std::vector<int32_t> history{0, 1};
  std::vector<float> row{2, 1, 0};
  EXPECT_EQ(sampler.sample(row, {history, 2}, {}, scratch), 0);  // 0 stood in the prompt
  row = {2, 1, 0};
  EXPECT_EQ(sampler.sample(row, {history, 0}, {}, scratch), 0);  // 0.5, -0.5, 0
  row = {1, 1, 0};
  EXPECT_EQ(sampler.sample(row, {history, 0}, {}, scratch), 2);
}

TEST(Sampler, MirostatHoldsTheSurprise) {
  // Zipf-like logits over a larger vocabulary: the mean surprise settles near tau.
  std::vector<float> logits(2000);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] = -1.1f * std::log(static_cast<float>(i + 1));
  for (int version : {1, 2}) {
    SamplingParams params = neutral();
    params.mirostat = version;
    params.mirostat_tau = 3.0f;
    Sampler sampler(params, 2000);
    SamplerScratch scratch;
    double surprise = 0;
    int counted = 0;
    for (int i = 0; i < 1200; ++i) {
      std::vector<float> row = logits;
      sampler.sample(row, {}, {}, scratch);
      if (i < 200) continue;
      double sum = 0, entropy = 0;  // the mean surprise of what was kept
      for (const Candidate& item : scratch.candidates.items())
        sum += static_cast<double>(item.weight);
      for (const Candidate& item : scratch.candidates.items()) {
        double p = static_cast<double>(item.weight) / sum;
        entropy -= p * std::log2(p);
      }
      surprise += entropy;
      ++counted;
    }
    EXPECT_NEAR(surprise / counted, 3.0, 0.25) << "version " << version;
  }
}

TEST(Sampler, SameSeedSameTokens) {
  auto tokens = [](std::optional<uint64_t> seed) {
    SamplingParams params;
    params.seed = seed;
    params.xtc_probability = 0.5f;
    Sampler sampler(params, 100);
    SamplerScratch scratch;
    std::vector<int32_t> out;
    for (int i = 0; i < 50; ++i) {
      std::vector<float> row(100);
      for (size_t j = 0; j < 100; ++j)
        row[j] = static_cast<float>((j * 37 + static_cast<size_t>(i) * 11) % 17) / 4.0f;
      out.push_back(sampler.sample(row, {}, {}, scratch));
    }
    return out;
  };
  EXPECT_EQ(tokens(5), tokens(5));
  EXPECT_NE(tokens(5), tokens(6));
  EXPECT_NE(tokens(std::nullopt), tokens(std::nullopt));  // from the system's entropy
}

TEST(Sampler, EverythingForbiddenIsNone) {
  for (float temperature : {0.0f, 1.0f}) {
    SamplingParams params;
    params.temperature = temperature;
    Sampler sampler(params, 3);
    SamplerScratch scratch;
    std::vector<float> row{1, 2, 3};
    EXPECT_EQ(sampler.sample(row, {}, std::vector<int32_t>{0, 1, 2}, scratch), Sampler::kNone);
  }
}

// At every legal edge the token is in the vocabulary and not forbidden.
TEST(Sampler, EdgesOfTheRanges) {
  std::vector<SamplingParams> edges;
  auto add = [&](auto change) {
    SamplingParams params;
    params.seed = 3;
    change(params);
    edges.push_back(params);
  };
  const float largest = std::numeric_limits<float>::max();
  add([&](auto& p) { p.temperature = largest; });
  add([&](auto& p) { p.temperature = std::numeric_limits<float>::denorm_min(); });
  add([&](auto& p) { p.top_p = 0; });
  add([&](auto& p) { p.min_p = 1; });
  add([&](auto& p) {
    p.typical_p = 0;
    p.top_k = 0;
  });
  add([&](auto& p) { p.top_n_sigma = largest; });
  add([&](auto& p) { p.top_n_sigma = std::numeric_limits<float>::denorm_min(); });
  add([&](auto& p) {
    p.xtc_probability = 1;
    p.xtc_threshold = 0;
  });
  add([&](auto& p) { p.repeat_penalty = largest; });
  add([&](auto& p) { p.repeat_penalty = std::numeric_limits<float>::min(); });
  add([&](auto& p) {
    p.dry_multiplier = largest;
    p.dry_base = largest;
  });
  add([&](auto& p) { p.dynamic_temperature_range = largest; });
  add([&](auto& p) {
    p.dynamic_temperature_range = 1;
    p.dynamic_temperature_exponent = 0;
  });
  add([&](auto& p) {
    p.mirostat = 1;
    p.mirostat_tau = largest;
    p.mirostat_eta = largest;
  });
  add([&](auto& p) {
    p.mirostat = 2;
    p.mirostat_tau = 0;
    p.mirostat_eta = largest;
  });
  add([&](auto& p) { p.logit_bias = {{1, 1e9f}, {2, -1e9f}}; });
  add([&](auto& p) { p.min_keep = std::numeric_limits<int>::max(); });
  std::vector<int32_t> history{1, 2, 1, 2, 1, 2, 1, 2};
  for (const std::vector<float>& logits :
       {std::vector<float>{0, 0, 0, 0, 0}, std::vector<float>{3e38f, -3e38f, 1, 0, 3e38f},
        std::vector<float>{-1, -2, -3, -4, -50}}) {
    for (const SamplingParams& params : edges) {
      Sampler sampler(params, 5);
      SamplerScratch scratch;
      for (int i = 0; i < 20; ++i) {
        std::vector<float> row = logits;
        int32_t id = sampler.sample(row, {history, 4}, std::vector<int32_t>{3}, scratch);
        ASSERT_GE(id, 0);
        ASSERT_LT(id, 5);
        ASSERT_NE(id, 3);
      }
    }
  }
}

TEST(Sampler, NoAllocationInSteadyState) {
  SamplingParams params = neutral();
  params.repeat_penalty = 1.1f;
  params.penalty_last_n = -1;
  params.frequency_penalty = 0.1f;
  params.dry_multiplier = 0.8f;
  params.dry_sequence_breakers = {{3}};
  params.logit_bias = {{4, 1.0f}};
  std::vector<int32_t> history(500);
  for (size_t i = 0; i < history.size(); ++i) history[i] = static_cast<int32_t>(i * i % 70);
  std::vector<float> logits(5000), row(5000);
  for (size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(i * 7919 % 4096) / 512.0f;
  auto with = [&](auto change) {
    SamplingParams changed = params;
    change(changed);
    return changed;
  };
  for (const SamplingParams& p :
       {with([](auto& q) {
          q.top_k = 40;
          q.top_p = 0.9f;
          q.min_p = 0.05f;
        }),
        with([](auto& q) {
          q.top_p = 0.95f;
          q.typical_p = 0.9f;
          q.xtc_probability = 1;
        }),
        with([](auto& q) {
          q.top_n_sigma = 1;
          q.dynamic_temperature_range = 0.5f;
        }),
        with([](auto& q) { q.mirostat = 1; }), with([](auto& q) { q.mirostat = 2; }),
        with([](auto& q) { q.temperature = 0; })}) {
    Sampler sampler(p, 5000);
    SamplerScratch scratch;
    int64_t before = 0;
    for (int i = 0; i < 10; ++i) {
      if (i == 2) before = allocation_count();
      std::copy(logits.begin(), logits.end(), row.begin());
      sampler.sample(row, {history, 100}, {}, scratch);
    }
    EXPECT_EQ(allocation_count(), before);
  }
}

}  // namespace
}  // namespace crane
