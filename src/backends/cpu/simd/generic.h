// The vector vocabulary that the kernels (kernels/*.inl) are written in, here in plain C++ for any
// machine; simd/<level>.h gives the same names for each instruction set. Included inside the
// unnamed namespace of isa/generic.cpp.
//
// F32 is a vector of kLanes floats, I32 one of as many 32-bit integers.
//   fma(a, b, c)            a * b + c; rounded once where the level has such an instruction
//   min, max                give b when either is NaN
//   round                   to the nearest integer, even on a tie
//   select_less(a, b, y, n) a < b ? y : n
//   power_of_two(n)         2^n for whole n in [-127, 128]: 0 at -127, infinity at 128
//   sum, max_lane  halves combined, then quarters, …
//   load_partial            `count` < kLanes lanes, the others zero; nothing past them is read
//   store_f16, store_bf16   round to the nearest, even on a tie; to_f16, from_f16: one number

constexpr int kLanes = 16;
struct F32 {
  float v[kLanes];
};
struct I32 {
  int32_t v[kLanes];
};

#define CRANE_LANES for (int i = 0; i < kLanes; ++i)

inline F32 load(const float* p) {
  F32 r;
  CRANE_LANES r.v[i] = p[i];
  return r;
}
inline void store(float* p, F32 a) { CRANE_LANES p[i] = a.v[i]; }
inline F32 set1(float a) {
  F32 r;
  CRANE_LANES r.v[i] = a;
  return r;
}
inline F32 zero() { return set1(0.0f); }
inline F32 add(F32 a, F32 b) {
  CRANE_LANES a.v[i] += b.v[i];
  return a;
}
inline F32 sub(F32 a, F32 b) {
  CRANE_LANES a.v[i] -= b.v[i];
  return a;
}
inline F32 mul(F32 a, F32 b) {
  CRANE_LANES a.v[i] *= b.v[i];
  return a;
}
inline F32 div(F32 a, F32 b) {
  CRANE_LANES a.v[i] /= b.v[i];
  return a;
}
inline F32 fma(F32 a, F32 b, F32 c) {
  CRANE_LANES c.v[i] = a.v[i] * b.v[i] + c.v[i];
  return c;
}
inline F32 min(F32 a, F32 b) {
  CRANE_LANES b.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
  return b;
}
inline F32 max(F32 a, F32 b) {
  CRANE_LANES b.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
  return b;
}
inline F32 sqrt(F32 a) {
  CRANE_LANES a.v[i] = __builtin_sqrtf(a.v[i]);
  return a;
}
inline F32 abs(F32 a) {
  CRANE_LANES a.v[i] = __builtin_fabsf(a.v[i]);
  return a;
}
inline F32 copy_sign(F32 magnitude, F32 sign) {
  CRANE_LANES magnitude.v[i] = __builtin_copysignf(magnitude.v[i], sign.v[i]);
  return magnitude;
}
inline F32 round(F32 a) {
  CRANE_LANES a.v[i] = __builtin_rintf(a.v[i]);
  return a;
}
inline F32 select_less(F32 a, F32 b, F32 yes, F32 no) {
  CRANE_LANES no.v[i] = a.v[i] < b.v[i] ? yes.v[i] : no.v[i];
  return no;
}
inline uint32_t bits_of(float a) {
  uint32_t bits;
  __builtin_memcpy(&bits, &a, 4);
  return bits;
}
inline float float_of(uint32_t bits) {
  float a;
  __builtin_memcpy(&a, &bits, 4);
  return a;
}
inline F32 power_of_two(F32 n) {
  // Adding 1.5 * 2^23 leaves n in the low bits; unlike a cast it is defined for NaN too.
  CRANE_LANES n.v[i] = float_of((bits_of(n.v[i] + 12582912.0f) + 127) << 23);
  return n;
}
inline float sum(F32 a) {
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a.v[i] += a.v[i + half];
  return a.v[0];
}
inline float max_lane(F32 a) {
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a.v[i] = a.v[i] > a.v[i + half] ? a.v[i] : a.v[i + half];
  return a.v[0];
}

inline F32 load_partial(const float* p, int count) {
  F32 r = zero();
  for (int i = 0; i < count; ++i) r.v[i] = p[i];
  return r;
}
inline void store_partial(float* p, F32 a, int count) {
  for (int i = 0; i < count; ++i) p[i] = a.v[i];
}

