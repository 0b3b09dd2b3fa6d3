#include "ops/attention.h"

#include <cmath>

#include "ops/checks.h"

namespace crane::ops {

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, KvCache::Layer& layer,
                 const Batch& batch, AttentionOptions options) {
  require(k.dim(1) == layer.spec.kv_heads && k.dim(2) == layer.spec.key_dim &&
              v.dim(2) == layer.spec.value_dim,
          "attention", "k or v do not fit the cache", k, v);
  require(q.dim(2) == k.dim(2) && q.dim(1) % k.dim(1) == 0 && q.dim(0) == batch.size(), "attention",
          "q does not fit k", q, k);
  if (options.scale == 0.0f) options.scale = 1.0f / std::sqrt(static_cast<float>(q.dim(2)));
  Tensor y = empty_like_rows(q, {q.dim(0), q.dim(1), v.dim(2)});
  Backend& backend = q.device().backend();
  backend.store_kv(layer, k, v, batch);
  backend.attention(y, q, layer, batch, options);
  return y;
}

}  // namespace crane::ops
