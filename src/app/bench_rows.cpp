#include "app/bench_rows.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "base/strings.h"

namespace crane {
namespace {

using Clock = std::chrono::steady_clock;

// What one stream gave: its tokens and when they came.
struct StreamLog {
  std::vector<int32_t> ids;
  std::vector<Clock::time_point> times;
  std::optional<Error> error;
};

// Submits one request a prompt, all at once, and waits for all of them.
std::vector<StreamLog> run_streams(Engine& engine, const std::vector<std::vector<int32_t>>& prompts,
                                   int max_tokens) {
  std::vector<StreamLog> logs(prompts.size());
  std::mutex mutex;
  std::condition_variable done;
  size_t open = prompts.size();
  for (size_t i = 0; i < prompts.size(); ++i) {
    StreamLog& log = logs[i];
    log.ids.reserve(static_cast<size_t>(max_tokens));
    log.times.reserve(static_cast<size_t>(max_tokens));
    Request request;
    request.prompt = prompts[i];
    request.sampling.temperature = 0;
    request.max_tokens = max_tokens;
    request.ignore_eos = true;
    request.on_token = [&log](const TokenEvent& event) {
      log.ids.push_back(event.id);
      log.times.push_back(Clock::now());
    };
    request.on_finish = [&](const FinishEvent& event) {
      std::lock_guard lock(mutex);
      log.error = event.error;
      if (--open == 0) done.notify_all();
    };
    engine.submit(std::move(request));  // bench_verb checked what could be refused here
  }
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return open == 0; });
  for (const StreamLog& log : logs)
    if (log.error) throw *log.error;
  return logs;
}

std::vector<int32_t> random_ids(Rng& rng, int count, int vocab_size) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t& id : ids) id = static_cast<int32_t>(rng.next() % static_cast<uint64_t>(vocab_size));
  return ids;
}

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// FNV-1a over all ids, so that two runs can be told to have computed the same.
void add_to_hash(uint64_t& hash, const std::vector<StreamLog>& logs) {
  for (const StreamLog& log : logs)
    for (int32_t id : log.ids) hash = (hash ^ static_cast<uint32_t>(id)) * 0x100000001b3ull;
}

double prefill_rate(const BenchTest& test, const std::vector<StreamLog>& logs,
                    Clock::time_point start) {
  return test.tokens / seconds_between(start, logs.front().times.front());
}

// Tokens that came after every stream had its first one.
double decode_rate(const std::vector<StreamLog>& logs) {
  Clock::time_point start = Clock::time_point::min(), end = start;
  for (const StreamLog& log : logs) {
    start = std::max(start, log.times.front());
    end = std::max(end, log.times.back());
  }
  int64_t tokens = 0;
  for (const StreamLog& log : logs)
    tokens += std::count_if(log.times.begin(), log.times.end(),
                            [&](Clock::time_point time) { return time > start; });
  return static_cast<double>(tokens) / seconds_between(start, end);
}

// Starts the peak of resident memory anew, where the system allows it.
void reset_peak_memory() {
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);
    std::fclose(file);
  }
}

int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "VmHWM:") {
      int64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}

std::string hexadecimal(uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15];
  return text;
}

}  // namespace

std::vector<BenchTest> bench_tests(const Options& options) {
  auto or_default = [](std::vector<int> given, int value) {
    return given.empty() ? std::vector<int>{value} : given;
  };
  std::vector<BenchTest> tests;
  std::vector<int> depths = or_default(options.depths, 0);
  for (int depth : depths)
    for (int tokens : or_default(options.prompt_lengths, 512))
      if (tokens > 0) tests.push_back({false, tokens, depth, 1});
  for (int depth : depths)
    for (int streams : or_default(options.streams, 1))
      for (int tokens : or_default(options.generation_lengths, 64))
        if (tokens > 0) tests.push_back({true, tokens, depth, streams});
  return tests;
}

