// How `crane bench` shows its rows, and how it compares them with an earlier run.
#pragma once

#include <string>
#include <vector>

#include "app/bench_rows.h"
#include "base/json.h"

namespace crane {

struct BenchReport {
  std::string model_name, size, parameters;  // as the table shows them
  std::string cpu, isa, device, dtype, version;
  int threads = 0;
  MachinePeaks peaks;
  std::vector<BenchRow> rows;
};

// The name of this machine's processor, "unknown" where the system does not say.
std::string processor_name();

Json to_json(const BenchReport& report);
std::string to_markdown(const BenchReport& report);  // llama-bench's columns
std::string to_csv(const BenchReport& report);

// One line for each row of `now` that `before` has too. A row is a regression when both its rate
// and its share of the peak fell by more than the noise: 5 %, or the spread of either run's rates
// where that is larger. On another processor only the share counts.
struct BenchComparison {
  std::vector<std::string> lines;
  bool regressed = false;
};
BenchComparison compare_reports(const Json& now, const Json& before);

}  // namespace crane
