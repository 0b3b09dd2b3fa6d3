// The vector vocabulary for AVX-512 (F, BW, VL, DQ). Included inside the unnamed namespace of
// isa/avx512*.cpp, after <immintrin.h>; what each name means stands in simd/generic.h.

constexpr int kLanes = 16;
struct F32 {
  __m512 v;
};
struct I32 {
  __m512i v;
};

inline F32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline void store(float* p, F32 a) { _mm512_storeu_ps(p, a.v); }
inline F32 set1(float a) { return {_mm512_set1_ps(a)}; }
inline F32 zero() { return {_mm512_setzero_ps()}; }
inline F32 add(F32 a, F32 b) { return {_mm512_add_ps(a.v, b.v)}; }
inline F32 sub(F32 a, F32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline F32 mul(F32 a, F32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline F32 div(F32 a, F32 b) { return {_mm512_div_ps(a.v, b.v)}; }
inline F32 fma(F32 a, F32 b, F32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline F32 min(F32 a, F32 b) { return {_mm512_min_ps(a.v, b.v)}; }
inline F32 max(F32 a, F32 b) { return {_mm512_max_ps(a.v, b.v)}; }
inline F32 sqrt(F32 a) { return {_mm512_sqrt_ps(a.v)}; }
inline F32 abs(F32 a) { return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), a.v)}; }
inline F32 copy_sign(F32 magnitude, F32 sign) {
  __m512 bit = _mm512_set1_ps(-0.0f);
  return {_mm512_or_ps(_mm512_andnot_ps(bit, magnitude.v), _mm512_and_ps(bit, sign.v))};
}
inline F32 round(F32 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline F32 select_less(F32 a, F32 b, F32 yes, F32 no) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), no.v, yes.v)};
}
inline F32 power_of_two(F32 n) {
  __m512i biased = _mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(biased, 23))};
}
// Halves, quarters, …: the order of adds that every level uses.
inline __m256 upper_half(F32 a) { return _mm512_extractf32x8_ps(a.v, 1); }
inline float sum(F32 a) {
  __m256 y = _mm256_add_ps(_mm512_castps512_ps256(a.v), upper_half(a));
  __m128 x = _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}
inline float max_lane(F32 a) {
  __m256 y = _mm256_max_ps(_mm512_castps512_ps256(a.v), upper_half(a));
  __m128 x = _mm_max_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
  x = _mm_max_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

inline __mmask16 lane_mask(int count) { return (__mmask16)((1u << count) - 1); }
inline F32 load_partial(const float* p, int count) {
  return {_mm512_maskz_loadu_ps(lane_mask(count), p)};
}
inline void store_partial(float* p, F32 a, int count) {
  _mm512_mask_storeu_ps(p, lane_mask(count), a.v);
}

inline F32 load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p))};
}
inline void store_f16(uint16_t* p, F32 a) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT));
}
inline F32 load_bf16(const uint16_t* p) {
  __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
}
inline void store_bf16(uint16_t* p, F32 a) {
  __m512i bits = _mm512_castps_si512(a.v);
  __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
  __mmask16 is_nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  __m512i top = _mm512_srli_epi32(_mm512_mask_blend_epi32(is_nan, rounded, quiet), 16);
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtepi32_epi16(top));
}

constexpr int kQuads = 3;

struct Bytes {
  __m512i v;
};
// 32-bit lanes with VNNI. Without it 16-bit lanes: sums of products wrap around on the way, but
// end inside 16 bits.
struct Dot {
  __m512i v;
};

inline float from_f16(uint16_t h) { return _cvtsh_ss(h); }
inline uint16_t to_f16(float a) {
  __m128i half = _mm_cvtps_ph(_mm_set_ss(a), _MM_FROUND_TO_NEAREST_INT);
  return (uint16_t)_mm_cvtsi128_si32(half);
}

inline Bytes load_bytes(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
inline void store_bytes(uint8_t* p, Bytes a) { _mm512_storeu_si512(p, a.v); }
inline __m512i broadcast_i32(const void* p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, 4);
  return _mm512_set1_epi32(bits);
}
inline Bytes broadcast4(const int8_t* p) { return {broadcast_i32(p)}; }
template <int mask>
inline Bytes and_mask(Bytes a) {
  return {_mm512_and_si512(a.v, _mm512_set1_epi8((char)mask))};
}
inline Bytes or_bytes(Bytes a, Bytes b) { return {_mm512_or_si512(a.v, b.v)}; }
template <int count>
inline Bytes shift_right(Bytes a) {
  return {_mm512_srli_epi16(a.v, count)};
}
template <int count>
inline Bytes shift_left(Bytes a) {
  return {_mm512_slli_epi16(a.v, count)};
}
inline Bytes look_up(const int8_t* table, Bytes a) {
  __m512i all = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i*)table));
  return {_mm512_shuffle_epi8(all, a.v)};
}

