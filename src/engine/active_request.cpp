#include "engine/active_request.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "engine/log_softmax.h"

namespace crane {
namespace {

void refuse_if(bool bad, const std::string& message) {
  if (bad) throw Error(ErrorCode::invalid_argument, message);
}

void validate(const Request& request, int vocab_size, int context_length) {
  auto length = static_cast<int64_t>(request.prompt.size());
  refuse_if(length == 0, "prompt: no tokens, expected at least one");
  refuse_if(length > context_length,
            cat("prompt: ", length, " tokens, more than the context of ", context_length));
  for (int32_t id : request.prompt)
    refuse_if(id < 0 || id >= vocab_size, cat("prompt: token id ", id, " is outside the vocabulary",
                                              ", expected 0 to ", vocab_size - 1));
  refuse_if(request.max_tokens < -1,
            cat("max_tokens is ", request.max_tokens, ", expected -1 or more"));
  refuse_if(request.min_tokens < 0,
            cat("min_tokens is ", request.min_tokens, ", expected 0 or more"));
  refuse_if(request.top_logprobs < 0,
            cat("top_logprobs is ", request.top_logprobs, ", expected 0 or more"));
}

double milliseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

ActiveRequest::ActiveRequest(uint64_t id, Request request, int vocab_size, int context_length)
    : id_(id),
      request_(std::move(request)),
      sampler_(request_.sampling, vocab_size),
      context_length_(context_length) {
  validate(request_, vocab_size, context_length);
  int64_t wanted = request_.max_tokens < 0 ? context_length : request_.max_tokens;
  int64_t most = static_cast<int64_t>(request_.prompt.size()) + wanted;
  max_known_ = static_cast<int>(std::min<int64_t>(most, context_length));
  auto& stops = request_.stop_ids;  // those that the model cannot produce are left out
  stops.erase(std::remove_if(stops.begin(), stops.end(),
                             [vocab_size](int32_t stop) { return stop < 0 || stop >= vocab_size; }),
              stops.end());
}

void ActiveRequest::mark_started() {
  if (!started_) started_ = Clock::now();
}

std::optional<Ending> ActiveRequest::handle(const LogitRow& row, Scheduler& scheduler,
                                            RowScratch& scratch) {
  if (!all_finite(row.logits))
    return Ending{FinishReason::error,
                  Error(ErrorCode::internal, cat("numerical error: the model's logits after token ",
                                                 row.index, " are not finite"))};
  try {
    bool last = row.index == sequence->known() - 1;
    if (sequence->score_prompt && row.index < sequence->prompt_tokens &&
        row.index >= sequence->scored)
      score(row, scheduler);
    return last ? generate(row, scheduler, scratch) : std::nullopt;
  } catch (const std::exception& error) {
    return Ending{FinishReason::error,
                  Error(ErrorCode::internal, cat("request: a callback threw: ", error.what()))};
  } catch (...) {
    return Ending{FinishReason::error, Error(ErrorCode::internal, "request: a callback threw")};
  }
}

void ActiveRequest::score(const LogitRow& row, Scheduler& scheduler) {
  auto index = static_cast<size_t>(row.index);
  double log_sum = log_sum_exp(row.logits);
  event_.id = request_.prompt[index];
  event_.logprob = row.index == 0 ? std::numeric_limits<float>::quiet_NaN() : next_logprob_;
  top_logprobs(row.logits, log_sum, request_.top_logprobs, event_.top);
  if (index + 1 < request_.prompt.size()) {
    auto next = static_cast<size_t>(request_.prompt[index + 1]);
    next_logprob_ = static_cast<float>(static_cast<double>(row.logits[next]) - log_sum);
  }
  scheduler.mark_scored(*sequence, row.index + 1);
  if (request_.on_prompt_token) request_.on_prompt_token(row.index, event_);
}

std::optional<Ending> ActiveRequest::generate(const LogitRow& row, Scheduler& scheduler,
                                              RowScratch& scratch) {
  if (!prompt_done_) prompt_done_ = Clock::now();
  if (generated_ == request_.max_tokens || sequence->known() >= context_length_)
    return Ending{FinishReason::length, {}};
  bool logprobs = request_.logprobs || request_.top_logprobs > 0;
  event_.top.clear();
  if (logprobs) scratch.raw.assign(row.logits.begin(), row.logits.end());

  std::span<const int32_t> forbidden;
  if (generated_ < request_.min_tokens && !request_.ignore_eos) forbidden = request_.stop_ids;
  Sampler::History history{sequence->tokens, sequence->prompt_tokens};
  int32_t token = sampler_.sample(row.logits, history, forbidden, scratch.sampler);
  if (token == Sampler::kNone)
    return Ending{FinishReason::error,
                  Error(ErrorCode::invalid_argument,
                        "sampling: logit_bias and min_tokens forbid every token")};
  ++generated_;
  if (is_stop(token)) return Ending{FinishReason::stop, {}};

  event_.id = token;
  event_.logprob = 0;
  if (logprobs) {
    double log_sum = log_sum_exp(scratch.raw);
    double logit = static_cast<double>(scratch.raw[static_cast<size_t>(token)]);
    event_.logprob = static_cast<float>(logit - log_sum);
    top_logprobs(scratch.raw, log_sum, request_.top_logprobs, event_.top);
  }
  scheduler.append(*sequence, token);
  if (request_.on_token) request_.on_token(event_);
  if (generated_ == request_.max_tokens || sequence->known() >= context_length_)
    return Ending{FinishReason::length, {}};
  return std::nullopt;
}

bool ActiveRequest::is_stop(int32_t token) const {
  const auto& stops = request_.stop_ids;
  return !request_.ignore_eos && std::find(stops.begin(), stops.end(), token) != stops.end();
}

void ActiveRequest::finish(const Ending& ending, int cached_tokens) {
  if (!request_.on_finish) return;
  Clock::time_point now = Clock::now();
  FinishEvent event;
  event.reason = ending.reason;
  event.error = ending.error;
  event.prompt_tokens = static_cast<int>(request_.prompt.size());
  event.cached_tokens = cached_tokens;
  event.generated_tokens = generated_;
  event.queue_ms = milliseconds(started_.value_or(now) - submitted_);
  if (started_) event.prompt_ms = milliseconds(prompt_done_.value_or(now) - *started_);
  if (prompt_done_) event.generation_ms = milliseconds(now - *prompt_done_);
  try {
    request_.on_finish(event);
  } catch (...) {
    log(LogLevel::error, "engine: a request's on_finish threw");
  }
}

}  // namespace crane
