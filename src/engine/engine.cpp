#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "engine/active_request.h"
#include "engine/block_pool.h"
#include "engine/cache_size.h"
#include "engine/runner.h"
#include "engine/scheduler.h"

namespace crane {
namespace {

// What a caught exception means for a request.
Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::out_of_memory, "engine: out of memory");
  } catch (const std::exception& error) {
    return Error(ErrorCode::internal, cat("engine: ", error.what()));
  } catch (...) {
    return Error(ErrorCode::internal, "engine: an unknown exception");
  }
}

int wanted_context(const TextModel& model, const EngineOptions& options) {
  auto refuse = [](const char* name, auto value, const auto& expected) {
    throw Error(ErrorCode::invalid_argument,
                cat("engine: ", name, " is ", value, ", expected ", expected));
  };
  if (options.max_running < 1) refuse("max_running", options.max_running, "1 or more");
  if (options.batch_tokens < options.max_running)
    refuse("batch_tokens", options.batch_tokens,
           cat("at least max_running, ", options.max_running));
  if (options.chunk_tokens < 1) refuse("chunk_tokens", options.chunk_tokens, "1 or more");
  if (options.kv_cache_bytes < 0) refuse("kv_cache_bytes", options.kv_cache_bytes, "0 or more");
  // Past what the model was made for its answers get worse, but that is for the user to decide.
  constexpr int kLongest = 1 << 24;
  if (options.context_length < 0 || options.context_length > kLongest)
    refuse("context_length", options.context_length, cat("0 to ", kLongest));
  return options.context_length > 0 ? options.context_length : model.context_length();
}

KvCache make_cache(Device& device, const TextModel& model, const EngineOptions& options) {
  int context = wanted_context(model, options);
  StateSpec spec = model.state_spec();
  DType type = options.kv_type.value_or(device.backend().default_kv_type(false));
  CacheSizing sizing;
  sizing.bytes_per_block = spec.bytes_per_token(type) * KvCache::kBlockSize;
  sizing.blocks_per_context = (context + KvCache::kBlockSize - 1) / KvCache::kBlockSize;
  sizing.max_running = options.max_running;
  sizing.requested_bytes = options.kv_cache_bytes;
  sizing.free_bytes = free_memory_bytes();
  KvCache cache(std::move(spec), type, choose_block_count(sizing));
  device.backend().allocate(device, cache, options.max_running);
  return cache;
}

SchedulerOptions scheduler_options(Device& device, const TextModel& model,
                                   const EngineOptions& options) {
  SchedulerOptions result;
  result.max_running = options.max_running;
  result.batch_tokens = options.batch_tokens;
  result.chunk_tokens = options.chunk_tokens;
  result.prefix_cache = options.prefix_cache && !model.state_spec().has_recurrent();
  result.modes_differ = device.backend().modes_differ();
  return result;
}

}  // namespace

struct Engine::Impl {
  Impl(Device& device, const TextModel& text_model, const EngineOptions& options)
      : model(text_model),
        cache(make_cache(device, text_model, options)),
        context_length(std::min<int>(wanted_context(text_model, options),
                                     cache.block_count() * KvCache::kBlockSize)),
        pool(cache.block_count(), KvCache::kBlockSize),
        scheduler(scheduler_options(device, text_model, options), pool),
        runner(device, text_model, cache) {
    if (context_length < options.context_length)
      throw Error(
          ErrorCode::invalid_argument,
          cat("engine: a context of ", options.context_length,
              " tokens does not fit the K/V cache; the largest that does is ", context_length));
    if (context_length < wanted_context(text_model, options))
      log(LogLevel::warning,
          cat("engine: the context is ", context_length, " of ",
              wanted_context(text_model, options), " tokens: the K/V cache has no room for more"));
    update_stats();
  }

  bool step();
  void run_thread();
  void admit();
  void mark_started(const Plan& plan);
  void deliver(std::span<const LogitRow> rows);
  void fail(const std::vector<RequestId>& ids, const Error& error);
  void end_all(const Ending& ending);
  void end(RequestId id, const Ending& ending);
  void update_stats();

  const TextModel& model;
  KvCache cache;
  int context_length;
  BlockPool pool;
  Scheduler scheduler;
  Runner runner;
  RowScratch scratch;
  std::unordered_map<RequestId, std::unique_ptr<ActiveRequest>> active;
  std::vector<RequestId> planned;  // of the step in progress
  int64_t steps = 0, tokens = 0;

  std::atomic<RequestId> next_id{1};
  std::thread thread;

  // Shared with the callers of submit, cancel and stats.
  mutable std::mutex mutex;
  std::condition_variable wake;
  std::vector<std::unique_ptr<ActiveRequest>> submitted;
  std::vector<RequestId> cancelled;
  bool stopping = false;
  EngineStats stats;
};

Engine::Engine(Device& device, const TextModel& model, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(device, model, options)) {}

Engine::~Engine() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->end_all({FinishReason::cancelled, {}});
}

