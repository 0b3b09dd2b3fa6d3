// Matrix products of every weight type through cpu::linear(): many columns against the peak of
// multiply-adds, one column against the bandwidth of memory. Both are measured again before every
// row, and everything counts per thread and second of processor time. Environment: CRANE_THREADS
// (default: all usable), CRANE_ISA (default auto).
//
//   product_bench --benchmark_filter='gemm.*Q5_0'

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/peaks.h"
#include "base/strings.h"
#include "core/device.h"

namespace crane {
namespace {

constexpr DType kTypes[] = {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,   DType::q8_0,
                            DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_nl, DType::iq4_xs,
                            DType::f16,  DType::bf16, DType::f32};

std::string environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

int thread_count() {
  return std::atoi(environment("CRANE_THREADS", std::to_string(usable_cpus()).c_str()).c_str());
}

// Weights whose every byte is 0x2c: harmless as a number of any type.
struct Scene {
  Scene(DType type, int64_t rows, int64_t k, int64_t tokens)
      : device(cpu::make_backend(environment("CRANE_ISA", "auto"), thread_count(),
                                 cpu::Precision::automatic),
               size_t{1} << 30) {
    std::vector<std::byte> bytes(static_cast<size_t>(rows * row_bytes(type, k)), std::byte{0x2c});
    part.weight = device.backend().upload(device, {type, rows, k, bytes.data()});
    x = device.empty({tokens, k});
    for (int64_t i = 0; i < x.elements(); ++i)
      x.data<float>()[i] = static_cast<float>(i % 37 - 18) / 7;
    y = device.empty({tokens, rows});
  }
  void run() { device.backend().linear(y, x, {&part, 1}); }

  Device device;
  LinearPart part;
  Tensor x, y;
};

// Runs the benchmark; `work` per iteration and `peak` in the same unit.
void measure(benchmark::State& state, Scene& scene, const char* unit, double work, double peak) {
  double begin = bench::processor_seconds();
  for (auto _ : state) scene.run();
  double rate =
      work * static_cast<double>(state.iterations()) / (bench::processor_seconds() - begin);
  state.counters[unit] = rate;
  if (peak <= 0) return;
  state.counters["peak"] = peak;
  state.counters["share"] = rate / peak;
}

void many_columns(benchmark::State& state, DType type, int64_t k, int64_t tokens) {
  int64_t rows = 2240;
  ThreadPool pool(thread_count());
  double peak = is_block_type(type) ? bench::int8_peak(pool) : bench::f32_peak(pool);
  Scene scene(type, rows, k, tokens);
  measure(state, scene, "MAC/s", static_cast<double>(rows * k * tokens), peak);
}

void one_column(benchmark::State& state, DType type, int64_t k) {
  int64_t bytes_per_row = row_bytes(type, k);
  int64_t rows = (int64_t{160} << 20) / bytes_per_row / 16 * 16;  // more than any cache
  ThreadPool pool(thread_count());
  Scene scene(type, rows, k, 1);
  double bytes = static_cast<double>(rows * bytes_per_row);
  double bandwidth =
      bench::read_bandwidth(pool, scene.part.weight.bytes(), static_cast<size_t>(bytes));
  measure(state, scene, "B/s", bytes, bandwidth);
}

void list_benchmarks() {
  for (DType type : kTypes) {
    for (int64_t k : {896, 2048, 4864}) {
      if (k % info(type).block_length != 0) continue;
      std::string shape = cat(name(type), "/k", k);
      for (int64_t tokens : {2, 4, 8, 32, 512})
        benchmark::RegisterBenchmark(cat("gemm/", shape, "/columns", tokens).c_str(), many_columns,
                                     type, k, tokens)
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      benchmark::RegisterBenchmark(cat("gemv/", shape).c_str(), one_column, type, k)
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace
}  // namespace crane

int main(int argc, char** argv) {
  crane::list_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