inline I32 load_i32(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
inline void store_i32(int32_t* p, I32 a) { _mm512_storeu_si512(p, a.v); }

#if defined(__AVX512VNNI__)
// GCC 12 copies registers around the intrinsic; the instruction itself it leaves alone.
inline __m512i dot_bytes(__m512i sum, __m512i codes, __m512i x) {
#if defined(__clang__)
  return _mm512_dpbusd_epi32(sum, codes, x);
#else
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(codes), "v"(x));
  return sum;
#endif
}
template <int offset>
inline Dot dot_start(const int32_t* pairs) {
  if (offset == 0) return {_mm512_setzero_si512()};
  return {_mm512_madd_epi16(broadcast_i32(pairs), _mm512_set1_epi16((short)-offset))};
}
inline Dot dot_add(Dot d, Bytes codes, Bytes x) { return {dot_bytes(d.v, codes.v, x.v)}; }
inline F32 dot_value(Dot d) { return {_mm512_cvtepi32_ps(d.v)}; }
// As floats: a half's product and the sum of both stay below 2^24, so they are exact.
inline I32 half_scales(const int8_t* p) {
  __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p));
  return {_mm512_castps_si512(_mm512_cvtepi32_ps(wide))};
}
inline F32 half_scale_value(I32 a) { return {_mm512_castsi512_ps(a.v)}; }
inline F32 dot_value_halves(Dot first, Dot second, I32 first_scale, I32 second_scale) {
  __m512 sum = _mm512_mul_ps(_mm512_cvtepi32_ps(first.v), _mm512_castsi512_ps(first_scale.v));
  return {_mm512_fmadd_ps(_mm512_cvtepi32_ps(second.v), _mm512_castsi512_ps(second_scale.v), sum)};
}
// The instruction wants unsigned codes: 128 is added here and taken off at the start.
using SignedDot = Dot;
inline SignedDot signed_start(const int32_t* pairs) { return dot_start<128>(pairs); }
inline Bytes signed_codes(Bytes a) { return {_mm512_xor_si512(a.v, _mm512_set1_epi8((char)0x80))}; }
inline SignedDot signed_add(SignedDot d, Bytes codes, Bytes x) { return dot_add(d, codes, x); }
inline F32 signed_value(SignedDot d) { return dot_value(d); }
#else
template <int offset>
inline Dot dot_start(const int32_t* pairs) {
  if (offset == 0) return {_mm512_setzero_si512()};
  constexpr int kShift = offset == 8 ? 3 : offset == 16 ? 4 : 5;
  static_assert(offset == 0 || offset == 1 << kShift, "offsets are 8, 16 and 32");
  return {
      _mm512_sub_epi16(_mm512_setzero_si512(), _mm512_slli_epi16(broadcast_i32(pairs), kShift))};
}
inline Dot dot_add(Dot d, Bytes codes, Bytes x) {
  return {_mm512_add_epi16(d.v, _mm512_maddubs_epi16(codes.v, x.v))};
}
inline F32 dot_value(Dot d) {
  return {_mm512_cvtepi32_ps(_mm512_madd_epi16(d.v, _mm512_set1_epi16(1)))};
}
// Twice in each lane, for a product with both 16-bit sums.
inline I32 half_scales(const int8_t* p) {
  __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p));
  return {_mm512_mask_blend_epi16(0xaaaaaaaau, wide, _mm512_slli_epi32(wide, 16))};
}
inline F32 half_scale_value(I32 a) { return {_mm512_cvtepi32_ps(_mm512_srai_epi32(a.v, 16))}; }
inline F32 dot_value_halves(Dot first, Dot second, I32 first_scale, I32 second_scale) {
  return {_mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_madd_epi16(first.v, first_scale.v),
                                              _mm512_madd_epi16(second.v, second_scale.v)))};
}
struct SignedDot {
  __m512i v;
};
inline SignedDot signed_start(const int32_t*) { return {_mm512_setzero_si512()}; }
inline Bytes signed_codes(Bytes a) { return a; }
inline SignedDot signed_add(SignedDot d, Bytes codes, Bytes x) {
  __mmask64 negative = _mm512_movepi8_mask(codes.v);
  __m512i signed_x = _mm512_mask_sub_epi8(x.v, negative, _mm512_setzero_si512(), x.v);
  __m512i pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(codes.v), signed_x);
  return {_mm512_add_epi32(d.v, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))};
}
inline F32 signed_value(SignedDot d) { return {_mm512_cvtepi32_ps(d.v)}; }
#endif

