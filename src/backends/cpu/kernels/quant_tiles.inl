// The tile: an expanded strip of 16 rows times a few columns. Per block of 32 k the integer sums
// stay in registers; the f32 accumulators go through the first-level cache.

// How a strip is multiplied. Types that share these share the code.
template <bool HasMinimum, bool HasHalves, bool IsSigned, int Offset>
struct TileForm {
  static constexpr bool kMinimum = HasMinimum, kHalves = HasHalves, kSigned = IsSigned;
  static constexpr int kOffset = Offset;
};
template <class T>
using FormOf = TileForm<T::kMinimum, T::kHalves, T::kSigned, dot_offset<T>()>;

// The columns of Q groups at one block: C columns of each are used.
template <int Q>
struct TileColumns {
  const int8_t* codes[Q];  // at the block
  int64_t at[Q];           // index of the block's first column in the arrays per block
};

// The four k-groups of one half of a block; a loop that short is unrolled by every compiler.
template <class Accumulator, int Q, int C, bool Signed>
inline void dot_half(const uint8_t* codes, int half, const TileColumns<Q>& columns,
                     Accumulator (&dots)[Q * C][kPanelVectors]) {
#pragma GCC unroll 4
  for (int g = 4 * half; g < 4 * half + 4; ++g) {
    Bytes rows[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) rows[v] = load_bytes(codes + 64 * g + 4 * kLanes * v);
    for (int q = 0; q < Q; ++q)
      for (int c = 0; c < C; ++c) {
        Bytes x = broadcast4(columns.codes[q] + (g * kQuad + c) * 4);
        for (int v = 0; v < kPanelVectors; ++v) {
          if constexpr (Signed) {
            dots[q * C + c][v] = signed_add(dots[q * C + c][v], rows[v], x);
          } else {
            dots[q * C + c][v] = dot_add(dots[q * C + c][v], rows[v], x);
          }
        }
      }
  }
}

// The integer part of one block as floats, for every row and column of the tile.
template <class Form, int Q, int C>
inline void tile_values(const Strip& strip, int64_t block, const QuantizedColumns& x,
                        const TileColumns<Q>& columns, F32 (&values)[Q * C][kPanelVectors]) {
  const uint8_t* codes = strip.codes + block * 512;
  if constexpr (Form::kSigned) {
    SignedDot dots[Q * C][kPanelVectors];
    for (int i = 0; i < Q * C; ++i)
      for (int v = 0; v < kPanelVectors; ++v)
        dots[i][v] = signed_start(x.pairs + columns.at[i / C] + i % C);
    dot_half<SignedDot, Q, C, true>(codes, 0, columns, dots);
    dot_half<SignedDot, Q, C, true>(codes, 1, columns, dots);
    for (int i = 0; i < Q * C; ++i)
      for (int v = 0; v < kPanelVectors; ++v) values[i][v] = signed_value(dots[i][v]);
  } else {
    Dot dots[Q * C][kPanelVectors];
    for (int i = 0; i < Q * C; ++i)
      for (int v = 0; v < kPanelVectors; ++v)
        dots[i][v] = dot_start<Form::kOffset>(x.pairs + columns.at[i / C] + i % C);
    dot_half<Dot, Q, C, false>(codes, 0, columns, dots);
    dot_half<Dot, Q, C, false>(codes, 1, columns, dots);
    for (int i = 0; i < Q * C; ++i)
      for (int v = 0; v < kPanelVectors; ++v) values[i][v] = dot_value(dots[i][v]);
  }
}

