#include "backends/peaks.h"

#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace crane::bench {
namespace {

std::atomic<uint64_t> sink;

// A few runs of loop() on all threads, as operations per second.
template <class Loop>
double rate(ThreadPool& pool, double operations, const Loop& loop) {
  constexpr int kRuns = 5;
  double begin = processor_seconds();
  pool.parallel_for(kRuns * pool.size(), 1, [&](int64_t first, int64_t last, int) {
    for (int64_t i = first; i < last; ++i) loop();
  });
  return operations * kRuns * pool.size() / (processor_seconds() - begin);
}

#if defined(__x86_64__)
constexpr int kSteps = 1000000;
constexpr int kChains = 12;  // hide the latency of every instruction

#define CRANE_REPEAT_12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

// The empty asm keeps the compiler from moving the products out of the loop; one variable per sum
// keeps the sums in registers.
__attribute__((target("avx2"))) void avx2_products() {
  __m256i a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(2), one = _mm256_set1_epi16(1);
#define CRANE_START(i) __m256i sum##i = _mm256_setzero_si256();
  CRANE_REPEAT_12(CRANE_START)
#undef CRANE_START
  for (int step = 0; step < kSteps; ++step) {
#define CRANE_STEP(i)                                                   \
  {                                                                     \
    __m256i product = _mm256_maddubs_epi16(a, b);                       \
    asm volatile("" : "+x"(product), "+x"(a));                          \
    sum##i = _mm256_add_epi32(sum##i, _mm256_madd_epi16(product, one)); \
    asm volatile("" : "+x"(sum##i));                                    \
  }
    CRANE_REPEAT_12(CRANE_STEP)
#undef CRANE_STEP
  }
  __m256i total = _mm256_setzero_si256();
#define CRANE_END(i) total = _mm256_add_epi32(total, sum##i);
  CRANE_REPEAT_12(CRANE_END)
  sink += static_cast<uint64_t>(_mm256_extract_epi64(total, 0));
#undef CRANE_END
}

__attribute__((target("avx512f,avx512vnni"))) void vnni_products() {
  __m512i a = _mm512_set1_epi32(0x03030303), b = _mm512_set1_epi32(0x02020202);
  __m512i sums[kChains];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i)
      asm volatile("vpdpbusd %2, %1, %0" : "+v"(sums[i]) : "v"(a), "v"(b));
  }
  for (__m512i& sum : sums) {
    uint64_t first;
    std::memcpy(&first, &sum, sizeof first);
    sink += first;
  }
}

__attribute__((target("avx2,fma"))) void fma_products() {
  __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
#define CRANE_START(i) __m256 sum##i = _mm256_setzero_ps();
  CRANE_REPEAT_12(CRANE_START)
  for (int step = 0; step < kSteps; ++step) {
#define CRANE_STEP(i)                     \
  sum##i = _mm256_fmadd_ps(a, b, sum##i); \
  asm volatile("" : "+x"(sum##i));
    CRANE_REPEAT_12(CRANE_STEP)
  }
  __m256 total = _mm256_setzero_ps();
#define CRANE_END(i) total = _mm256_add_ps(total, sum##i);
  CRANE_REPEAT_12(CRANE_END)
  sink += static_cast<uint64_t>(_mm256_cvtss_f32(total));
}
#endif

}  // namespace

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double int8_peak(ThreadPool& pool) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni"))
    return rate(pool, 64.0 * kChains * kSteps, vnni_products);
  if (__builtin_cpu_supports("avx2")) return rate(pool, 32.0 * kChains * kSteps, avx2_products);
#endif
  return 0 * pool.size();
}

double f32_peak(ThreadPool& pool) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return rate(pool, 8.0 * kChains * kSteps, fma_products);
#endif
  return 0 * pool.size();
}

double read_bandwidth(ThreadPool& pool, const std::byte* data, size_t bytes) {
  constexpr size_t kPiece = size_t{1} << 20, kLine = 64;
  int64_t pieces = static_cast<int64_t>(bytes / kPiece);
  double begin = processor_seconds();
  pool.parallel_for(pieces, 4, [&](int64_t first, int64_t last, int) {
    uint64_t sum = 0;
    for (int64_t piece = first; piece < last; ++piece) {
      const std::byte* at = data + static_cast<size_t>(piece) * kPiece;
      for (size_t i = 0; i < kPiece / 4; i += kLine)
        for (size_t place = 0; place < 4; ++place) {
          uint64_t value;
          std::memcpy(&value, at + place * kPiece / 4 + i, sizeof value);
          sum += value;
        }
    }
    sink += sum;
  });
  return static_cast<double>(pieces) * kPiece / (processor_seconds() - begin);
}

}  // namespace crane::bench