Engine::RequestId Engine::submit(Request request) {
  RequestId id = impl_->next_id.fetch_add(1);
  auto active = std::make_unique<ActiveRequest>(id, std::move(request), impl_->model.vocab_size(),
                                                impl_->context_length);
  {
    std::lock_guard lock(impl_->mutex);
    impl_->submitted.push_back(std::move(active));
  }
  impl_->wake.notify_one();
  return id;
}

void Engine::cancel(RequestId id) {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->cancelled.push_back(id);
  }
  impl_->wake.notify_one();
}

void Engine::start() {
  check(!impl_->thread.joinable(), "engine: start() was called twice");
  impl_->thread = std::thread([this] { impl_->run_thread(); });
}

bool Engine::step() {
  check(!impl_->thread.joinable(), "engine: step() beside the engine's own thread");
  return impl_->step();
}

EngineStats Engine::stats() const {
  std::lock_guard lock(impl_->mutex);
  EngineStats result = impl_->stats;
  result.waiting += static_cast<int>(impl_->submitted.size());
  return result;
}

int Engine::context_length() const { return impl_->context_length; }

bool Engine::Impl::step() {
  admit();
  planned.clear();
  const Plan& plan = scheduler.plan();
  check(active.empty() || !plan.runs.empty(), "engine: nothing can be computed");
  if (!plan.runs.empty()) {
    mark_started(plan);
    tokens += plan.tokens;
    ++steps;
    std::span<const LogitRow> rows;
    std::optional<Error> error;
    try {
      rows = runner.run(plan);
    } catch (...) {
      error = current_error();
    }
    if (error) {
      fail(planned, *error);
    } else {
      scheduler.commit();
      deliver(rows);
    }
    runner.release();
  }
  update_stats();
  return !planned.empty();
}

// Takes what other threads have handed in.
void Engine::Impl::admit() {
  std::vector<std::unique_ptr<ActiveRequest>> arrived;
  std::vector<RequestId> gone;
  {
    std::lock_guard lock(mutex);
    arrived.swap(submitted);
    gone.swap(cancelled);
  }
  for (auto& request : arrived) {
    const Request& r = request->request();
    request->sequence =
        &scheduler.add(request->id(), r.prompt, request->max_known(), r.prompt_logprobs);
    active.emplace(request->id(), std::move(request));
  }
  for (RequestId id : gone) end(id, {FinishReason::cancelled, {}});
}

void Engine::Impl::mark_started(const Plan& plan) {
  for (const PlannedRun& run : plan.runs) {
    planned.push_back(run.sequence->id);
    active.at(run.sequence->id)->mark_started();
  }
}

void Engine::Impl::deliver(std::span<const LogitRow> rows) {
  for (const LogitRow& row : rows) {
    auto found = active.find(row.id);
    if (found == active.end()) continue;  // ended at an earlier row of this step
    std::optional<Ending> ending = found->second->handle(row, scheduler, scratch);
    if (ending) end(row.id, *ending);
  }
}

void Engine::Impl::end(RequestId id, const Ending& ending) {
  auto found = active.find(id);
  if (found == active.end()) return;
  std::unique_ptr<ActiveRequest> request = std::move(found->second);
  active.erase(found);
  int cached = request->sequence->cached_tokens;
  try {
    scheduler.finish(*request->sequence, ending.reason != FinishReason::error);
  } catch (...) {  // a broken promise inside; the last event is due all the same
    log(LogLevel::error, current_error().what());
  }
  request->sequence = nullptr;
  update_stats();  // before the caller hears of the end
  request->finish(ending, cached);
}

void Engine::Impl::fail(const std::vector<RequestId>& ids, const Error& error) {
  for (RequestId id : ids) end(id, {FinishReason::error, error});
}

void Engine::Impl::end_all(const Ending& ending) {
  admit();
  std::vector<RequestId> ids;
  for (const auto& entry : active) ids.push_back(entry.first);
  std::sort(ids.begin(), ids.end());
  for (RequestId id : ids) end(id, ending);
  update_stats();
}

void Engine::Impl::run_thread() {
  for (;;) {
    {
      std::unique_lock lock(mutex);
      wake.wait(lock, [this] {
        return stopping || !active.empty() || !submitted.empty() || !cancelled.empty();
      });
      if (stopping) return;
    }
    try {
      step();
    } catch (...) {  // our own mistake: the requests end, the process lives
      Error error = current_error();
      log(LogLevel::error, error.what());
      end_all({FinishReason::error, error});
    }
  }
}

void Engine::Impl::update_stats() {
  std::lock_guard lock(mutex);
  stats.waiting = scheduler.waiting();
  stats.running = scheduler.running();
  stats.blocks_total = pool.total();
  stats.blocks_free = pool.free();
  stats.blocks_cached = pool.cached();
  stats.steps = steps;
  stats.tokens = tokens;
  stats.preemptions = scheduler.preemptions();
}

}  // namespace crane
