// What this machine can do at most, measured beside the kernels: shared machines change their speed
// from minute to minute, so a figure means something only as a share of these. Everything counts
// per second of processor time and per thread, which other processes disturb least.
#pragma once

#include <cstddef>

#include "base/thread_pool.h"

namespace crane::bench {

// Seconds of processor time that all threads of this process have used.
double processor_seconds();

// 8-bit multiply-adds per second, in registers only: VNNI where there is such an
// instruction, else the AVX2 sequence of multiply, pairwise add, add. 0 where neither exists.
double int8_peak(ThreadPool& pool);

// f32 multiply-adds per second likewise; 0 without FMA.
double f32_peak(ThreadPool& pool);

// Bytes per second that each thread reads from `bytes` of memory while all do, from four places at
// once.
double read_bandwidth(ThreadPool& pool, const std::byte* data, size_t bytes);

}  // namespace crane::bench
