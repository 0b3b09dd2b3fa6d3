#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/error.h"

namespace crane {
namespace {

constexpr int kSpins = 4000;  // about 100 us of pauses: longer than the gap between two stages

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// CPUs that the cgroup's quota allows (cgroup v2), or 0 when there is none.
int cgroup_cpus() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::max(1, static_cast<int>(std::strtod(quota.c_str(), nullptr) / period + 0.5));
}

}  // namespace

int usable_cpus() {
  cpu_set_t set;
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0
                 ? CPU_COUNT(&set)
                 : static_cast<int>(std::thread::hardware_concurrency());
  int quota = cgroup_cpus();
  if (quota > 0) cpus = std::min(cpus, quota);
  return std::max(1, cpus);
}

ThreadPool::ThreadPool(int threads) {
  check(threads >= 1, "thread pool: needs at least one thread");
  for (int worker = 1; worker < threads; ++worker)
    workers_.emplace_back([this, worker] { worker_main(worker); });
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(const Loop& loop) {
  int64_t pieces = (loop.count + loop.grain - 1) / loop.grain;
  check(pieces < (int64_t{1} << 31), "thread pool: too many pieces");
  // Close the old generation first: a worker that still holds it can claim nothing while the
  // fields change.
  uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
  ticket_.store((uint64_t{generation} << 32) | 0xffffffffu);
  function_.store(loop.function, std::memory_order_relaxed);
  context_.store(loop.context, std::memory_order_relaxed);
  count_.store(loop.count, std::memory_order_relaxed);
  grain_.store(loop.grain, std::memory_order_relaxed);
  pieces_left_.store(static_cast<uint32_t>(pieces), std::memory_order_relaxed);
  ticket_.store(uint64_t{generation} << 32);
  generation_.store(generation);
  if (sleepers_.load() > 0) generation_.notify_all();

  work(generation, 0);
  for (int spin = 0;; ++spin) {
    uint32_t left = pieces_left_.load(std::memory_order_acquire);
    if (left == 0) return;
    if (spin < kSpins) {
      pause();
    } else {
      pieces_left_.wait(left);
    }
  }
}

void ThreadPool::work(uint32_t generation, int worker) {
  while (true) {
    uint64_t ticket = ticket_.load();
    Function function = function_.load(std::memory_order_relaxed);
    const void* context = context_.load(std::memory_order_relaxed);
    int64_t count = count_.load(std::memory_order_relaxed);
    int64_t grain = grain_.load(std::memory_order_relaxed);
    int64_t piece = static_cast<int64_t>(ticket & 0xffffffffu);
    if ((ticket >> 32) != generation || piece == 0xffffffff || piece * grain >= count) return;
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1)) continue;
    function(context, piece * grain, std::min(count, (piece + 1) * grain), worker);
    if (pieces_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) pieces_left_.notify_one();
  }
}

uint32_t ThreadPool::wait_for_loop(uint32_t last_generation) {
  for (int spin = 0; spin < kSpins; ++spin) {
    uint32_t now = generation_.load();
    if (now != last_generation) return now;
    pause();
  }
  sleepers_.fetch_add(1);
  generation_.wait(last_generation);
  sleepers_.fetch_sub(1);
  return generation_.load();
}

void ThreadPool::worker_main(int worker) {
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_loop(seen);
    if (stopping_) return;
    work(seen, worker);
  }
}

}  // namespace crane
