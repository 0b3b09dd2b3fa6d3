// The vector vocabulary for AVX2 with FMA and F16C. Included inside the unnamed namespace of
// isa/avx2.cpp, after <immintrin.h>; what each name means stands in simd/generic.h.

constexpr int kLanes = 8;
struct F32 {
  __m256 v;
};
struct I32 {
  __m256i v;
};

inline F32 load(const float* p) { return {_mm256_loadu_ps(p)}; }
inline void store(float* p, F32 a) { _mm256_storeu_ps(p, a.v); }
inline F32 set1(float a) { return {_mm256_set1_ps(a)}; }
inline F32 zero() { return {_mm256_setzero_ps()}; }
inline F32 add(F32 a, F32 b) { return {_mm256_add_ps(a.v, b.v)}; }
inline F32 sub(F32 a, F32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline F32 mul(F32 a, F32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline F32 div(F32 a, F32 b) { return {_mm256_div_ps(a.v, b.v)}; }
inline F32 fma(F32 a, F32 b, F32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
inline F32 min(F32 a, F32 b) { return {_mm256_min_ps(a.v, b.v)}; }
inline F32 max(F32 a, F32 b) { return {_mm256_max_ps(a.v, b.v)}; }
inline F32 sqrt(F32 a) { return {_mm256_sqrt_ps(a.v)}; }
inline F32 abs(F32 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
inline F32 copy_sign(F32 magnitude, F32 sign) {
  __m256 bit = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(_mm256_andnot_ps(bit, magnitude.v), _mm256_and_ps(bit, sign.v))};
}
inline F32 round(F32 a) {
  return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline F32 select_less(F32 a, F32 b, F32 yes, F32 no) {
  return {_mm256_blendv_ps(no.v, yes.v, _mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ))};
}
inline F32 power_of_two(F32 n) {
  __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n.v), _mm256_set1_epi32(127));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(biased, 23))};
}
inline float sum(F32 a) {
  __m128 x = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}
inline float max_lane(F32 a) {
  __m128 x = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  x = _mm_max_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

inline __m256i lane_mask(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline F32 load_partial(const float* p, int count) {
  return {_mm256_maskload_ps(p, lane_mask(count))};
}
inline void store_partial(float* p, F32 a, int count) {
  _mm256_maskstore_ps(p, lane_mask(count), a.v);
}

inline float from_f16(uint16_t h) { return _cvtsh_ss(h); }
inline uint16_t to_f16(float a) {
  __m128i half = _mm_cvtps_ph(_mm_set_ss(a), _MM_FROUND_TO_NEAREST_INT);
  return (uint16_t)_mm_cvtsi128_si32(half);
}
inline F32 load_f16(const uint16_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p))};
}
inline void store_f16(uint16_t* p, F32 a) {
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT));
}
inline F32 load_bf16(const uint16_t* p) {
  __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p));
  return {_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16))};
}
inline void store_bf16(uint16_t* p, F32 a) {
  __m256i bits = _mm256_castps_si256(a.v);
  __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q));
  __m256i top = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
  __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(top, top), 0x08);
  _mm_storeu_si128((__m128i*)p, _mm256_castsi256_si128(packed));
}

constexpr int kQuads = 1;

struct Bytes {
  __m256i v;
};
// 16-bit lanes: sums of products wrap around on the way, but end inside 16 bits (see the types).
struct Dot {
  __m256i v;
};

inline Bytes load_bytes(const uint8_t* p) { return {_mm256_loadu_si256((const __m256i*)p)}; }
inline void store_bytes(uint8_t* p, Bytes a) { _mm256_storeu_si256((__m256i*)p, a.v); }
inline __m256i broadcast_i32(const void* p) {
  int32_t bits;
  __builtin_memcpy(&bits, p, 4);
  return _mm256_set1_epi32(bits);
}
inline Bytes broadcast4(const int8_t* p) { return {broadcast_i32(p)}; }
template <int mask>
inline Bytes and_mask(Bytes a) {
  return {_mm256_and_si256(a.v, _mm256_set1_epi8((char)mask))};
}
inline Bytes or_bytes(Bytes a, Bytes b) { return {_mm256_or_si256(a.v, b.v)}; }
template <int count>
inline Bytes shift_right(Bytes a) {
  return {_mm256_srli_epi16(a.v, count)};
}
template <int count>
inline Bytes shift_left(Bytes a) {
  return {_mm256_slli_epi16(a.v, count)};
}
inline Bytes look_up(const int8_t* table, Bytes a) {
  __m256i both = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i*)table));
  return {_mm256_shuffle_epi8(both, a.v)};
}

