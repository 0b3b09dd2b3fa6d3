// Products of block-quantised weights with 8-bit activations.
//
// Every output element has one f32 accumulator, to which each block of 32 k adds
// float(integer dot product) * (weight scale * activation scale), in ascending k. The same
// formula stands in block_product (one column) and in the tile (many columns).

template <int bytes>
inline void prefetch_ahead(const uint8_t* p) {
  for (int i = 0; i < bytes; i += 64) prefetch(p + kPrefetchBytes + i);
}

// Codes of 5 bits are taken minus 16, so that their products fit 16 bits: what that adds to the
// minimum is put back here.
template <class T>
constexpr int dot_offset() {
  return T::kMinimum && T::kData == 320 ? 16 : T::kOffset;
}
template <class T>
inline F32 dot_minimum(F32 scale, F32 minimum) {
  if constexpr (dot_offset<T>() != T::kOffset) return fma(scale, set1(16.0f), minimum);
  return minimum;
}

template <class T, int i>
inline void add_groups(const uint8_t* data, const int8_t* x, Dot* first, Dot* second) {
  Bytes x_low = broadcast4(x + 4 * i), x_high = broadcast4(x + 4 * (i + 4));
  for (int v = 0; v < kPanelVectors; ++v) {
    Bytes low, high;
    T::template unpack<i>(data, v, low, high);
    first[v] = dot_add(first[v], low, x_low);
    if constexpr (T::kHalves) {
      second[v] = dot_add(second[v], high, x_high);
    } else {
      first[v] = dot_add(first[v], high, x_high);
    }
  }
}
template <class T, int i>
inline void add_signed_groups(const uint8_t* data, const int8_t* x, SignedDot* dots) {
  Bytes x_low = broadcast4(x + 4 * i), x_high = broadcast4(x + 4 * (i + 4));
  for (int v = 0; v < kPanelVectors; ++v) {
    Bytes low, high;
    T::template unpack<i>(data, v, low, high);
    dots[v] = signed_add(dots[v], low, x_low);
    dots[v] = signed_add(dots[v], high, x_high);
  }
}

// float(integer dot product) of one block and one column, for all rows of a panel.
template <class T>
inline void block_product(const uint8_t* header, const uint8_t* data, int sub,
                          const QuantizedColumns& x, int64_t block, F32* values) {
  const int8_t* codes = x.codes + block * kScaleBlock;
  if constexpr (T::kSigned) {
    SignedDot dots[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) dots[v] = signed_start(x.pairs + block);
    add_signed_groups<T, 0>(data, codes, dots);
    add_signed_groups<T, 1>(data, codes, dots);
    add_signed_groups<T, 2>(data, codes, dots);
    add_signed_groups<T, 3>(data, codes, dots);
    for (int v = 0; v < kPanelVectors; ++v) values[v] = signed_value(dots[v]);
  } else {
    Dot first[kPanelVectors], second[kPanelVectors];
    const int32_t* pairs = T::kHalves ? x.half_pairs + 2 * block : x.pairs + block;
    for (int v = 0; v < kPanelVectors; ++v) {
      first[v] = dot_start<dot_offset<T>()>(pairs);
      if constexpr (T::kHalves) second[v] = dot_start<dot_offset<T>()>(pairs + 1);
    }
    add_groups<T, 0>(data, codes, first, second);
    add_groups<T, 1>(data, codes, first, second);
    add_groups<T, 2>(data, codes, first, second);
    add_groups<T, 3>(data, codes, first, second);
    for (int v = 0; v < kPanelVectors; ++v) {
      if constexpr (T::kHalves) {
        values[v] = dot_value_halves(first[v], second[v], T::half_scale(header, sub, 0, v),
                                     T::half_scale(header, sub, 1, v));
      } else {
        values[v] = dot_value(first[v]);
      }
    }
  }
}

// P panels, `apart` panels from one to the next, times one column: P streams from memory.
template <class T, int P>
inline void multiply_panels(const uint8_t* panels, int64_t apart, const QuantizedColumns& x,
                            float* y) {
  constexpr int kBytes = T::kHeader + T::kSubBlocks * T::kData;
  int64_t supers = x.blocks / T::kSubBlocks;
  F32 sums[P][kPanelVectors];
  for (int p = 0; p < P; ++p)
    for (int v = 0; v < kPanelVectors; ++v) sums[p][v] = zero();
  for (int64_t super = 0; super < supers; ++super) {
    for (int sub = 0; sub < T::kSubBlocks; ++sub) {
      int64_t block = super * T::kSubBlocks + sub;
      F32 x_scale = set1(x.scales[block]), x_sum = set1(x.sums[block]);
      for (int p = 0; p < P; ++p) {
        const uint8_t* header = panels + (p * apart * supers + super) * kBytes;
        const uint8_t* data = header + T::kHeader + sub * T::kData;
        prefetch_ahead<T::kData>(data);
        F32 values[kPanelVectors];
        block_product<T>(header, data, sub, x, block, values);
        for (int v = 0; v < kPanelVectors; ++v) {
          F32 scale = T::scale(header, sub, v);
          sums[p][v] = fma(values[v], mul(scale, x_scale), sums[p][v]);
          if constexpr (T::kMinimum) {
            F32 minimum = dot_minimum<T>(scale, T::minimum(header, sub, v));
            sums[p][v] = fma(minimum, x_sum, sums[p][v]);
          }
        }
      }
    }
  }
  for (int p = 0; p < P; ++p)
    for (int v = 0; v < kPanelVectors; ++v)
      store(y + p * apart * kPanelRows + v * kLanes, sums[p][v]);
}

