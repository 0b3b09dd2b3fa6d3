// Attention over paged keys and values, one span of keys for a few columns of queries.
// "FlashAttention", Dao et al. 2022, for the running softmax. The order of additions is fixed per
// column: keys ascend, in blocks of 64 at absolute positions.

constexpr int kVectorsPerPanel = kKeyPanel / kLanes;
constexpr int kColumnTile = kLanes >= 16 ? 8 : 6;  // accumulators of a tile fit the registers

inline F32 load_f32_panel(const float* from) { return load(from); }
inline F32 load_f16_panel(const uint16_t* from) { return load_f16(from); }
inline float exp1(float x) { return max_lane(exp(set1(x))); }

struct KvF32 {
  using Element = float;
  static F32 load(const Element* from) { return load_f32_panel(from); }
};
struct KvF16 {
  using Element = uint16_t;
  static F32 load(const Element* from) { return load_f16_panel(from); }
};

// scores[c][0..16) of one panel for C columns.
template <class Kv, int C>
void panel_scores(const AttendSpan& span, int column, const typename Kv::Element* panel,
                  float* scores) {
  F32 sums[C][kVectorsPerPanel];
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kVectorsPerPanel; ++v) sums[c][v] = set1(0.0f);
  const float* queries = span.queries + int64_t{column} * span.key_dim;
  for (int d = 0; d < span.key_dim; ++d) {
    F32 keys[kVectorsPerPanel];
    for (int v = 0; v < kVectorsPerPanel; ++v)
      keys[v] = Kv::load(panel + d * kKeyPanel + v * kLanes);
    for (int c = 0; c < C; ++c) {
      F32 query = set1(queries[c * span.key_dim + d]);
      for (int v = 0; v < kVectorsPerPanel; ++v) sums[c][v] = fma(keys[v], query, sums[c][v]);
    }
  }
  for (int c = 0; c < C; ++c)
    for (int v = 0; v < kVectorsPerPanel; ++v)
      store(scores + c * kAttendBlock + v * kLanes, sums[c][v]);
}

// output[c] = output[c] * decay[c] + sum over the keys of weight * value.
template <class Kv, int C>
void weigh_values(const AttendSpan& span, int column, const typename Kv::Element* values, int keys,
                  const float* decay) {
  constexpr int kVectors = 2;
  const float* weights = span.scores + int64_t{column} * kAttendBlock;
  float* output = span.output + int64_t{column} * span.value_stride;
  for (int d = 0; d < span.value_stride; d += kKeyPanel) {
    for (int half = 0; half < kKeyPanel; half += kVectors * kLanes) {
      constexpr int kUsed = kVectors * kLanes <= kKeyPanel ? kVectors : kVectorsPerPanel;
      F32 sums[C][kUsed];
      float* out = output + d + half;
      for (int c = 0; c < C; ++c)
        for (int v = 0; v < kUsed; ++v)
          sums[c][v] = mul(load(out + c * span.value_stride + v * kLanes), set1(decay[c]));
      for (int t = 0; t < keys; ++t) {
        const typename Kv::Element* row = values + int64_t{t} * span.value_stride + d + half;
        F32 value[kUsed];
        for (int v = 0; v < kUsed; ++v) value[v] = Kv::load(row + v * kLanes);
        for (int c = 0; c < C; ++c) {
          F32 weight = set1(weights[c * kAttendBlock + t]);
          for (int v = 0; v < kUsed; ++v) sums[c][v] = fma(value[v], weight, sums[c][v]);
        }
      }
      for (int c = 0; c < C; ++c)
        for (int v = 0; v < kUsed; ++v) store(out + c * span.value_stride + v * kLanes, sums[c][v]);
    }
  }
}

// Turns a column's scores into weights exp(score - maximum); gives the factor for what came before.
inline float soften(const AttendSpan& span, int column, int block_begin) {
  float* scores = span.scores + int64_t{column} * kAttendBlock;
  int first = span.first[column] - block_begin, last = span.last[column] - block_begin;
  for (int t = 0; t < kAttendBlock; ++t)
    if (t < first || t >= last) scores[t] = -__builtin_inff();
  if (span.soft_cap > 0)
    for (int t = 0; t < kAttendBlock; ++t)
      if (t >= first && t < last) scores[t] = span.soft_cap * tanhf(scores[t] / span.soft_cap);
  F32 peak = load(scores);
  for (int t = kLanes; t < kAttendBlock; t += kLanes) peak = max(peak, load(scores + t));
  float before = span.maximum[column];
  float now = fmaxf(before, max_lane(peak));
  if (now == -__builtin_inff()) {  // nothing visible yet
    for (int t = 0; t < kAttendBlock; ++t) scores[t] = 0.0f;
    return 1.0f;
  }
  F32 total = set1(0.0f);
  for (int t = 0; t < kAttendBlock; t += kLanes) {
    F32 weight = exp(sub(load(scores + t), set1(now)));
    store(scores + t, weight);
    total = add(total, weight);
  }
  float decay = exp1(before - now);
  span.maximum[column] = now;
  span.sum[column] = span.sum[column] * decay + sum(total);
  return decay;
}

