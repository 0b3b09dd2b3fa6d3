// How each block-quantised type lies in a panel, as the kernels read it. The byte maps are those
// of pack.h.
//
//   kSubBlocks        32-k blocks behind one header (8 for the types with blocks of 256)
//   kHeader, kData    bytes of the header of a panel block, and of each 32-k block behind it
//   kOffset           subtracted from every code
//   kMinimum          a minimum is added: weight = scale * code + minimum
//   kHalves           two integer scales per 32-k block, one for each 16 k
//   kSigned           codes are signed 8-bit, kOffset is 0
//   unpack            k-groups i and i + 4 of the rows of vector v

constexpr int kPanelVectors = kPanelRows / kLanes;  // per panel

inline F32 half_floats(const uint8_t* p, int v) {
  return load_f16((const uint16_t*)p + v * kLanes);
}
inline F32 sub_from_zero(F32 a) { return sub(zero(), a); }
inline Bytes load_group(const uint8_t* data, int group, int v) {
  return load_bytes(data + 64 * group + 4 * kLanes * v);
}
inline void unpack_nibbles(const uint8_t* data, int i, int v, Bytes& low, Bytes& high) {
  Bytes both = load_group(data, i, v);
  low = and_mask<15>(both);
  high = and_mask<15>(shift_right<4>(both));
}
// Bit g of a byte of `bits` is the fifth bit of k-group g.
template <int group>
inline Bytes fifth_bit(Bytes bits) {
  if constexpr (group < 4) {
    return and_mask<16>(shift_left<4 - group>(bits));
  } else if constexpr (group == 4) {
    return and_mask<16>(bits);
  } else {
    return and_mask<16>(shift_right<group - 4>(bits));
  }
}
template <int i>
inline void unpack_five(const uint8_t* data, int v, Bytes& low, Bytes& high) {
  Bytes bits = load_group(data, 0, v);
  unpack_nibbles(data + 64, i, v, low, high);
  low = or_bytes(low, fifth_bit<i>(bits));
  high = or_bytes(high, fifth_bit<i + 4>(bits));
}

struct LegacyType {
  static constexpr int kSubBlocks = 1;
  static constexpr bool kMinimum = false, kHalves = false, kSigned = false;
  static F32 scale(const uint8_t* header, int, int v) { return half_floats(header, v); }
  static F32 minimum(const uint8_t* header, int, int v) { return half_floats(header + 32, v); }
  static I32 half_scale(const uint8_t* header, int, int, int) {
    return load_i32((const int32_t*)header);  // never called
  }
};

struct TypeQ4_0 : LegacyType {
  static constexpr int kHeader = 32, kData = 256, kOffset = 8;
  template <int i>
  static void unpack(const uint8_t* data, int v, Bytes& low, Bytes& high) {
    unpack_nibbles(data, i, v, low, high);
  }
};
struct TypeQ4_1 : TypeQ4_0 {
  static constexpr int kHeader = 64, kOffset = 0;
  static constexpr bool kMinimum = true;
};
struct TypeQ5_0 : LegacyType {
  static constexpr int kHeader = 32, kData = 320, kOffset = 16;
  template <int i>
  static void unpack(const uint8_t* data, int v, Bytes& low, Bytes& high) {
    unpack_five<i>(data, v, low, high);
  }
};
struct TypeQ5_1 : TypeQ5_0 {
  static constexpr int kHeader = 64, kOffset = 0;
  static constexpr bool kMinimum = true;
};
struct TypeQ8_0 : LegacyType {
  static constexpr int kHeader = 32, kData = 512, kOffset = 0;
  static constexpr bool kSigned = true;
  template <int i>
  static void unpack(const uint8_t* data, int v, Bytes& low, Bytes& high) {
    low = signed_codes(load_group(data, i, v));
    high = signed_codes(load_group(data, i + 4, v));
  }
};