inline float from_f16(uint16_t h) {
  // The exponent is re-biased by a multiplication, which also handles subnormal numbers.
  uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
  float value = float_of(magnitude) * 0x1p112f;
  if (magnitude >= 0x0f800000u) value = float_of(magnitude | 0x7f800000u);  // infinity, NaN
  return float_of(bits_of(value) | (uint32_t)(h & 0x8000) << 16);
}
inline uint16_t to_f16(float a) {
  uint32_t sign = bits_of(a) >> 16 & 0x8000, magnitude = bits_of(a) & 0x7fffffff;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00);
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00);
  if (magnitude < 0x38800000u) {  // subnormal: adding 0.5 leaves the rounded bits at the bottom
    float shifted = float_of(magnitude) + 0.5f;
    return (uint16_t)(sign | (bits_of(shifted) - bits_of(0.5f)));
  }
  magnitude += 0xc8000fffu + (magnitude >> 13 & 1);
  return (uint16_t)(sign | magnitude >> 13);
}
inline F32 load_f16(const uint16_t* p) {
  F32 r;
  CRANE_LANES r.v[i] = from_f16(p[i]);
  return r;
}
inline void store_f16(uint16_t* p, F32 a) { CRANE_LANES p[i] = to_f16(a.v[i]); }
inline F32 load_bf16(const uint16_t* p) {
  F32 r;
  CRANE_LANES r.v[i] = float_of((uint32_t)p[i] << 16);
  return r;
}
inline void store_bf16(uint16_t* p, F32 a) {
  CRANE_LANES {
    uint32_t bits = bits_of(a.v[i]);
    bool is_nan = (bits & 0x7fffffff) > 0x7f800000u;
    p[i] = (uint16_t)(is_nan ? (bits | 0x400000) >> 16 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
}

// The 8-bit half: Bytes holds 4 codes of consecutive k for each of kLanes rows.
//   dot_start<offset>       an integer dot product that begins at -offset * (sum of the 32 or 16
//                           activations it will see), given as 16-bit pair sums
//   dot_add                 plus codes (unsigned, at most 6 bits) times activations
//   dot_value               the sum as floats
//   dot_value_halves        float(first * first_scale + second * second_scale), exact
//   signed_*                the same for signed 8-bit codes; signed_codes gives the form that
//                           signed_add reads and that an expanded strip holds
constexpr int kQuads = 1;  // groups of four columns in a tile

struct Bytes {
  uint8_t v[kLanes * 4];
};
struct Dot {
  int32_t v[kLanes];
};
#define CRANE_BYTES for (int i = 0; i < kLanes * 4; ++i)

inline Bytes load_bytes(const uint8_t* p) {
  Bytes r;
  CRANE_BYTES r.v[i] = p[i];
  return r;
}
inline void store_bytes(uint8_t* p, Bytes a) { CRANE_BYTES p[i] = a.v[i]; }
inline Bytes broadcast4(const int8_t* p) {
  Bytes r;
  CRANE_BYTES r.v[i] = (uint8_t)p[i % 4];
  return r;
}
template <int mask>
inline Bytes and_mask(Bytes a) {
  CRANE_BYTES a.v[i] = a.v[i] & mask;
  return a;
}
inline Bytes or_bytes(Bytes a, Bytes b) {
  CRANE_BYTES a.v[i] = a.v[i] | b.v[i];
  return a;
}
// Bits may come in from the neighbouring byte on other levels: mask them off.
template <int count>
inline Bytes shift_right(Bytes a) {
  CRANE_BYTES a.v[i] = (uint8_t)(a.v[i] >> count);
  return a;
}
template <int count>
inline Bytes shift_left(Bytes a) {
  CRANE_BYTES a.v[i] = (uint8_t)(a.v[i] << count);
  return a;
}
inline Bytes look_up(const int8_t* table, Bytes a) {
  CRANE_BYTES a.v[i] = (uint8_t)table[a.v[i]];
  return a;
}

template <int offset>
inline Dot dot_start(const int32_t* pairs) {
  uint32_t bits = (uint32_t)*pairs;
  int32_t total = (int16_t)(bits & 0xffff) + (int16_t)(bits >> 16);
  Dot r;
  CRANE_LANES r.v[i] = -offset * total;
  return r;
}
inline Dot dot_add(Dot d, Bytes codes, Bytes x) {
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < 4; ++j) d.v[i] += (int32_t)codes.v[4 * i + j] * (int8_t)x.v[4 * i + j];
  return d;
}
inline F32 dot_value(Dot d) {
  F32 r;
  CRANE_LANES r.v[i] = (float)d.v[i];
  return r;
}
inline I32 load_i32(const int32_t* p) {
  I32 r;
  CRANE_LANES r.v[i] = p[i];
  return r;
}
inline void store_i32(int32_t* p, I32 a) { CRANE_LANES p[i] = a.v[i]; }
inline I32 half_scales(const int8_t* p) {
  I32 r;
  CRANE_LANES r.v[i] = p[i];
  return r;
}
inline F32 half_scale_value(I32 a) {
  F32 r;
  CRANE_LANES r.v[i] = (float)a.v[i];
  return r;
}
inline F32 dot_value_halves(Dot first, Dot second, I32 first_scale, I32 second_scale) {
  F32 r;
  CRANE_LANES r.v[i] = (float)(first.v[i] * first_scale.v[i] + second.v[i] * second_scale.v[i]);
  return r;
}

using SignedDot = Dot;
inline SignedDot signed_start(const int32_t*) {
  Dot r;
  CRANE_LANES r.v[i] = 0;
  return r;
}
inline Bytes signed_codes(Bytes a) { return a; }
inline SignedDot signed_add(SignedDot d, Bytes codes, Bytes x) {
  for (int i = 0; i < kLanes; ++i)
    for (int j = 0; j < 4; ++j)
      d.v[i] += (int32_t)(int8_t)codes.v[4 * i + j] * (int8_t)x.v[4 * i + j];
  return d;
}
inline F32 signed_value(SignedDot d) { return dot_value(d); }
// Byte j of every row as a float; the second reads the form of signed_codes.
template <int j>
inline F32 code_value(Bytes a) {
  F32 r;
  CRANE_LANES r.v[i] = (float)a.v[4 * i + j];
  return r;
}
template <int j>
inline F32 signed_code_value(Bytes a) {
  F32 r;
  CRANE_LANES r.v[i] = (float)(int8_t)a.v[4 * i + j];
  return r;
}

// kLanes bytes as integers.
inline I32 load_u8(const uint8_t* p) {
  I32 r;
  CRANE_LANES r.v[i] = p[i];
  return r;
}
inline I32 and_i32(I32 a, int32_t mask) {
  CRANE_LANES a.v[i] &= mask;
  return a;
}
inline I32 or_i32(I32 a, I32 b) {
  CRANE_LANES a.v[i] |= b.v[i];
  return a;
}
inline I32 add_i32(I32 a, int32_t b) {
  CRANE_LANES a.v[i] += b;
  return a;
}
inline I32 shift_right_i32(I32 a, int count) {
  CRANE_LANES a.v[i] >>= count;
  return a;
}
inline I32 shift_left_i32(I32 a, int count) {
  CRANE_LANES a.v[i] <<= count;
  return a;
}
inline F32 to_float(I32 a) {
  F32 r;
  CRANE_LANES r.v[i] = (float)a.v[i];
  return r;
}

// The largest magnitude of 32 floats; NaN when one of them is NaN.
inline float peak_of_32(const float* x) {
  uint32_t peak = 0;
  for (int i = 0; i < 32; ++i) {
    uint32_t bits = bits_of(x[i]) & 0x7fffffff;
    peak = bits > peak ? bits : peak;
  }
  return float_of(peak);
}
// codes = x * inverse rounded to the nearest even, within +-127. half_pairs[h] holds two 16-bit
// sums: of bytes 0 and 1, and of bytes 2 and 3, of the four groups of four codes in half h.
inline void quantize_32(const float* x, float inverse, int8_t* codes, int32_t* half_pairs) {
  for (int i = 0; i < 32; ++i) {
    float value = x[i] * inverse;
    value = value > -127.0f ? value : -127.0f;
    codes[i] = (int8_t)__builtin_rintf(value < 127.0f ? value : 127.0f);
  }
  for (int half = 0; half < 2; ++half) {
    int16_t pair[2] = {0, 0};
    for (int i = 0; i < 16; ++i)
      pair[i % 4 / 2] = (int16_t)(pair[i % 4 / 2] + codes[16 * half + i]);
    __builtin_memcpy(half_pairs + half, pair, 4);
  }
}

// Lane pairs of bf16: j = 0 is the lower one.
inline F32 bf16_of_pair(I32 pair, int j) {
  F32 r;
  CRANE_LANES {
    uint32_t bits = (uint32_t)pair.v[i];
    r.v[i] = float_of(j == 0 ? bits << 16 : bits & 0xffff0000u);
  }
  return r;
}
inline void prefetch(const void* p) { __builtin_prefetch(p); }

constexpr int kStreams = 1;       // panels that a one-column product reads side by side
constexpr int kFloatStreams = 1;  // the same for weights of plain floats
constexpr int kFloatColumns = 4;  // columns of a tile of floats
constexpr int kPrefetchBytes = 2048;
