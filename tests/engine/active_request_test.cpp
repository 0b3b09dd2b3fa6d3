#include "engine/active_request.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace crane {
namespace {

// One request, its sequence and rows of logits by hand.
struct Bench {
  explicit Bench(Request wanted, int context_length = 100)
      : pool(10, 64),
        scheduler({}, pool),
        request(7, with_callbacks(std::move(wanted)), 4, context_length) {
    request.sequence = &scheduler.add(7, request.request().prompt, request.max_known(),
                                      request.request().prompt_logprobs);
  }
  std::optional<Ending> row(int index, std::vector<float> logits) {
    row_logits = std::move(logits);
    return request.handle({7, request.sequence, index, row_logits}, scheduler, scratch);
  }
  Request with_callbacks(Request wanted) {
    wanted.sampling.temperature = 0;
    wanted.on_token = [this](const TokenEvent& event) {
      if (event.id == 3) throw std::runtime_error("three");
      tokens.push_back(event.id);
    };
    wanted.on_prompt_token = [this](int, const TokenEvent& event) { scored.push_back(event.id); };
    wanted.on_finish = [this](const FinishEvent& event) { end = event; };
    return wanted;
  }

  std::vector<int32_t> tokens, scored;
  std::optional<FinishEvent> end;
  std::vector<float> row_logits;
  BlockPool pool;
  Scheduler scheduler;
  RowScratch scratch;
  ActiveRequest request;
};

Request prompt_of(std::vector<int32_t> prompt, int max_tokens) {
  Request request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  return request;
}

TEST(ActiveRequest, TokensUntilTheLimit) {
  Bench bench(prompt_of({0, 1}, 2));
  EXPECT_EQ(bench.request.max_known(), 4);
  EXPECT_FALSE(bench.row(1, {0, 5, 0, 0}).has_value());
  auto ending = bench.row(2, {0, 0, 5, 0});
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->reason, FinishReason::length);
  EXPECT_EQ(bench.tokens, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(bench.request.sequence->tokens, (std::vector<int32_t>{0, 1, 1, 2}));
  bench.request.mark_started();
  bench.request.finish(*ending, 1);
  ASSERT_TRUE(bench.end.has_value());
  EXPECT_EQ(bench.end->prompt_tokens, 2);
  EXPECT_EQ(bench.end->cached_tokens, 1);
  EXPECT_EQ(bench.end->generated_tokens, 2);
  EXPECT_GE(bench.end->queue_ms, 0);
}

TEST(ActiveRequest, StopIdIsCountedAndNotDelivered) {
  Request request = prompt_of({0}, -1);
  request.stop_ids = {2};
  Bench bench(request);
  EXPECT_EQ(bench.request.max_known(), 100);
  auto ending = bench.row(0, {0, 0, 5, 0});
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->reason, FinishReason::stop);
  EXPECT_TRUE(bench.tokens.empty());
  bench.request.finish(*ending, 0);
  EXPECT_EQ(bench.end->generated_tokens, 1);
}

TEST(ActiveRequest, RowsBeforeTheLastOnlyScore) {
  Request request = prompt_of({0, 1, 2}, 1);
  request.prompt_logprobs = true;
  Bench bench(request);
  EXPECT_FALSE(bench.row(0, {0, 0, 0, 9}).has_value());
  EXPECT_FALSE(bench.row(1, {0, 0, 0, 9}).has_value());
  EXPECT_TRUE(bench.tokens.empty());
  EXPECT_EQ(bench.request.sequence->scored, 2);
  EXPECT_TRUE(bench.row(2, {0, 9, 0, 0}).has_value());
  EXPECT_EQ(bench.scored, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(bench.tokens, std::vector<int32_t>{1});
}

TEST(ActiveRequest, ThrowingCallbackIsAnInternalError) {
  Bench bench(prompt_of({0}, 5));
  auto ending = bench.row(0, {0, 0, 0, 9});
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->reason, FinishReason::error);
  EXPECT_EQ(ending->error->code(), ErrorCode::internal);
  EXPECT_NE(std::string(ending->error->what()).find("three"), std::string::npos);
}

TEST(ActiveRequest, NonFiniteRowIsANumericalError) {
  Bench bench(prompt_of({0}, 5));
  auto ending = bench.row(0, {0, 0, NAN, 9});
  ASSERT_TRUE(ending.has_value());
  EXPECT_NE(std::string(ending->error->what()).find("numerical error"), std::string::npos);
}

}  // namespace
}  // namespace crane
