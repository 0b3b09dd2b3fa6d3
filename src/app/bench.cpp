// crane bench: tokens/s of prefill and decode, and the share of this machine's peak.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "app/bench_report.h"
#include "app/bench_rows.h"
#include "app/loading.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "app/version.h"
#include "backends/registry.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "base/strings.h"

namespace crane {
namespace {

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

// The name of the model's file or folder.
std::string short_name(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

std::string parameter_count(const Checkpoint& checkpoint) {
  int64_t count = 0;
  for (const std::string& tensor : checkpoint.tensor_names())
    count += checkpoint.find(tensor)->shape.elements();
  double value = static_cast<double>(count);
  return value >= 1e9 ? format_fixed(value / 1e9, 2) + " B" : format_fixed(value / 1e6, 2) + " M";
}

BenchReport describe(const Options& options, ModelBundle& bundle, int threads) {
  BenchReport report;
  report.model_name = short_name(bundle.text.checkpoint.path());
  report.size = format_bytes(bundle.text.checkpoint.tensor_bytes());
  report.parameters = parameter_count(bundle.text.checkpoint);
  report.cpu = processor_name();
  report.isa = options.isa == "auto" ? available_isa_levels().front() : options.isa;
  report.device = bundle.device->backend().description();
  report.dtype = options.dtype;
  report.version = cat(version_number(), " ", commit_name());
  report.threads = threads;
  return report;
}

void check_lengths(const std::vector<BenchTest>& tests, int context_length) {
  for (const BenchTest& test : tests)
    if (test.depth + test.tokens + 2 > context_length)
      throw Error(ErrorCode::invalid_argument,
                  cat("bench: a row needs ", test.depth + test.tokens + 2,
                      " tokens, the context holds ", context_length));
}

EngineOptions bench_engine_options(const Options& options, const ModelBundle& bundle,
                                   const std::vector<BenchTest>& tests) {
  EngineOptions engine = engine_options(options);
  if (!engine.kv_type) engine.kv_type = bundle.device->backend().default_kv_type(bundle.quantized);
  engine.prefix_cache = true;  // holds the depth between runs
  engine.max_running = 1;
  for (const BenchTest& test : tests)
    engine.max_running = std::max(engine.max_running, test.streams);
  engine.kv_cache_bytes = bench_cache_bytes(tests, bundle.model->state_spec(), *engine.kv_type);
  int longest = 0;
  for (const BenchTest& test : tests) longest = std::max(longest, test.depth + test.tokens + 2);
  if (engine.context_length == 0)
    engine.context_length = std::min(bundle.model->context_length(), longest);
  return engine;
}

int report_comparison(const Json& report, const std::string& path) {
  BenchComparison comparison = compare_reports(report, Json::parse(read_text_file(path), path));
  for (const std::string& line : comparison.lines) write_notice(line);
  if (comparison.regressed) write_notice("crane: bench is slower than " + path + " beyond noise");
  return comparison.regressed ? 2 : 0;
}

}  // namespace

int bench_verb(const Invocation& invocation) {
  const Options& options = invocation.options;
  std::vector<BenchTest> tests = bench_tests(options);
  if (tests.empty())
    throw Error(ErrorCode::invalid_argument, "bench: -p 0 and -n 0 together leave nothing to do");
  ModelBundle bundle = load_whole_model(invocation);
  EngineOptions limits = bench_engine_options(options, bundle, tests);
  check_lengths(tests, bundle.model->context_length());
  int threads = options.threads > 0 ? options.threads : usable_processors();
  BenchReport report = describe(options, bundle, threads);
  TokenCost cost = token_cost(bundle, *limits.kv_type);
  {
    Engine engine(*bundle.device, *bundle.model, limits);
    check_lengths(tests, engine.context_length());
    engine.start();
    for (const BenchTest& test : tests) {
      report.peaks = best_of(report.peaks, measure_peaks(threads));
      report.rows.push_back(
          measure_row(engine, bundle.model->vocab_size(), test, options.repetitions));
    }
  }
  for (BenchRow& row : report.rows) row.share_of_peak = share_of_peak(row, cost, report.peaks);
  Json json = to_json(report);
  if (options.json) {
    write_answer(json.dump() + "\n");
  } else {
    write_answer(options.output_format == "csv" ? to_csv(report) : to_markdown(report));
  }
  return options.compare.empty() ? 0 : report_comparison(json, options.compare);
}

}  // namespace crane