// Scales and minima of 6 bits. Per sub-block 16 bytes: the low four bits of scale and minimum of
// each row; then per pair of sub-blocks 16 bytes: their upper bits, two by two.
struct TypeQ4_K {
  static constexpr int kSubBlocks = 8, kHeader = 256, kData = 256, kOffset = 0;
  static constexpr bool kMinimum = true, kHalves = false, kSigned = false;
  static I32 upper(const uint8_t* header, int sub, int v, int shift) {
    I32 bits = load_u8(header + 192 + sub / 2 * 16 + v * kLanes);
    return shift_left_i32(and_i32(shift_right_i32(bits, sub % 2 * 4 + shift), 3), 4);
  }
  static F32 scale(const uint8_t* header, int sub, int v) {
    I32 low = and_i32(load_u8(header + 64 + sub * 16 + v * kLanes), 15);
    return mul(half_floats(header, v), to_float(or_i32(low, upper(header, sub, v, 0))));
  }
  static F32 minimum(const uint8_t* header, int sub, int v) {
    I32 low = shift_right_i32(load_u8(header + 64 + sub * 16 + v * kLanes), 4);
    F32 value = mul(half_floats(header + 32, v), to_float(or_i32(low, upper(header, sub, v, 2))));
    return sub_from_zero(value);
  }
  static I32 half_scale(const uint8_t* header, int, int, int) {
    return load_i32((const int32_t*)header);  // never called
  }
  template <int i>
  static void unpack(const uint8_t* data, int v, Bytes& low, Bytes& high) {
    unpack_nibbles(data, i, v, low, high);
  }
};
struct TypeQ5_K : TypeQ4_K {
  static constexpr int kData = 320;
  template <int i>
  static void unpack(const uint8_t* data, int v, Bytes& low, Bytes& high) {
    unpack_five<i>(data, v, low, high);
  }
};

// Header: 16 f16, then 16 signed bytes for each 16 k. Data: upper two bits of the four k-groups
// of each half, then nibbles.
struct TypeQ6_K {
  static constexpr int kSubBlocks = 8, kHeader = 288, kData = 384, kOffset = 32;
  static constexpr bool kMinimum = false, kHalves = true, kSigned = false;
  static F32 scale(const uint8_t* header, int, int v) { return half_floats(header, v); }
  static F32 minimum(const uint8_t* header, int, int v) { return half_floats(header, v); }
  static I32 half_scale(const uint8_t* header, int sub, int half, int v) {
    return half_scales((const int8_t*)header + 32 + (2 * sub + half) * 16 + v * kLanes);
  }
  template <int i>
  static Bytes upper(Bytes bits) {
    if constexpr (i < 2) {
      return and_mask<0x30>(shift_left<4 - 2 * i>(bits));
    } else if constexpr (i == 2) {
      return and_mask<0x30>(bits);
    } else {
      return and_mask<0x30>(shift_right<2>(bits));
    }
  }
  template <int i>
  static void unpack(const uint8_t* data, int v, Bytes& low, Bytes& high) {
    unpack_nibbles(data + 128, i, v, low, high);
    low = or_bytes(low, upper<i>(load_group(data, 0, v)));
    high = or_bytes(high, upper<i>(load_group(data, 1, v)));
  }
};

// Nibbles that select from a table of signed values.
alignas(16) constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
struct TypeIQ4_NL : LegacyType {
  static constexpr int kHeader = 32, kData = 256, kOffset = 0;
  static constexpr bool kSigned = true;
  template <int i>
  static void unpack(const uint8_t* data, int v, Bytes& low, Bytes& high) {
    unpack_nibbles(data, i, v, low, high);
    low = signed_codes(look_up(kIq4Values, low));
    high = signed_codes(look_up(kIq4Values, high));
  }
};
// Scales of 6 bits minus 32: per pair of sub-blocks 16 bytes of low bits, then per four of them
// 16 bytes of upper bits.
struct TypeIQ4_XS : TypeIQ4_NL {
  static constexpr int kSubBlocks = 8, kHeader = 128;
  static F32 scale(const uint8_t* header, int sub, int v) {
    I32 low = load_u8(header + 32 + sub / 2 * 16 + v * kLanes);
    I32 high = load_u8(header + 96 + sub / 4 * 16 + v * kLanes);
    low = and_i32(shift_right_i32(low, sub % 2 * 4), 15);
    high = shift_left_i32(and_i32(shift_right_i32(high, sub % 4 * 2), 3), 4);
    return mul(half_floats(header, v), to_float(add_i32(or_i32(low, high), -32)));
  }
};
