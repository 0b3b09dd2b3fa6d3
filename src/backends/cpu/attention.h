// Attention and the paged K/V store of the CPU backend. Layout: vector_kernels.h.
#pragma once

#include <vector>

#include "backends/cpu/context.h"
#include "core/backend.h"

namespace crane::cpu {

// What one worker computes: the query heads of one K/V head for a few tokens of a run, over all
// spans of keys or over one of them.
struct AttentionUnit {
  const SequenceRun* run;
  int head, first_token, tokens, span;  // span -1: all
};

// Lists that are kept from step to step, so that planning allocates nothing.
struct AttentionPlan {
  std::vector<AttentionUnit> units, parts;
};

struct AttentionInput {
  const Tensor& q;
  KvCache::Layer& layer;
  const Batch& batch;
  const AttentionOptions& options;
};

void allocate_kv(Device& device, KvCache& cache, int slots);
void copy_block(KvCache& cache, int from, int to, int tokens);
void store_kv(Context& context, KvCache::Layer& layer, const Tensor& k, const Tensor& v,
              const Batch& batch);
void attention(Context& context, AttentionPlan& plan, Tensor& y, const AttentionInput& input);

}  // namespace crane::cpu
