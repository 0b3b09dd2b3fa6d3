// crane bench on a tiny checkpoint, and its comparison of two runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/bench_probe.h"
#include "app/bench_report.h"
#include "app/bench_rows.h"
#include "app/subprocess.h"
#include "base/error.h"
#include "base/json.h"
#include "base/strings.h"

namespace crane::test {
namespace {

using ::testing::HasSubstr;

std::string report(double median, double share, const char* cpu = "a", const char* hash = "1") {
  return cat(R"({"machine":{"cpu":")", cpu, R"("},"rows":[{"test":"decode","tokens":64,"depth":0,)",
             R"("streams":1,"median":)", median, ",\"min\":", median * 0.99,
             ",\"max\":", median * 1.01, ",\"share_of_peak\":", share, R"(,"output_hash":")", hash,
             "\"}]}");
}

BenchComparison compare(const std::string& now, const std::string& before) {
  return compare_reports(Json::parse(now, "now"), Json::parse(before, "before"));
}

TEST(BenchCompare, ARegressionIsRateAndShareBelowTheNoise) {
  EXPECT_TRUE(compare(report(90, 0.7), report(100, 0.8)).regressed);
  EXPECT_FALSE(compare(report(97, 0.78), report(100, 0.8)).regressed);  // within 5 %
  EXPECT_FALSE(compare(report(90, 0.8), report(100, 0.8)).regressed);   // a slower machine
  EXPECT_FALSE(compare(report(100, 0.6), report(100, 0.8)).regressed);  // a better probe
  EXPECT_FALSE(compare(report(200, 0.9), report(100, 0.8)).regressed);
  EXPECT_TRUE(compare(report(300, 0.5, "b"), report(100, 0.8)).regressed);  // another processor
}

TEST(BenchCompare, SaysWhatItSaw) {
  BenchComparison comparison = compare(report(90, 0.7, "a", "2"), report(100, 0.8));
  ASSERT_EQ(comparison.lines.size(), 1u);
  EXPECT_THAT(comparison.lines[0], ::testing::AllOf(HasSubstr("REGRESSION"), HasSubstr("x0.900"),
                                                    HasSubstr("other output")));
  EXPECT_THROW(compare(report(1, 1), R"({"rows":[]})"), Error);
  EXPECT_THROW(compare(report(1, 1), "{}"), Error);
}

TEST(BenchRows, TestsAreDepthsTimesStreams) {
  Options options;
  options.depths = {0, 4096};
  options.streams = {1, 4};
  options.generation_lengths = {16};
  std::vector<BenchTest> tests = bench_tests(options);
  ASSERT_EQ(tests.size(), 6u);  // two prefills, four decodes
  EXPECT_FALSE(tests[1].decode);
  EXPECT_EQ(tests[1].depth, 4096);
  EXPECT_EQ(tests[5].streams, 4);
  options.prompt_lengths = {0};
  EXPECT_EQ(bench_tests(options).size(), 4u);
  StateSpec spec = StateSpec::attention(2, 1, 8);  // 64 bytes of f16 a token
  EXPECT_GE(bench_cache_bytes(tests, spec, DType::f16), 4 * (4096 + 16) * 64);
}

TEST(BenchRows, ShareOfPeakFollowsFromBytesAndMacs) {
  BenchRow row;
  row.test = {true, 64, 0, 1};
  row.median = 50;
  TokenCost cost;
  cost.weight_bytes = 400e6;
  MachinePeaks peaks{40, 200};
  EXPECT_NEAR(share_of_peak(row, cost, peaks), 0.5, 1e-9);
  row.test = {false, 512, 0, 1};
  cost.weight_macs = 1e9;
  EXPECT_NEAR(share_of_peak(row, cost, peaks), 0.25, 1e-9);
}

TEST(BenchProbe, MeasuresSomething) {
  MachinePeaks peaks = measure_peaks(1);
  EXPECT_GT(peaks.bandwidth_gb_s, 0.1);
  EXPECT_GE(peaks.int8_gmac_s, 0);
  EXPECT_EQ(best_of(peaks, {1e6, 0}).bandwidth_gb_s, 1e6);
}

TEST(BenchVerb, OneRowForEachTestDepthAndStream) {
  std::vector<std::string> call = {"bench", golden("qwen2-chat"),
                                   "-p",    "32",
                                   "-n",    "8",
                                   "-d",    "0,64",
                                   "-np",   "1,3",
                                   "-r",    "2",
                                   "-t",    "1",
                                   "--json"};
  Outcome outcome = run_crane(call);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Json result = Json::parse(outcome.out, "bench");
  EXPECT_GT(result["machine"]["peak_bandwidth_gb_s"].as_number(), 0);
  ASSERT_EQ(result["rows"].as_array().size(), 6u);
  for (const Json& row : result["rows"].as_array()) {
    EXPECT_GT(row["median"].as_number(), 0);
    EXPECT_LE(row["min"].as_number(), row["median"].as_number());
    EXPECT_GE(row["max"].as_number(), row["median"].as_number());
    EXPECT_GT(row["peak_memory_bytes"].as_integer(), 0);
    EXPECT_EQ(row["output_hash"].as_string().size(), 16u);
  }
  Json again = Json::parse(run_crane(call).out, "bench");
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(again["rows"].as_array()[i]["output_hash"],
              result["rows"].as_array()[i]["output_hash"]);
}

TEST(BenchVerb, CompareExitsWithTwoOnARegression) {
  std::vector<std::string> call = {
      "bench", golden("qwen2-chat"), "-p", "0", "-n", "8", "-r", "2", "-t", "1"};
  Json result = Json::parse(run_crane({"bench", golden("qwen2-chat"), "-p", "0", "-n", "8", "-r",
                                       "2", "-t", "1", "--json"})
                                .out,
                            "bench");
  for (double factor : {1e-3, 1e3}) {
    Json other = result;
    Json& row = other.as_object()["rows"].as_array()[0];
    for (const char* key : {"median", "min", "max", "share_of_peak"})
      row.as_object()[key] = row[key].as_number() * factor;
    TemporaryFile file(other.dump());
    std::vector<std::string> with_file = call;
    with_file.insert(with_file.end(), {"--compare", file.path()});
    EXPECT_EQ(run_crane(with_file).code, factor > 1 ? 2 : 0);
  }
}

TEST(BenchVerb, TableHasTheColumnsPeoplePaste) {
  Outcome outcome =
      run_crane({"bench", golden("qwen2-chat"), "-p", "16", "-n", "4", "-r", "1", "-t", "1"});
  EXPECT_THAT(outcome.out,
              HasSubstr("| model | size | params | backend | ngl | threads | test | t/s"));
  EXPECT_THAT(outcome.out, HasSubstr("pp16"));
  EXPECT_THAT(outcome.out, HasSubstr("tg4"));
  Outcome too_long = run_crane({"bench", golden("qwen2-chat"), "-p", "600", "-r", "1"});
  EXPECT_EQ(too_long.code, 1);
  EXPECT_THAT(too_long.last_error_line(), HasSubstr("512"));
}

}  // namespace
}  // namespace crane::test
