// Rows by index: token embeddings and the rows that need logits.
#pragma once

#include <span>

#include "core/batch.h"
#include "core/tensor.h"

namespace crane::ops {

// Rows of a packed [vocab, dim] table for the batch's tokens, f32 [tokens, dim].
Tensor embed(const Tensor& table, const Batch& batch);

// x[rows[i]]; rows ascend.
Tensor rows(const Tensor& x, std::span<const int32_t> rows);

}  // namespace crane::ops
