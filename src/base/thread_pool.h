// ThreadPool: persistent workers for short parallel loops, without an allocation or a lock per
// loop.
//
// A loop is cut into pieces that workers claim one by one, so a worker that the system has put
// aside does not stop the others: a loop ends when its pieces are done, whoever did them. Idle
// workers spin for a moment, then sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace crane {

// CPUs this process may use: affinity mask and cgroup quota, at least 1.
int usable_cpus();

class ThreadPool {
 public:
  // `threads` counts the caller: a pool of 1 runs everything inline.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // body(begin, end, worker) over [0, count) in pieces of `grain`; worker < size(), the caller is
  // worker 0. The body must not throw and must not call parallel_for. One caller at a time.
  template <class Body>
  void parallel_for(int64_t count, int64_t grain, const Body& body) {
    if (count <= 0) return;
    if (workers_.empty() || count <= grain) {
      body(int64_t{0}, count, 0);
      return;
    }
    run({[](const void* context, int64_t begin, int64_t end, int worker) {
           (*static_cast<const Body*>(context))(begin, end, worker);
         },
         &body, count, grain});
  }

 private:
  using Function = void (*)(const void* context, int64_t begin, int64_t end, int worker);
  struct Loop {
    Function function = nullptr;
    const void* context = nullptr;
    int64_t count = 0;
    int64_t grain = 1;
  };

  void run(const Loop& loop);
  void work(uint32_t generation, int worker);
  void worker_main(int worker);
  uint32_t wait_for_loop(uint32_t last_generation);

  // The loop in progress. Workers read it before they claim a piece and use it only if the claim
  // succeeds, which proves that the generation they read is still the current one.
  std::atomic<Function> function_{nullptr};
  std::atomic<const void*> context_{nullptr};
  std::atomic<int64_t> count_{0}, grain_{1};

  // Generation in the upper half, next unclaimed piece in the lower.
  alignas(64) std::atomic<uint64_t> ticket_{0};
  alignas(64) std::atomic<uint32_t> pieces_left_{0};
  alignas(64) std::atomic<uint32_t> generation_{0};  // what sleepers wait on
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

}  // namespace crane
