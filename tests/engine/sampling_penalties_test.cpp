#include "engine/sampling_penalties.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/golden.h"

namespace crane {
namespace {

void expect_row(const std::vector<float>& row, const Json& c) {
  std::vector<float> expected = golden::floats(c["expected"]);
  ASSERT_EQ(row.size(), expected.size());
  for (size_t i = 0; i < row.size(); ++i)
    EXPECT_NEAR(row[i], expected[i], 1e-5f + 1e-6f * std::fabs(expected[i])) << c.dump();
}

TEST(SamplingPenalties, EqualTheReference) {
  PenaltyScratch scratch;
  for (const Json& c : golden::cases("penalties")) {
    std::vector<float> row = golden::floats(c["logits"]);
    Penalties penalties{c.get<int>("last_n"), c.get<float>("repeat"), c.get<float>("frequency"),
                        c.get<float>("presence")};
    apply_penalties(row, golden::ints(c["history"]), c.get<int>("prompt"), penalties, scratch);
    expect_row(row, c);
    for (int32_t count : scratch.counts) ASSERT_EQ(count, 0);
  }
}

TEST(SamplingPenalties, DryEqualsBruteForce) {
  PenaltyScratch scratch;
  int changed = 0;
  for (const Json& c : golden::cases("dry")) {
    std::vector<float> row = golden::floats(c["logits"]);
    std::vector<std::vector<int32_t>> sequences;
    for (const Json& sequence : c["breakers"].as_array())
      sequences.push_back(golden::ints(sequence));
    DryOptions options{c.get<float>("multiplier"), c.get<float>("base"),
                       c.get<int>("allowed_length"), c.get<int>("last_n")};
    apply_dry(row, golden::ints(c["history"]), options, DryBreakers(sequences), scratch);
    changed += row != golden::floats(c["logits"]);
    expect_row(row, c);
    for (int32_t count : scratch.counts) ASSERT_EQ(count, 0);
  }
  EXPECT_GT(changed, 40);
}

TEST(SamplingPenalties, DryDoesNotOverflow) {
  std::vector<int32_t> history(5000, 1);
  std::vector<float> row{0.0f, 1.0f};
  PenaltyScratch scratch;
  apply_dry(row, history, {1e30f, 4.0f, 2, -1}, {}, scratch);
  EXPECT_FALSE(std::isnan(row[1]));
  EXPECT_LT(row[1], -1e30f);
}

TEST(SamplingPenalties, DryExampleOfItsAuthors) {
  // a b c c b c y a b c: after "a b c" came c, after "b c" y, after "c" c and b.
  std::vector<int32_t> history{0, 1, 2, 2, 1, 2, 3, 0, 1, 2};
  std::vector<float> row(4, 0.0f);
  PenaltyScratch scratch;
  apply_dry(row, history, {1.0f, 2.0f, 1, -1}, {}, scratch);
  EXPECT_EQ(row, (std::vector<float>{0, -1, -4, -2}));
}

TEST(SamplingPenalties, BiasAddsUpAndForbids) {
  std::vector<float> row{1.0f, 2.0f, 3.0f};
  std::vector<std::pair<int32_t, float>> bias{
      {0, 1.5f}, {0, 1.0f}, {2, -std::numeric_limits<float>::infinity()}};
  apply_logit_bias(row, bias);
  EXPECT_EQ(row[0], 3.5f);
  EXPECT_EQ(row[2], -std::numeric_limits<float>::infinity());
  forbid(row, std::vector<int32_t>{1});
  EXPECT_EQ(row[1], -std::numeric_limits<float>::infinity());
}

TEST(SamplingPenalties, TinyRepeatPenaltyDoesNotOverflow) {
  std::vector<float> row{5.0f, -3.0f};
  PenaltyScratch scratch;
  apply_penalties(row, std::vector<int32_t>{0, 1}, 0, {-1, 1e-38f, 0, 0}, scratch);
  EXPECT_TRUE(std::isfinite(row[0]));
}

TEST(DryBreakers, LengthSinceTheLast) {
  DryBreakers breakers({{5}, {5, 6}, {7, 8, 9}, {}});
  auto length = [&](std::vector<int32_t> history) { return breakers.length_since_last(history); };
  EXPECT_EQ(length({1, 2, 3}), 3u);
  EXPECT_EQ(length({1, 5, 3}), 1u);
  EXPECT_EQ(length({1, 5, 6, 3}), 1u);  // the longer of two
  EXPECT_EQ(length({7, 8, 9, 1, 2}), 2u);
  EXPECT_EQ(length({7, 8}), 2u);  // not complete
  EXPECT_EQ(length({}), 0u);
  EXPECT_TRUE(breakers.is_single_token(5));
  EXPECT_FALSE(breakers.is_single_token(7));
}

}  // namespace
}  // namespace crane