// Each stream runs through neighbouring panels, so that what is fetched ahead is what comes next.
template <class T>
void multiply_column(const uint8_t* panels, int64_t count, const QuantizedColumns& x, float* y) {
  constexpr int kBytes = T::kHeader + T::kSubBlocks * T::kData;
  int64_t panel_bytes = x.blocks / T::kSubBlocks * kBytes;
  int64_t apart = count / kStreams;
  for (int64_t p = 0; p < apart; ++p)
    multiply_panels<T, kStreams>(panels + p * panel_bytes, apart, x, y + p * kPanelRows);
  for (int64_t p = apart * kStreams; p < count; ++p)
    multiply_panels<T, 1>(panels + p * panel_bytes, 1, x, y + p * kPanelRows);
}

template <class T, int i>
inline void expand_groups(const uint8_t* data, uint8_t* codes) {
  for (int v = 0; v < kPanelVectors; ++v) {
    Bytes low, high;
    T::template unpack<i>(data, v, low, high);
    store_bytes(codes + 64 * i + 4 * kLanes * v, low);
    store_bytes(codes + 64 * (i + 4) + 4 * kLanes * v, high);
  }
}

template <class T>
void expand(const uint8_t* panel, int64_t first, int64_t count, const Strip& strip) {
  constexpr int kBytes = T::kHeader + T::kSubBlocks * T::kData;
  for (int64_t block = 0; block < count; ++block) {
    int64_t at = first + block;
    int sub = (int)(at % T::kSubBlocks);
    const uint8_t* header = panel + at / T::kSubBlocks * kBytes;
    const uint8_t* data = header + T::kHeader + sub * T::kData;
    prefetch_ahead<T::kData>(data);
    uint8_t* codes = strip.codes + block * 512;
    expand_groups<T, 0>(data, codes);
    expand_groups<T, 1>(data, codes);
    expand_groups<T, 2>(data, codes);
    expand_groups<T, 3>(data, codes);
    for (int v = 0; v < kPanelVectors; ++v) {
      int64_t to = block * kPanelRows + v * kLanes;
      store(strip.scales + to, T::scale(header, sub, v));
      if constexpr (T::kMinimum) store(strip.minima + to, T::minimum(header, sub, v));
      if constexpr (T::kHalves) {
        store_i32(strip.half_scales + block * 32 + v * kLanes, T::half_scale(header, sub, 0, v));
        store_i32(strip.half_scales + block * 32 + 16 + v * kLanes,
                  T::half_scale(header, sub, 1, v));
      }
    }
  }
}

template <class T, int j>
inline void decode_byte(const uint8_t* codes, F32 scale, F32 minimum, float* values) {
  F32 code = T::kSigned ? signed_code_value<j>(load_bytes(codes))
                        : sub(code_value<j>(load_bytes(codes)), set1((float)T::kOffset));
  F32 value = mul(scale, code);
  if constexpr (T::kMinimum) value = add(value, minimum);
  store(values + j * kPanelRows, value);
}

template <class T>
void decode(const Strip& strip, int64_t count, float* values) {
  for (int64_t block = 0; block < count; ++block) {
    for (int v = 0; v < kPanelVectors; ++v) {
      int64_t row = block * kPanelRows + v * kLanes;
      F32 scale = load(strip.scales + row), minimum = zero();
      if constexpr (T::kMinimum) minimum = load(strip.minima + row);
      for (int g = 0; g < 8; ++g) {
        F32 group_scale = scale;
        if constexpr (T::kHalves) {
          const int32_t* halves = strip.half_scales + block * 32 + g / 4 * 16 + v * kLanes;
          group_scale = mul(scale, half_scale_value(load_i32(halves)));
        }
        const uint8_t* codes = strip.codes + block * 512 + g * 64 + 4 * kLanes * v;
        float* to = values + (block * kScaleBlock + 4 * g) * kPanelRows + v * kLanes;
        decode_byte<T, 0>(codes, group_scale, minimum, to);
        decode_byte<T, 1>(codes, group_scale, minimum, to);
        decode_byte<T, 2>(codes, group_scale, minimum, to);
        decode_byte<T, 3>(codes, group_scale, minimum, to);
      }
    }
  }
}
