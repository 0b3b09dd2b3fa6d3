#include "engine/sampling_filters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/golden.h"

namespace crane {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

std::vector<int32_t> sorted_ids(const Candidates& candidates) {
  std::vector<int32_t> ids;
  for (const Candidate& item : candidates.items()) ids.push_back(item.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

void expect_ordered_head(const Candidates& candidates) {
  for (size_t i = 0; i < candidates.ordered(); ++i)
    for (size_t j = i + 1; j < candidates.size(); ++j) {
      bool before =
          candidates[i].logit > candidates[j].logit ||
          (candidates[i].logit == candidates[j].logit && candidates[i].id < candidates[j].id);
      EXPECT_TRUE(before) << i << " " << j;
    }
}

void apply(const Json& c, const std::vector<float>& row, Candidates& candidates) {
  auto name = c.get<std::string>("filter");
  auto p = c.get<float>("p", 0.0f);
  auto min_keep = static_cast<size_t>(c.get<int>("min_keep", 1));
  if (name == "top_k") keep_top_k(candidates, c.get<int>("k"));
  if (name == "top_p") keep_top_p(candidates, p, min_keep);
  if (name == "typical") keep_typical(candidates, p, min_keep);
  if (name == "min_p") keep_min_p(candidates, p, min_keep);
  if (name == "top_n_sigma") candidates.fill(row, top_n_sigma_floor(row, c.get<float>("n")));
  if (name == "xtc") exclude_top_choices(candidates, c.get<float>("threshold"), min_keep);
  if (name == "mirostat_1")
    keep_top_k(candidates, mirostat_top_k(candidates, c.get<float>("mu"), c.get<int>("vocab")));
  if (name == "mirostat_2") keep_surprise_below(candidates, c.get<float>("mu"));
}

// Each filter from every state of order that the filters before it can leave.
TEST(SamplingFilters, KeepWhatTheDefinitionsKeep) {
  for (const Json& c : golden::cases("filters")) {
    std::vector<float> row = golden::floats(c["logits"]);
    for (size_t ordered : {size_t{0}, size_t{1}, size_t{3}, row.size()}) {
      Candidates candidates;
      candidates.fill(row, kMinusInfinity);
      candidates.order(ordered);
      apply(c, row, candidates);
      EXPECT_EQ(sorted_ids(candidates), golden::ints(c["kept"])) << c.dump();
      expect_ordered_head(candidates);
    }
  }
}

TEST(SamplingFilters, FlatDistributionsOfALargeVocabulary) {
  for (const Json& c : golden::cases("big")) {
    auto vocab = static_cast<size_t>(c.get<int>("vocab"));
    std::vector<float> row(vocab);
    for (size_t i = 0; i < vocab; ++i) {
      uint32_t hash =
          static_cast<uint32_t>(i) * 2654435761u + static_cast<uint32_t>(c.get<int>("shift"));
      row[i] = static_cast<float>(hash >> 12) / 1048576.0f * c.get<float>("scale");
    }
    Candidates candidates;
    candidates.fill(row, kMinusInfinity);
    apply(c, row, candidates);
    int64_t sum = 0;
    for (const Candidate& item : candidates.items()) sum += item.id;
    // The boundary lies between tokens of almost equal mass: rounding may move it by a few.
    int64_t expected = c.get<int64_t>("id_sum");
    EXPECT_NEAR(static_cast<double>(candidates.size()), c.get<double>("count"), 3) << c.dump();
    EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(expected),
                3.0 * static_cast<double>(vocab));
    EXPECT_LE(candidates.ordered(), 4096u);  // a head, not the vocabulary
  }
}

TEST(SamplingFilters, TemperaturesGiveTheReferenceDistribution) {
  for (const Json& c : golden::cases("temperature")) {
    std::vector<float> row = golden::floats(c["logits"]);
    Candidates candidates;
    candidates.fill(row, kMinusInfinity);
    auto temperature = c.get<float>("temperature");
    if (c.contains("range")) {
      apply_dynamic_temperature(candidates, temperature, c.get<float>("range"),
                                c.get<float>("exponent"));
    } else {
      apply_temperature(candidates, temperature);
    }
    double sum = candidates.weigh();
    std::vector<float> expected = golden::floats(c["probabilities"]);
    for (const Candidate& item : candidates.items())
      EXPECT_NEAR(static_cast<double>(item.weight) / sum, expected[static_cast<size_t>(item.id)],
                  2e-6);
  }
}

TEST(SamplingFilters, DynamicTemperatureOfZeroIsTheBest) {
  std::vector<float> row{0.0f, 1.0f, 60.0f};  // the entropy is as good as zero
  Candidates candidates;
  candidates.fill(row, kMinusInfinity);
  apply_dynamic_temperature(candidates, 0.5f, 0.5f, 1000.0f);
  EXPECT_EQ(sorted_ids(candidates), std::vector<int32_t>{2});
}

TEST(SamplingFilters, TinyTemperatureDoesNotOverflow) {
  std::vector<float> row{3.0f, 1e30f, 2.0f};
  Candidates candidates;
  candidates.fill(row, kMinusInfinity);
  apply_temperature(candidates, 1e-38f);
  EXPECT_EQ(candidates[draw_index(candidates, 0.999)].id, 1);
}

TEST(SamplingFilters, FillLeavesForbiddenTokensOut) {
  std::vector<float> row{1.0f, kMinusInfinity, 3.0f, 2.0f, kMinusInfinity};
  Candidates candidates;
  candidates.fill(row, kMinusInfinity);
  EXPECT_EQ(sorted_ids(candidates), (std::vector<int32_t>{0, 2, 3}));
  for (size_t k : {1u, 2u, 3u, 4u, 5u, 6u, 2000u}) {
    candidates.fill_highest(row, k);
    ASSERT_EQ(candidates.size(), std::min<size_t>(k, 3));
    EXPECT_EQ(candidates[0].id, 2);
    expect_ordered_head(candidates);
  }
  candidates.fill_highest(std::vector<float>(4, kMinusInfinity), 2);
  EXPECT_TRUE(candidates.empty());
}

TEST(SamplingFilters, HighestOfALargeVocabulary) {
  std::vector<float> row(50000);
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<float>((i * 7919) % 997);  // many ties
  for (size_t k : {1u, 40u, 1024u, 1025u, 5000u}) {
    std::vector<int32_t> expected(row.size());
    for (size_t i = 0; i < row.size(); ++i) expected[i] = static_cast<int32_t>(i);
    std::stable_sort(expected.begin(), expected.end(), [&](int32_t a, int32_t b) {
      return row[static_cast<size_t>(a)] > row[static_cast<size_t>(b)];
    });
    Candidates candidates;
    candidates.fill_highest(row, k);
    ASSERT_EQ(candidates.size(), k);
    EXPECT_EQ(candidates.ordered(), k);
    for (size_t i = 0; i < k; ++i) ASSERT_EQ(candidates[i].id, expected[i]);
  }
}

TEST(SamplingFilters, DrawNeverTakesWeightZero) {
  std::vector<float> row{-1000.0f, 0.0f, -1000.0f, 0.0f, -1000.0f};
  Candidates candidates;
  candidates.fill(row, kMinusInfinity);
  EXPECT_EQ(candidates[draw_index(candidates, 0.0)].id, 1);
  EXPECT_EQ(candidates[draw_index(candidates, 0.4999)].id, 1);
  EXPECT_EQ(candidates[draw_index(candidates, 0.5)].id, 3);
  EXPECT_EQ(candidates[draw_index(candidates, 1.0)].id, 3);
}

TEST(SamplingFilters, Mirostat1CannotFail) {
  for (const std::vector<float>& row :
       {std::vector<float>{1.0f}, std::vector<float>(50, 2.0f),
        std::vector<float>{0.0f, 3e38f, -3e38f}, std::vector<float>{5.0f, 5.0f}}) {
    for (float mu : {-1e30f, -5.0f, 0.0f, 5.0f, 1e30f}) {
      Candidates candidates;
      candidates.fill(row, kMinusInfinity);
      int k = mirostat_top_k(candidates, mu, static_cast<int>(row.size()));
      EXPECT_GE(k, 1);
      EXPECT_LE(k, static_cast<int>(row.size()));
    }
  }
}

}  // namespace
}  // namespace crane
