// The rows of `crane bench`: prefill and decode at a depth, with several streams.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/bench_probe.h"
#include "app/options.h"
#include "engine/engine.h"
#include "pipelines/model_bundle.h"

namespace crane {

// One row as asked for.
struct BenchTest {
  bool decode = false;
  int tokens = 0;  // prompt tokens, or generated tokens of each stream
  int depth = 0;   // tokens already in the context of each stream
  int streams = 1;
};

// One row as measured. Rates are tokens/s over all streams.
struct BenchRow {
  BenchTest test;
  std::vector<double> rates;  // one for each counted run
  double median = 0, least = 0, most = 0;
  double share_of_peak = 0;  // of compute for prefill, of bandwidth for decode; 0: unknown
  int64_t peak_memory_bytes = 0;
  std::string output_hash;  // of the tokens that all runs gave
};

// What one token costs.
struct TokenCost {
  double weight_bytes = 0;    // read by a decoded token, whatever the number of streams
  double weight_macs = 0;     // of a prompt token, without the head
  double kv_bytes = 0;        // keys and values of one token in the context
  double attention_macs = 0;  // per token in the context
};

std::vector<BenchTest> bench_tests(const Options& options);
TokenCost token_cost(const ModelBundle& bundle, DType kv_type);

// Bytes of K/V cache that the largest of these rows needs.
int64_t bench_cache_bytes(const std::vector<BenchTest>& tests, const StateSpec& spec,
                          DType kv_type);

// Fills the depth, then one run that is not counted, then `repetitions` counted ones.
BenchRow measure_row(Engine& engine, int vocab_size, const BenchTest& test, int repetitions);

// Share of the peak that a row's median reaches.
double share_of_peak(const BenchRow& row, const TokenCost& cost, const MachinePeaks& peaks);

}  // namespace crane
