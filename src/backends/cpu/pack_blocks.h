// Puts one block of one row of a file into its places in a panel (byte maps: pack.h).
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace crane::cpu {

// `block` as the file has it; `row` < 16; `panel` at the panel's block.
using BlockPacker = void (*)(const uint8_t* block, int row, uint8_t* panel);

// Of a block-quantised type that packed_type() knows.
BlockPacker block_packer(DType type);

}  // namespace crane::cpu
