#include "backends/cpu/pack_blocks.h"

#include <array>
#include <cstring>

#include "base/error.h"

namespace crane::cpu {
namespace {

uint32_t load32(const uint8_t* p) {
  uint32_t value;
  std::memcpy(&value, p, 4);
  return value;
}
uint64_t load64(const uint8_t* p) {
  uint64_t value;
  std::memcpy(&value, p, 8);
  return value;
}
void store32(uint8_t* p, uint32_t value) { std::memcpy(p, &value, 4); }

constexpr uint64_t kLowNibbles = 0x0f0f0f0f0f0f0f0full;

// 16 bytes with two codes each: group g of four into byte 64g + 4 * row of `to`.
void put_nibbles(const uint8_t* nibbles, int row, uint8_t* to) {
  for (int g = 0; g < 4; ++g) store32(to + 64 * g + 4 * row, load32(nibbles + 4 * g));
}

// Codes 0..31 in the low or high nibbles of 32 bytes: pairs (i, i + 16) go into one byte.
void put_half_nibbles(const uint8_t* bytes, int shift, int row, uint8_t* to) {
  for (int part = 0; part < 2; ++part) {
    uint64_t low = load64(bytes + 8 * part) >> shift & kLowNibbles;
    uint64_t high = load64(bytes + 16 + 8 * part) >> shift & kLowNibbles;
    uint64_t both = low | high << 4;
    store32(to + 128 * part + 4 * row, static_cast<uint32_t>(both));
    store32(to + 128 * part + 64 + 4 * row, static_cast<uint32_t>(both >> 32));
  }
}

// For a byte with the bits of two groups of four: bit j and bit 4 + j become bits 0 and 1 of byte
// j.
constexpr std::array<uint32_t, 256> kSpread = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte)
    for (uint32_t j = 0; j < 4; ++j)
      table[byte] |= ((byte >> j & 1) | (byte >> (4 + j) & 1) << 1) << 8 * j;
  return table;
}();

// Bit 4g + j of `bits` to bit g of byte j.
uint32_t spread_bits(uint32_t bits) {
  return kSpread[bits & 255] | kSpread[bits >> 8 & 255] << 2 | kSpread[bits >> 16 & 255] << 4 |
         kSpread[bits >> 24] << 6;
}

// Bit `shift` of each of 32 bytes, as the bits of one number.
uint32_t gather_bits(const uint8_t* bytes, int shift) {
  uint32_t result = 0;
  for (int part = 0; part < 4; ++part) {
    uint64_t lowest = load64(bytes + 8 * part) >> shift & 0x0101010101010101ull;
    result |= static_cast<uint32_t>(lowest * 0x0102040810204080ull >> 56) << 8 * part;
  }
  return result;
}

void put16(const uint8_t* from, int row, uint8_t* to) { std::memcpy(to + 2 * row, from, 2); }

void pack_q4_0(const uint8_t* block, int row, uint8_t* panel) {
  put16(block, row, panel);
  put_nibbles(block + 2, row, panel + 32);
}

void pack_q4_1(const uint8_t* block, int row, uint8_t* panel) {
  put16(block, row, panel);
  put16(block + 2, row, panel + 32);
  put_nibbles(block + 4, row, panel + 64);
}

void pack_q5_0(const uint8_t* block, int row, uint8_t* panel) {
  put16(block, row, panel);
  store32(panel + 32 + 4 * row, spread_bits(load32(block + 2)));
  put_nibbles(block + 6, row, panel + 96);
}

void pack_q5_1(const uint8_t* block, int row, uint8_t* panel) {
  put16(block, row, panel);
  put16(block + 2, row, panel + 32);
  store32(panel + 64 + 4 * row, spread_bits(load32(block + 4)));
  put_nibbles(block + 8, row, panel + 128);
}

void pack_q8_0(const uint8_t* block, int row, uint8_t* panel) {
  put16(block, row, panel);
  for (int g = 0; g < 8; ++g) store32(panel + 32 + 64 * g + 4 * row, load32(block + 2 + 4 * g));
}

