// Causal grouped-query attention over a paged K/V cache.
#pragma once

#include "core/backend.h"

namespace crane::ops {

// q [tokens, heads, head_dim], k and v [tokens, kv_heads, head_dim]: stores k and v behind each
// run's past tokens, then gives softmax(scale q kᵀ) v as [tokens, heads, head_dim]. Query head h
// reads K/V head h / (heads / kv_heads).
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, KvCache::Layer& layer,
                 const Batch& batch, AttentionOptions options);

}  // namespace crane::ops
