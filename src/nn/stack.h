// stack<Block>(weights, n, config): the n layers of a model, each built from weights / i.
#pragma once

#include <vector>

#include "io/weights.h"

namespace crane::nn {

template <class Block, class Config>
std::vector<Block> stack(const Weights& weights, int count, const Config& config) {
  std::vector<Block> blocks;
  blocks.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) blocks.emplace_back(weights / i, config, i);
  return blocks;
}

}  // namespace crane::nn