// The same with two integer scales per block, one for each half.
template <class Form, int Q, int C>
inline void tile_values_halves(const Strip& strip, int64_t block, const QuantizedColumns& x,
                               const TileColumns<Q>& columns, F32 (&values)[Q * C][kPanelVectors]) {
  const uint8_t* codes = strip.codes + block * 512;
  Dot first[Q * C][kPanelVectors], second[Q * C][kPanelVectors];
  for (int i = 0; i < Q * C; ++i) {
    const int32_t* pairs = x.half_pairs + 2 * columns.at[i / C] + i % C;
    for (int v = 0; v < kPanelVectors; ++v) {
      first[i][v] = dot_start<Form::kOffset>(pairs);
      second[i][v] = dot_start<Form::kOffset>(pairs + kQuad);
    }
  }
  dot_half<Dot, Q, C, false>(codes, 0, columns, first);
  dot_half<Dot, Q, C, false>(codes, 1, columns, second);
  const int32_t* scales = strip.half_scales + block * 32;
  for (int v = 0; v < kPanelVectors; ++v) {
    I32 first_scale = load_i32(scales + v * kLanes);
    I32 second_scale = load_i32(scales + 16 + v * kLanes);
    for (int i = 0; i < Q * C; ++i)
      values[i][v] = dot_value_halves(first[i][v], second[i][v], first_scale, second_scale);
  }
}

template <class Form, int Q, int C>
void multiply_tile(const Strip& strip, int64_t first, int64_t count, const QuantizedColumns& x,
                   int64_t group, float* sums) {
  for (int64_t block = 0; block < count; ++block) {
    TileColumns<Q> columns;
    for (int q = 0; q < Q; ++q) {
      columns.at[q] = ((group + q) * x.blocks + first + block) * kQuad;
      columns.codes[q] = x.codes + columns.at[q] * kScaleBlock;
      // The next tile's columns: they come from the second or third level of the cache.
      const int8_t* next = columns.codes[q] + Q * x.blocks * kQuad * kScaleBlock;
      prefetch(next);
      prefetch(next + 64);
    }
    F32 values[Q * C][kPanelVectors];
    if constexpr (Form::kHalves) {
      tile_values_halves<Form, Q, C>(strip, block, x, columns, values);
    } else {
      tile_values<Form, Q, C>(strip, block, x, columns, values);
    }
    F32 scale[kPanelVectors], minimum[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) {
      int64_t row = block * kPanelRows + v * kLanes;
      scale[v] = load(strip.scales + row);
      if constexpr (Form::kMinimum) minimum[v] = load(strip.minima + row);
      if constexpr (Form::kMinimum && Form::kOffset != 0)
        minimum[v] = fma(scale[v], set1(16.0f), minimum[v]);
    }
    for (int i = 0; i < Q * C; ++i) {
      int64_t at = columns.at[i / C] + i % C;
      F32 x_scale = set1(x.scales[at]), x_sum = Form::kMinimum ? set1(x.sums[at]) : zero();
      float* to = sums + ((i / C) * kQuad + i % C) * kPanelRows;
      for (int v = 0; v < kPanelVectors; ++v) {
        F32 total = fma(values[i][v], mul(scale[v], x_scale), load(to + v * kLanes));
        if constexpr (Form::kMinimum) total = fma(minimum[v], x_sum, total);
        store(to + v * kLanes, total);
      }
    }
  }
}

template <class Form>
void multiply(const Strip& strip, int64_t first, int64_t count, const QuantizedColumns& x,
              float* sums) {
  int64_t groups = (x.columns + kQuad - 1) / kQuad;
  int64_t tail = x.columns % kQuad;
  int64_t full = tail == 1 || tail == 2 ? groups - 1 : groups;
  int64_t group = 0;
  for (; group + kQuads <= full; group += kQuads)
    multiply_tile<Form, kQuads, kQuad>(strip, first, count, x, group,
                                       sums + group * kQuad * kPanelRows);
  if constexpr (kQuads > 2) {
    if (group + 2 <= full) {
      multiply_tile<Form, 2, kQuad>(strip, first, count, x, group,
                                    sums + group * kQuad * kPanelRows);
      group += 2;
    }
  }
  for (; group < full; ++group)
    multiply_tile<Form, 1, kQuad>(strip, first, count, x, group, sums + group * kQuad * kPanelRows);
  if (group < groups)
    multiply_tile<Form, 1, 2>(strip, first, count, x, group, sums + group * kQuad * kPanelRows);
}