template <class Kv, int C>
void attend_tile(const AttendSpan& span, int column) {
  using Element = typename Kv::Element;
  for (int begin = span.begin; begin < span.end; begin += kAttendBlock) {
    int64_t block = span.blocks[begin / kAttendBlock];
    const auto* keys = reinterpret_cast<const Element*>(span.keys + block * span.key_block_bytes);
    const auto* values =
        reinterpret_cast<const Element*>(span.values + block * span.value_block_bytes);
    int count = span.end - begin < kAttendBlock ? span.end - begin : kAttendBlock;
    for (int t = 0; t < count; t += kKeyPanel)
      panel_scores<Kv, C>(span, column, keys + int64_t{t} * span.key_dim,
                          span.scores + int64_t{column} * kAttendBlock + t);
    float decay[C];
    for (int c = 0; c < C; ++c) decay[c] = soften(span, column + c, begin);
    weigh_values<Kv, C>(span, column, values, count, decay);
  }
}

template <class Kv>
void attend(const AttendSpan& span) {
  for (int c = 0; c < span.columns; ++c) {
    span.maximum[c] = -__builtin_inff();
    span.sum[c] = 0.0f;
  }
  for (int64_t i = 0; i < int64_t{span.columns} * span.value_stride; ++i) span.output[i] = 0.0f;
  int c = 0;
  for (; c + kColumnTile <= span.columns; c += kColumnTile) attend_tile<Kv, kColumnTile>(span, c);
  for (; c + 4 <= span.columns; c += 4) attend_tile<Kv, 4>(span, c);
  for (; c + 2 <= span.columns; c += 2) attend_tile<Kv, 2>(span, c);
  if (c < span.columns) attend_tile<Kv, 1>(span, c);
}

void attend_f32(const AttendSpan& span) { attend<KvF32>(span); }
void attend_f16(const AttendSpan& span) { attend<KvF16>(span); }

void merge_spans(const SoftmaxState& into, const SoftmaxState& other, int64_t value_stride) {
  if (*other.maximum == -__builtin_inff()) return;
  float now = fmaxf(*into.maximum, *other.maximum);
  float mine = exp1(*into.maximum - now), theirs = exp1(*other.maximum - now);
  *into.sum = *into.sum * mine + *other.sum * theirs;
  for (int64_t d = 0; d < value_stride; d += kLanes)
    store(into.output + d,
          fma(load(other.output + d), set1(theirs), mul(load(into.output + d), set1(mine))));
  *into.maximum = now;
}

void store_key_f32(std::byte* panel_column, const float* key, int64_t size) {
  float* to = reinterpret_cast<float*>(panel_column);
  for (int64_t d = 0; d < size; ++d) to[d * kKeyPanel] = key[d];
}

void store_key_f16(std::byte* panel_column, const float* key, int64_t size) {
  uint16_t* to = reinterpret_cast<uint16_t*>(panel_column);
  for (int64_t d = 0; d < size; d += kLanes) {
    int count = size - d < kLanes ? static_cast<int>(size - d) : kLanes;
    uint16_t halves[kLanes];
    store_f16(halves, load_partial(key + d, count));
    for (int i = 0; i < count; ++i) to[(d + i) * kKeyPanel] = halves[i];
  }
}

void store_value_f32(std::byte* row, const float* value, int64_t size, int64_t stride) {
  float* to = reinterpret_cast<float*>(row);
  for (int64_t d = 0; d < stride; ++d) to[d] = d < size ? value[d] : 0.0f;
}

void store_value_f16(std::byte* row, const float* value, int64_t size, int64_t stride) {
  uint16_t* to = reinterpret_cast<uint16_t*>(row);
  for (int64_t d = 0; d < stride; d += kLanes) {
    int64_t left = size - d;
    int count = left < 0 ? 0 : left < kLanes ? static_cast<int>(left) : kLanes;
    store_f16(to + d, load_partial(value + d, count));
  }
}