TokenCost token_cost(const ModelBundle& bundle, DType kv_type) {
  const Checkpoint& checkpoint = bundle.text.checkpoint;
  const std::string embedding = "model.embed_tokens.weight", head = "lm_head.weight";
  bool untied = checkpoint.find(head) != nullptr;
  TokenCost cost;
  for (const std::string& tensor_name : checkpoint.tensor_names()) {
    const CheckpointTensor* tensor = checkpoint.find(tensor_name);
    if (tensor->shape.rank != 2 || (tensor_name == embedding && untied)) continue;
    cost.weight_bytes += static_cast<double>(tensor->bytes);
    if (tensor_name != embedding && tensor_name != head)
      cost.weight_macs += static_cast<double>(tensor->shape.elements());
  }
  StateSpec spec = bundle.model->state_spec();
  cost.kv_bytes = static_cast<double>(spec.bytes_per_token(kv_type));
  int64_t heads = checkpoint.config().get<int64_t>("num_attention_heads", 0);
  for (const LayerState& layer : spec.layers)
    if (layer.kind == LayerState::Kind::attention)
      cost.attention_macs += static_cast<double>(heads * (layer.key_dim + layer.value_dim));
  return cost;
}

int64_t bench_cache_bytes(const std::vector<BenchTest>& tests, const StateSpec& spec,
                          DType kv_type) {
  int64_t blocks = 1;
  for (const BenchTest& test : tests) {
    // The depth, the row's tokens, and as many again that the next run takes while the cache keeps
    // those of the last one.
    int64_t length = int64_t{test.depth} + 2 * int64_t{test.tokens} + 2 * KvCache::kBlockSize;
    blocks = std::max(blocks, test.streams * (length / KvCache::kBlockSize + 1));
  }
  return blocks * KvCache::kBlockSize * spec.bytes_per_token(kv_type);
}

BenchRow measure_row(Engine& engine, int vocab_size, const BenchTest& test, int repetitions) {
  BenchRow row;
  row.test = test;
  reset_peak_memory();
  Rng rng(0x6372616e65ull + static_cast<uint64_t>(test.depth));
  std::vector<std::vector<int32_t>> contexts;
  for (int i = 0; i < test.streams; ++i)
    contexts.push_back(random_ids(rng, test.depth, vocab_size));
  if (test.depth > 0) run_streams(engine, contexts, 0);  // now in the prefix cache
  uint64_t hash = 0xcbf29ce484222325ull;
  for (int run = 0; run <= repetitions; ++run) {
    // New tokens in every run: those of the last one would be found in the cache.
    std::vector<std::vector<int32_t>> prompts = contexts;
    for (std::vector<int32_t>& prompt : prompts) {
      std::vector<int32_t> fresh = random_ids(rng, test.decode ? 1 : test.tokens, vocab_size);
      prompt.insert(prompt.end(), fresh.begin(), fresh.end());
    }
    auto start = Clock::now();
    std::vector<StreamLog> logs = run_streams(engine, prompts, test.decode ? test.tokens + 1 : 1);
    add_to_hash(hash, logs);
    if (run > 0)
      row.rates.push_back(test.decode ? decode_rate(logs) : prefill_rate(test, logs, start));
  }
  std::vector<double> sorted = row.rates;
  std::sort(sorted.begin(), sorted.end());
  size_t half = sorted.size() / 2;
  row.median = sorted.size() % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  row.least = sorted.front();
  row.most = sorted.back();
  row.peak_memory_bytes = peak_memory_bytes();
  row.output_hash = hexadecimal(hash);
  return row;
}

double share_of_peak(const BenchRow& row, const TokenCost& cost, const MachinePeaks& peaks) {
  const BenchTest& test = row.test;
  double context = test.depth + test.tokens / 2.0;  // on average over the run
  if (test.decode) {
    double bytes_per_step = cost.weight_bytes + test.streams * context * cost.kv_bytes;
    double steps_per_second = row.median / test.streams;
    if (peaks.bandwidth_gb_s <= 0) return 0;
    return bytes_per_step * steps_per_second / (peaks.bandwidth_gb_s * 1e9);
  }
  if (peaks.int8_gmac_s <= 0) return 0;
  double macs = cost.weight_macs + context * cost.attention_macs;
  return macs * row.median / (peaks.int8_gmac_s * 1e9);
}

}  // namespace crane
