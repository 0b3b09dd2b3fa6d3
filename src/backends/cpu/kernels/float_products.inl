// Products in f32: weights of plain floats, and quantised ones after decoding. One accumulator per
// output element, k ascending, one fma per k: the same for one column and for many.

struct FloatF32 {
  static constexpr int kPerLine = 1;  // k per 64 bytes of a panel
  static F32 value(const uint8_t* line, int, int v) {
    return load((const float*)line + v * kLanes);
  }
};
// 16-bit types hold two k side by side for each row: lanes of 32 bits with k and k + 1.
struct FloatBf16 {
  static constexpr int kPerLine = 2;
  static F32 value(const uint8_t* line, int j, int v) {
    return bf16_of_pair(load_i32((const int32_t*)line + v * kLanes), j);
  }
};
struct FloatF16 {
  static constexpr int kPerLine = 2;
  static F32 value(const uint8_t* line, int j, int v) {
    return load_f16((const uint16_t*)line + j * kPanelRows + v * kLanes);
  }
};

template <class T, int P>
inline void multiply_float_panels(const uint8_t* panels, int64_t k, const float* x, float* y) {
  int64_t lines = (k + T::kPerLine - 1) / T::kPerLine;
  F32 sums[P][kPanelVectors];
  for (int p = 0; p < P; ++p)
    for (int v = 0; v < kPanelVectors; ++v) sums[p][v] = zero();
  for (int64_t line = 0; line < lines; ++line) {
    for (int j = 0; j < T::kPerLine; ++j) {
      if (line * T::kPerLine + j >= k) break;
      F32 value = set1(x[line * T::kPerLine + j]);
      for (int p = 0; p < P; ++p)
        for (int v = 0; v < kPanelVectors; ++v)
          sums[p][v] = fma(T::value(panels + (p * lines + line) * 64, j, v), value, sums[p][v]);
    }
  }
  for (int p = 0; p < P; ++p)
    for (int v = 0; v < kPanelVectors; ++v) store(y + p * kPanelRows + v * kLanes, sums[p][v]);
}

template <class T>
void multiply_float_column(const uint8_t* panels, int64_t count, int64_t k, const float* x,
                           float* y) {
  int64_t panel_bytes = (k + T::kPerLine - 1) / T::kPerLine * 64, p = 0;
  for (; p + kFloatStreams <= count; p += kFloatStreams)
    multiply_float_panels<T, kFloatStreams>(panels + p * panel_bytes, k, x, y + p * kPanelRows);
  for (; p < count; ++p)
    multiply_float_panels<T, 1>(panels + p * panel_bytes, k, x, y + p * kPanelRows);
}

template <class T>
void expand_floats(const uint8_t* panel, int64_t first, int64_t count, float* values) {
  const uint8_t* lines = panel + first / T::kPerLine * 64;
  for (int64_t k = 0; k < count; ++k)
    for (int v = 0; v < kPanelVectors; ++v)
      store(values + k * kPanelRows + v * kLanes,
            T::value(lines + k / T::kPerLine * 64, (int)(k % T::kPerLine), v));
}

template <int C>
inline void multiply_float_tile(const float* values, int64_t count, const float* x, int64_t stride,
                                float* sums) {
  F32 totals[C][kPanelVectors];
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kPanelVectors; ++v) totals[c][v] = load(sums + c * kPanelRows + v * kLanes);
  for (int64_t k = 0; k < count; ++k) {
    F32 rows[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) rows[v] = load(values + k * kPanelRows + v * kLanes);
    for (int c = 0; c < C; ++c) {
      F32 column = set1(x[c * stride + k]);
      for (int v = 0; v < kPanelVectors; ++v) totals[c][v] = fma(rows[v], column, totals[c][v]);
    }
  }
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kPanelVectors; ++v) store(sums + c * kPanelRows + v * kLanes, totals[c][v]);
}

void multiply_floats(const float* values, int64_t count, const float* x, int64_t stride,
                     int64_t columns, float* sums) {
  int64_t c = 0;
  for (; c + kFloatColumns <= columns; c += kFloatColumns)
    multiply_float_tile<kFloatColumns>(values, count, x + c * stride, stride,
                                       sums + c * kPanelRows);
  for (; c + 3 <= columns; c += 3)
    multiply_float_tile<3>(values, count, x + c * stride, stride, sums + c * kPanelRows);
  for (; c < columns; ++c)
    multiply_float_tile<1>(values, count, x + c * stride, stride, sums + c * kPanelRows);
}
