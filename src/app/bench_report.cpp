#include "app/bench_report.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "app/terminal.h"
#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

constexpr double kLeastNoise = 0.05;

Json rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

Json row_to_json(const BenchRow& row) {
  JsonObject object;
  object["test"] = row.test.decode ? "decode" : "prefill";
  object["tokens"] = row.test.tokens;
  object["depth"] = row.test.depth;
  object["streams"] = row.test.streams;
  object["median"] = rounded(row.median);
  object["min"] = rounded(row.least);
  object["max"] = rounded(row.most);
  object["share_of_peak"] = row.share_of_peak > 0 ? rounded(row.share_of_peak) : Json();
  object["peak_memory_bytes"] = row.peak_memory_bytes;
  object["output_hash"] = row.output_hash;
  return object;
}

// "pp512 @ d4096", "tg64 @ d4096 x16"
std::string test_name(const BenchTest& test) {
  std::string name = cat(test.decode ? "tg" : "pp", test.tokens);
  if (test.depth > 0) name += cat(" @ d", test.depth);
  if (test.streams > 1) name += cat(" x", test.streams);
  return name;
}

double deviation(const BenchRow& row) {
  double mean = 0, squares = 0;
  for (double rate : row.rates) mean += rate / static_cast<double>(row.rates.size());
  for (double rate : row.rates) squares += (rate - mean) * (rate - mean);
  return row.rates.size() > 1 ? std::sqrt(squares / static_cast<double>(row.rates.size() - 1)) : 0;
}

std::string percent(double share) { return share > 0 ? format_fixed(share * 100, 1) + " %" : "-"; }

bool same_test(const Json& a, const Json& b) {
  for (const char* key : {"test", "tokens", "depth", "streams"})
    if (!(a[key] == b[key])) return false;
  return true;
}

double spread(const Json& row) {
  double median = row.get<double>("median");
  return (row.get<double>("max") - row.get<double>("min")) / 2 / median;
}

// One row against its earlier self.
std::string compare_row(const Json& now, const Json& before, bool same_processor, bool& regressed) {
  double noise = std::max({kLeastNoise, spread(now), spread(before)});
  double rate = now.get<double>("median") / before.get<double>("median");
  double share = 1;
  bool have_share = now.contains("share_of_peak") && before.contains("share_of_peak");
  if (have_share) share = now.get<double>("share_of_peak") / before.get<double>("share_of_peak");
  bool rate_fell = rate < 1 - noise, share_fell = !have_share || share < 1 - noise;
  regressed = same_processor ? rate_fell && share_fell : have_share && share_fell;
  std::string note = regressed ? "REGRESSION" : rate > 1 + noise ? "faster" : "same";
  if (!(now["output_hash"] == before["output_hash"])) note += ", other output";
  return cat(now.get<std::string>("test"), " ", now["tokens"].dump(), " @ d", now["depth"].dump(),
             " x", now["streams"].dump(), ": ", format_fixed(before.get<double>("median"), 2),
             " -> ", format_fixed(now.get<double>("median"), 2), " tokens/s (x",
             format_fixed(rate, 3), ", share x", format_fixed(share, 3), ", noise ",
             format_fixed(noise * 100, 1), " %): ", note);
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    size_t colon = line.find(": ");
    if (line.compare(0, 10, "model name") == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return "unknown";
}

Json to_json(const BenchReport& report) {
  JsonObject machine;
  machine["cpu"] = report.cpu;
  machine["threads"] = report.threads;
  machine["isa"] = report.isa;
  machine["device"] = report.device;
  machine["dtype"] = report.dtype;
  machine["model"] = report.model_name;
  machine["version"] = report.version;
  machine["peak_bandwidth_gb_s"] = rounded(report.peaks.bandwidth_gb_s);
  machine["peak_int8_gmac_s"] =
      report.peaks.int8_gmac_s > 0 ? rounded(report.peaks.int8_gmac_s) : Json();
  JsonArray rows;
  for (const BenchRow& row : report.rows) rows.push_back(row_to_json(row));
  JsonObject object;
  object["machine"] = std::move(machine);
  object["rows"] = std::move(rows);
  return object;
}

std::string to_markdown(const BenchReport& report) {
  std::string out =
      "| model | size | params | backend | ngl | threads | test | t/s | share of peak |\n"
      "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const BenchRow& row : report.rows)
    out +=
        cat("| ", report.model_name, " | ", report.size, " | ", report.parameters, " | CPU | 0 | ",
            report.threads, " | ", test_name(row.test), " | ", format_fixed(row.median, 2), " ± ",
            format_fixed(deviation(row), 2), " | ", percent(row.share_of_peak), " |\n");
  out += cat("\n", report.device, "; peaks: read ", format_fixed(report.peaks.bandwidth_gb_s, 1),
             " GB/s, int8 ", format_fixed(report.peaks.int8_gmac_s, 0), " GMAC/s; ", report.version,
             "\n");
  return out;
}

std::string to_csv(const BenchReport& report) {
  std::string out =
      "model,threads,test,tokens,depth,streams,median,min,max,deviation,share_of_peak,"
      "peak_memory_bytes,output_hash\n";
  for (const BenchRow& row : report.rows)
    out += cat(json_quote(report.model_name), ",", report.threads, ",",
               row.test.decode ? "decode" : "prefill", ",", row.test.tokens, ",", row.test.depth,
               ",", row.test.streams, ",", static_cast<float>(row.median), ",",
               static_cast<float>(row.least), ",", static_cast<float>(row.most), ",",
               static_cast<float>(deviation(row)), ",", static_cast<float>(row.share_of_peak), ",",
               row.peak_memory_bytes, ",", row.output_hash, "\n");
  return out;
}

BenchComparison compare_reports(const Json& now, const Json& before) {
  if (!before["rows"].is_array())
    throw Error(ErrorCode::invalid_argument, "--compare: expected the output of bench --json");
  bool same_processor = now["machine"]["cpu"] == before["machine"]["cpu"];
  BenchComparison comparison;
  for (const Json& row : now["rows"].as_array()) {
    for (const Json& other : before["rows"].as_array()) {
      if (!same_test(row, other)) continue;
      bool regressed = false;
      comparison.lines.push_back(compare_row(row, other, same_processor, regressed));
      comparison.regressed = comparison.regressed || regressed;
      break;
    }
  }
  if (comparison.lines.empty())
    throw Error(ErrorCode::invalid_argument, "--compare: the two runs have no row in common");
  return comparison;
}

}  // namespace crane
