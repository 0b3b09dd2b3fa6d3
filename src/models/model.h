// What the engine sees of a model: tokens in, logits out, and the memory it keeps per sequence.
#pragma once

#include <cstdint>
#include <memory>

#include "core/batch.h"
#include "core/kv_cache.h"
#include "core/tensor.h"

namespace crane {

// A language model. Immutable after construction; forward is called by one thread at a time.
class TextModel {
 public:
  virtual ~TextModel() = default;
  virtual int vocab_size() const = 0;
  virtual int context_length() const = 0;  // positions the model was made for
  virtual StateSpec state_spec() const = 0;
  // Logits [batch.logit_rows, vocab_size] in f32, after the model's own soft-capping. Keys, values
  // and states of the batch's tokens are written to `cache`.
  virtual Tensor forward(const Batch& batch, KvCache& cache) const = 0;
};

using TextModelPtr = std::unique_ptr<TextModel>;

}  // namespace crane