template <int offset>
inline Dot dot_start(const int32_t* pairs) {
  if (offset == 0) return {_mm256_setzero_si256()};
  constexpr int kShift = offset == 8 ? 3 : offset == 16 ? 4 : 5;
  static_assert(offset == 0 || offset == 1 << kShift, "offsets are 8, 16 and 32");
  return {
      _mm256_sub_epi16(_mm256_setzero_si256(), _mm256_slli_epi16(broadcast_i32(pairs), kShift))};
}
// Keeps the additions in order: GCC would first form all products, and spill them.
inline __m256i in_order(__m256i a) {
  asm("" : "+x"(a));
  return a;
}
inline Dot dot_add(Dot d, Bytes codes, Bytes x) {
  return {in_order(_mm256_add_epi16(d.v, _mm256_maddubs_epi16(codes.v, x.v)))};
}
inline F32 dot_value(Dot d) {
  return {_mm256_cvtepi32_ps(_mm256_madd_epi16(d.v, _mm256_set1_epi16(1)))};
}
inline I32 load_i32(const int32_t* p) { return {_mm256_loadu_si256((const __m256i*)p)}; }
inline void store_i32(int32_t* p, I32 a) { _mm256_storeu_si256((__m256i*)p, a.v); }
// Twice in each lane, for a product with both 16-bit sums.
inline I32 half_scales(const int8_t* p) {
  __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p));
  return {_mm256_blend_epi16(wide, _mm256_slli_epi32(wide, 16), 0xaa)};
}
inline F32 half_scale_value(I32 a) { return {_mm256_cvtepi32_ps(_mm256_srai_epi32(a.v, 16))}; }
inline F32 dot_value_halves(Dot first, Dot second, I32 first_scale, I32 second_scale) {
  return {_mm256_cvtepi32_ps(_mm256_add_epi32(_mm256_madd_epi16(first.v, first_scale.v),
                                              _mm256_madd_epi16(second.v, second_scale.v)))};
}

struct SignedDot {
  __m256i v;
};
inline SignedDot signed_start(const int32_t*) { return {_mm256_setzero_si256()}; }
inline Bytes signed_codes(Bytes a) { return a; }
inline SignedDot signed_add(SignedDot d, Bytes codes, Bytes x) {
  __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes.v), _mm256_sign_epi8(x.v, codes.v));
  return {in_order(_mm256_add_epi32(d.v, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))))};
}
inline F32 signed_value(SignedDot d) { return {_mm256_cvtepi32_ps(d.v)}; }
template <int j>
inline F32 code_value(Bytes a) {
  __m256i byte = _mm256_and_si256(_mm256_srli_epi32(a.v, 8 * j), _mm256_set1_epi32(0xff));
  return {_mm256_cvtepi32_ps(byte)};
}
template <int j>
inline F32 signed_code_value(Bytes a) {
  return {_mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(a.v, 24 - 8 * j), 24))};
}

inline I32 load_u8(const uint8_t* p) {
  return {_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p))};
}
inline I32 and_i32(I32 a, int32_t mask) { return {_mm256_and_si256(a.v, _mm256_set1_epi32(mask))}; }
inline I32 or_i32(I32 a, I32 b) { return {_mm256_or_si256(a.v, b.v)}; }
inline I32 add_i32(I32 a, int32_t b) { return {_mm256_add_epi32(a.v, _mm256_set1_epi32(b))}; }
inline I32 shift_right_i32(I32 a, int count) { return {_mm256_srli_epi32(a.v, count)}; }
inline I32 shift_left_i32(I32 a, int count) { return {_mm256_slli_epi32(a.v, count)}; }
inline F32 to_float(I32 a) { return {_mm256_cvtepi32_ps(a.v)}; }

// As integers, so that a NaN counts as larger than everything.
inline float peak_of_32(const float* x) {
  __m256i mask = _mm256_set1_epi32(0x7fffffff), peak = _mm256_setzero_si256();
  for (int i = 0; i < 32; i += 8) {
    __m256i bits = _mm256_loadu_si256((const __m256i*)(x + i));
    peak = _mm256_max_epi32(peak, _mm256_and_si256(bits, mask));
  }
  __m128i half = _mm_max_epi32(_mm256_castsi256_si128(peak), _mm256_extracti128_si256(peak, 1));
  half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtss_f32(_mm_castsi128_ps(half));
}
inline void quantize_32(const float* x, float inverse, int8_t* codes, int32_t* half_pairs) {
  __m256 factor = _mm256_set1_ps(inverse);
  __m256 low = _mm256_set1_ps(-127.0f), high = _mm256_set1_ps(127.0f);
  __m256i part[4];
  for (int i = 0; i < 4; ++i) {
    __m256 value = _mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), factor);
    part[i] = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(value, low), high));
  }
  // The packs work in 128-bit lanes; the permutation puts the groups of four back in order.
  __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(part[0], part[1]),
                                      _mm256_packs_epi32(part[2], part[3]));
  packed = _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256((__m256i*)codes, packed);
  __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), packed);
  pairs = _mm256_add_epi16(pairs, _mm256_shuffle_epi32(pairs, 0x4e));
  pairs = _mm256_add_epi16(pairs, _mm256_shuffle_epi32(pairs, 0xb1));
  half_pairs[0] = _mm256_extract_epi32(pairs, 0);
  half_pairs[1] = _mm256_extract_epi32(pairs, 4);
}

// Lane pairs of bf16: j = 0 is the lower one.
inline F32 bf16_of_pair(I32 pair, int j) {
  __m256i bits = j == 0 ? _mm256_slli_epi32(pair.v, 16)
                        : _mm256_and_si256(pair.v, _mm256_set1_epi32((int32_t)0xffff0000u));
  return {_mm256_castsi256_ps(bits)};
}
inline void prefetch(const void* p) { _mm_prefetch((const char*)p, _MM_HINT_T0); }

constexpr int kStreams = 2;       // panels that a one-column product reads side by side
constexpr int kFloatStreams = 4;  // the same for weights of plain floats
constexpr int kFloatColumns = 6;  // columns of a tile of floats
constexpr int kPrefetchBytes = 1024;
