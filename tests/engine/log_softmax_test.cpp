#include "engine/log_softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/golden.h"

namespace crane {
namespace {

TEST(LogSoftmax, EqualsTheReference) {
  for (const Json& c : golden::cases("log_softmax")) {
    std::vector<float> row = golden::floats(c["logits"]);
    double expected = c.get<double>("log_sum_exp");
    double got = log_sum_exp(row);
    EXPECT_NEAR(got, expected, 2e-7);
    std::vector<TokenLogprob> top;
    top_logprobs(row, got, 5, top);
    std::vector<int32_t> ids = golden::ints(c["top"]);
    ASSERT_EQ(top.size(), ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(top[i].id, ids[i]);
      double logprob = static_cast<double>(row[static_cast<size_t>(ids[i])]) - expected;
      EXPECT_NEAR(top[i].logprob, logprob, 1e-6 + 1e-7 * std::fabs(logprob));
    }
  }
}

TEST(LogSoftmax, LargeVocabularyAddsNoError) {
  std::vector<float> row(300001, -12.5f);
  EXPECT_NEAR(log_sum_exp(row), -12.5 + std::log(300001.0), 1e-9);
  row[7] = 88.0f;
  EXPECT_NEAR(log_sum_exp(row), 88.0, 1e-9);
}

TEST(LogSoftmax, TiesGoToTheLowerId) {
  std::vector<float> row{1, 3, 2, 3, 3, 2};
  EXPECT_EQ(argmax(row), 1);
  std::vector<TokenLogprob> top;
  top_logprobs(row, 0, 4, top);
  ASSERT_EQ(top.size(), 4u);
  EXPECT_EQ(top[0].id, 1);
  EXPECT_EQ(top[1].id, 3);
  EXPECT_EQ(top[2].id, 4);
  EXPECT_EQ(top[3].id, 2);
  top_logprobs(row, 0, 100, top);
  EXPECT_EQ(top.size(), row.size());
  top_logprobs(row, 0, 0, top);
  EXPECT_TRUE(top.empty());
}

TEST(LogSoftmax, MaximumAndFiniteAtEveryPlace) {
  for (size_t size : {1u, 15u, 16u, 17u, 40u}) {
    for (size_t place = 0; place < size; ++place) {
      std::vector<float> row(size, -5.0f);
      row[place] = -4.0f;
      EXPECT_EQ(maximum(row), -4.0f);
      EXPECT_EQ(argmax(row), static_cast<int32_t>(place));
      EXPECT_TRUE(all_finite(row));
      for (float bad :
           {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
            std::numeric_limits<float>::quiet_NaN()}) {
        row[place] = bad;
        EXPECT_FALSE(all_finite(row));
      }
    }
  }
}

}  // namespace
}  // namespace crane
