// How many K/V blocks an engine gets, and how much memory there is for them.
#pragma once

#include <cstdint>

namespace crane {

struct CacheSizing {
  int64_t bytes_per_block = 0;
  int blocks_per_context = 1;  // of one sequence of full length
  int max_running = 1;
  int64_t requested_bytes = 0;  // 0: choose
  int64_t free_bytes = 0;       // 0: unknown
};

// As many blocks as the requested bytes hold. Without a request: one full context at least, up to
// max_running of them within a quarter of the free memory; memory that is never used is never
// touched, so a generous choice costs address space only. When one context alone needs more than
// is free: what fits in half of it. Throws Error(invalid_argument) when the request holds no block.
int choose_block_count(const CacheSizing& sizing);

// Bytes that this process can still use, within its control group's limit; 0 when unknown.
int64_t free_memory_bytes();

}  // namespace crane