// The 12 bytes of scales and minima: the file's own puzzle (reference: get_scale_min of
// gguf/quants.py) and the panel's form of it.
void put_scales_and_minima(const uint8_t* packed, int row, uint8_t* to) {
  uint8_t scales[8], minima[8];
  for (int i = 0; i < 4; ++i) {
    scales[i] = packed[i] & 63;
    minima[i] = packed[i + 4] & 63;
    scales[i + 4] = static_cast<uint8_t>((packed[i + 8] & 15) | (packed[i] >> 6) << 4);
    minima[i + 4] = static_cast<uint8_t>((packed[i + 8] >> 4) | (packed[i + 4] >> 6) << 4);
  }
  for (int i = 0; i < 8; ++i) {
    to[16 * i + row] = static_cast<uint8_t>((scales[i] & 15) | (minima[i] & 15) << 4);
    uint8_t upper = static_cast<uint8_t>((scales[i] >> 4) | (minima[i] >> 4) << 2);
    uint8_t& pair = to[128 + 16 * (i / 2) + row];
    pair = static_cast<uint8_t>(i % 2 == 0 ? upper : pair | upper << 4);
  }
}

void pack_q4_k(const uint8_t* block, int row, uint8_t* panel) {
  put16(block, row, panel);
  put16(block + 2, row, panel + 32);
  put_scales_and_minima(block + 4, row, panel + 64);
  for (int i = 0; i < 8; ++i)
    put_half_nibbles(block + 16 + 32 * (i / 2), i % 2 * 4, row, panel + 256 + 256 * i);
}

void pack_q5_k(const uint8_t* block, int row, uint8_t* panel) {
  put16(block, row, panel);
  put16(block + 2, row, panel + 32);
  put_scales_and_minima(block + 4, row, panel + 64);
  for (int i = 0; i < 8; ++i) {
    uint8_t* to = panel + 256 + 320 * i;
    store32(to + 4 * row, spread_bits(gather_bits(block + 16, i)));
    put_half_nibbles(block + 48 + 32 * (i / 2), i % 2 * 4, row, to + 64);
  }
}

void pack_q6_k(const uint8_t* block, int row, uint8_t* panel) {
  const uint8_t* low = block;
  const uint8_t* high = block + 128;
  const uint8_t* scales = block + 192;
  put16(block + 208, row, panel);
  for (int i = 0; i < 16; ++i) panel[32 + 16 * i + row] = scales[i];
  for (int i = 0; i < 8; ++i) {  // 32-k blocks; four of them share 64 bytes of low, 32 of high
    uint8_t* to = panel + 288 + 384 * i;
    int quarter = i % 4;
    const uint8_t* bits = high + 32 * (i / 4);
    for (int half = 0; half < 2; ++half) {
      uint32_t all = 0;
      for (int g = 0; g < 4; ++g)
        all |= (load32(bits + 16 * half + 4 * g) >> 2 * quarter & 0x03030303u) << 2 * g;
      store32(to + 64 * half + 4 * row, all);
    }
    put_half_nibbles(low + 64 * (i / 4) + 32 * (quarter % 2), quarter / 2 * 4, row, to + 128);
  }
}

void pack_iq4_xs(const uint8_t* block, int row, uint8_t* panel) {
  put16(block, row, panel);
  for (int i = 0; i < 4; ++i) panel[32 + 16 * i + row] = block[4 + i];
  for (int i = 0; i < 2; ++i) panel[96 + 16 * i + row] = block[2 + i];
  for (int i = 0; i < 8; ++i) put_nibbles(block + 8 + 16 * i, row, panel + 128 + 256 * i);
}

}  // namespace

BlockPacker block_packer(DType type) {
  switch (type) {
    case DType::q4_0:
      return pack_q4_0;
    case DType::iq4_nl:
      return pack_q4_0;
    case DType::q4_1:
      return pack_q4_1;
    case DType::q5_0:
      return pack_q5_0;
    case DType::q5_1:
      return pack_q5_1;
    case DType::q8_0:
      return pack_q8_0;
    case DType::q4_k:
      return pack_q4_k;
    case DType::q5_k:
      return pack_q5_k;
    case DType::q6_k:
      return pack_q6_k;
    case DType::iq4_xs:
      return pack_iq4_xs;
    default:
      break;
  }
  throw Error(ErrorCode::internal, "pack: no block packer for this type");
}

}  // namespace crane::cpu
