#include "app/bench_probe.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace crane {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kBytesPerThread = size_t{192} << 20;  // far above any cache
constexpr int kRepetitions = 4;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Anonymous memory in huge pages where the system gives them, every page touched.
class HugeBuffer {
 public:
  explicit HugeBuffer(size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    madvise(data_, bytes, MADV_HUGEPAGE);
    std::memset(data_, 1, bytes);
  }
  ~HugeBuffer() { munmap(data_, bytes_); }
  HugeBuffer(const HugeBuffer&) = delete;
  HugeBuffer& operator=(const HugeBuffer&) = delete;

  const uint64_t* words() const { return static_cast<const uint64_t*>(data_); }
  size_t size() const { return bytes_ / sizeof(uint64_t); }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

// Sixteen independent sums in two-word vectors, which every 64-bit processor has.
uint64_t read_all(const HugeBuffer& buffer) {
  typedef uint64_t Pair __attribute__((vector_size(16)));
  std::array<Pair, 8> sums{};
  const Pair* pairs = reinterpret_cast<const Pair*>(buffer.words());
  for (size_t i = 0; i + 8 <= buffer.size() / 2; i += 8)
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += pairs[i + lane];
  Pair total{};
  for (const Pair& sum : sums) total += sum;
  return total[0] + total[1];
}

// Runs `work(thread)` on all threads at once, `kRepetitions` times; the shortest time of one round.
double best_seconds(int threads, const std::function<void(int)>& work) {
  double best = 1e9;
  for (int round = 0; round < kRepetitions; ++round) {
    auto start = Clock::now();
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& other : others) other.join();
    best = std::min(best, seconds_since(start));
  }
  return best;
}

double measure_bandwidth(int threads) {
  std::vector<std::unique_ptr<HugeBuffer>> buffers;
  for (int i = 0; i < threads; ++i)
    buffers.push_back(std::make_unique<HugeBuffer>(kBytesPerThread));
  std::vector<uint64_t> sums(static_cast<size_t>(threads));
  double seconds = best_seconds(threads, [&](int i) {
    sums[static_cast<size_t>(i)] = read_all(*buffers[static_cast<size_t>(i)]);
  });
  for (uint64_t sum : sums)  // the loop cannot be dropped
    if (sum != 0x0101010101010101ull * (kBytesPerThread / 8)) return 0;
  return static_cast<double>(kBytesPerThread) * threads / seconds / 1e9;
}

// int8 multiply-adds between registers only, ten independent sums; each call gives how many it did.
// Assembly, because this file is compiled for the baseline processor.
constexpr int64_t kLoops = 2'000'000;

#if defined(__x86_64__)
int64_t multiply_avx512vnni() {
  int64_t loops = kLoops;
  asm volatile(
      "1:\n"
      "vpdpbusd %%zmm14, %%zmm15, %%zmm0\n vpdpbusd %%zmm14, %%zmm15, %%zmm1\n"
      "vpdpbusd %%zmm14, %%zmm15, %%zmm2\n vpdpbusd %%zmm14, %%zmm15, %%zmm3\n"
      "vpdpbusd %%zmm14, %%zmm15, %%zmm4\n vpdpbusd %%zmm14, %%zmm15, %%zmm5\n"
      "vpdpbusd %%zmm14, %%zmm15, %%zmm6\n vpdpbusd %%zmm14, %%zmm15, %%zmm7\n"
      "vpdpbusd %%zmm14, %%zmm15, %%zmm8\n vpdpbusd %%zmm14, %%zmm15, %%zmm9\n"
      "dec %0\n jnz 1b\n vzeroupper\n"
      : "+r"(loops)
      :
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm14",
        "xmm15", "cc");
  return kLoops * 10 * 64;
}

// Without a dot product an int8 sum of 32 products takes three instructions.
int64_t multiply_avx2() {
  int64_t loops = kLoops;
#define CRANE_STEP(product, sum)                \
  "vpmaddubsw %%ymm14, %%ymm15, %%" product     \
  "\n"                                          \
  "vpmaddwd %%ymm13, %%" product ", %%" product \
  "\n"                                          \
  "vpaddd %%" product ", %%" sum ", %%" sum "\n"
  asm volatile("1:\n" CRANE_STEP("ymm5", "ymm0") CRANE_STEP("ymm6", "ymm1")
                   CRANE_STEP("ymm7", "ymm2") CRANE_STEP("ymm8", "ymm3")
                       CRANE_STEP("ymm9", "ymm4") "dec %0\n jnz 1b\n vzeroupper\n"
               : "+r"(loops)
               :
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                 "xmm13", "xmm14", "xmm15", "cc");
#undef CRANE_STEP
  return kLoops * 5 * 32;
}
#endif

using Multiply = int64_t (*)();

Multiply choose_multiply() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni")) return multiply_avx512vnni;
  if (__builtin_cpu_supports("avx2")) return multiply_avx2;
#endif
  return nullptr;
}

double measure_int8(int threads) {
  Multiply multiply = choose_multiply();
  if (!multiply) return 0;
  int64_t done = 0;
  double seconds = best_seconds(threads, [&](int i) {
    int64_t count = multiply();
    if (i == 0) done = count;
  });
  return static_cast<double>(done) * threads / seconds / 1e9;
}

}  // namespace

MachinePeaks measure_peaks(int threads) {
  return {measure_bandwidth(threads), measure_int8(threads)};
}

MachinePeaks best_of(const MachinePeaks& a, const MachinePeaks& b) {
  return {std::max(a.bandwidth_gb_s, b.bandwidth_gb_s), std::max(a.int8_gmac_s, b.int8_gmac_s)};
}

}  // namespace crane