template <int j>
inline F32 code_value(Bytes a) {
  __m512i byte = _mm512_and_si512(_mm512_srli_epi32(a.v, 8 * j), _mm512_set1_epi32(0xff));
  return {_mm512_cvtepi32_ps(byte)};
}
template <int j>
inline F32 signed_code_value(Bytes a) {
  Bytes code = signed_codes(a);  // its own inverse
  return {_mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(code.v, 24 - 8 * j), 24))};
}

inline I32 load_u8(const uint8_t* p) {
  return {_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p))};
}
inline I32 and_i32(I32 a, int32_t mask) { return {_mm512_and_si512(a.v, _mm512_set1_epi32(mask))}; }
inline I32 or_i32(I32 a, I32 b) { return {_mm512_or_si512(a.v, b.v)}; }
inline I32 add_i32(I32 a, int32_t b) { return {_mm512_add_epi32(a.v, _mm512_set1_epi32(b))}; }
inline I32 shift_right_i32(I32 a, int count) { return {_mm512_srli_epi32(a.v, (unsigned)count)}; }
inline I32 shift_left_i32(I32 a, int count) { return {_mm512_slli_epi32(a.v, (unsigned)count)}; }
inline F32 to_float(I32 a) { return {_mm512_cvtepi32_ps(a.v)}; }

// As integers, so that a NaN counts as larger than everything.
inline float peak_of_32(const float* x) {
  __m512i mask = _mm512_set1_epi32(0x7fffffff);
  __m512i peak = _mm512_max_epi32(_mm512_and_si512(_mm512_loadu_si512(x), mask),
                                  _mm512_and_si512(_mm512_loadu_si512(x + 16), mask));
  __m256i half = _mm256_max_epi32(_mm512_castsi512_si256(peak), _mm512_extracti64x4_epi64(peak, 1));
  __m128i quarter = _mm_max_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  quarter = _mm_max_epi32(quarter, _mm_shuffle_epi32(quarter, 0x4e));
  quarter = _mm_max_epi32(quarter, _mm_shuffle_epi32(quarter, 0xb1));
  return _mm_cvtss_f32(_mm_castsi128_ps(quarter));
}
inline __m128i quantize_16(const float* x, __m512 factor) {
  __m512 value = _mm512_mul_ps(_mm512_loadu_ps(x), factor);
  value = _mm512_max_ps(value, _mm512_set1_ps(-127.0f));
  return _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(_mm512_min_ps(value, _mm512_set1_ps(127.0f))));
}
inline void quantize_32(const float* x, float inverse, int8_t* codes, int32_t* half_pairs) {
  __m512 factor = _mm512_set1_ps(inverse);
  __m256i packed = _mm256_set_m128i(quantize_16(x + 16, factor), quantize_16(x, factor));
  _mm256_storeu_si256((__m256i*)codes, packed);
  __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), packed);
  pairs = _mm256_add_epi16(pairs, _mm256_shuffle_epi32(pairs, 0x4e));
  pairs = _mm256_add_epi16(pairs, _mm256_shuffle_epi32(pairs, 0xb1));
  half_pairs[0] = _mm256_extract_epi32(pairs, 0);
  half_pairs[1] = _mm256_extract_epi32(pairs, 4);
}

// Lane pairs of bf16: j = 0 is the lower one.
inline F32 bf16_of_pair(I32 pair, int j) {
  __m512i bits = j == 0 ? _mm512_slli_epi32(pair.v, 16)
                        : _mm512_and_si512(pair.v, _mm512_set1_epi32((int32_t)0xffff0000u));
  return {_mm512_castsi512_ps(bits)};
}
inline void prefetch(const void* p) { _mm_prefetch((const char*)p, _MM_HINT_T0); }

constexpr int kStreams = 1;        // panels that a one-column product reads side by side
constexpr int kFloatStreams = 4;   // the same for weights of plain floats
constexpr int kFloatColumns = 12;  // columns of a tile of floats
constexpr int kPrefetchBytes = 4096;
