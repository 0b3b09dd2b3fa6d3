// KvCache: the memory that sequences keep between steps. Paged keys and values per attention
// layer, and a state of fixed size per recurrent layer. Bookkeeping (who owns which block) is the
// engine's BlockPool.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace crane {

// What one layer keeps.
struct LayerState {
  enum class Kind { none, attention, recurrent };
  Kind kind = Kind::none;
  int kv_heads = 0;
  int key_dim = 0;                 // per head
  int value_dim = 0;               // per head
  int64_t recurrent_elements = 0;  // f32 values per sequence
};

// What a model asks for, one entry per layer, so that hybrid models batch, page and cache prefixes
// as dense ones do.
struct StateSpec {
  std::vector<LayerState> layers;

  static StateSpec attention(int layers, int kv_heads, int head_dim) {
    LayerState layer{LayerState::Kind::attention, kv_heads, head_dim, head_dim, 0};
    return {std::vector<LayerState>(static_cast<size_t>(layers), layer)};
  }
  bool has_recurrent() const {
    for (const LayerState& layer : layers)
      if (layer.kind == LayerState::Kind::recurrent) return true;
    return false;
  }
  // Bytes of keys and values of one token.
  int64_t bytes_per_token(DType type) const {
    int64_t bytes = 0;
    for (const LayerState& layer : layers)
      bytes += int64_t{layer.kv_heads} *
               (row_bytes(type, layer.key_dim) + row_bytes(type, layer.value_dim));
    return bytes;
  }
};

class KvCache {
 public:
  static constexpr int kBlockSize = 64;  // tokens; a multiple of 32, the widest panel of any kernel

  // Keys and values of all blocks, in the form that the backend's attention reads.
  struct Layer {
    LayerState spec;
    Tensor keys, values;
    Tensor state;  // [slots, recurrent_elements]
  };

  KvCache(StateSpec spec, DType type, int block_count)
      : spec_(std::move(spec)), type_(type), block_count_(block_count) {}

  Layer& layer(int index) { return layers_[static_cast<size_t>(index)]; }
  std::vector<Layer>& layers() { return layers_; }
  const StateSpec& spec() const { return spec_; }
  DType type() const { return type_; }
  int block_count() const { return block_count_; }

 private:
  StateSpec spec_;
  DType type_;
  int block_count_;
  std::vector<Layer> layers_;
};

}  // namespace crane
