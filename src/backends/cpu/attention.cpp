#include "backends/cpu/attention.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/vector_kernels.h"
#include "base/strings.h"

namespace crane::cpu {
namespace {

constexpr int kBlock = KvCache::kBlockSize;
static_assert(kBlock == kAttendBlock);

// Keys per span. A span is computed on its own and merged in order, whoever computes it, so the
// borders are fixed and splitting a long context over threads changes no bit.
constexpr int kSpan = 512;
constexpr int kColumnsPerUnit = 48;  // scores and outputs of a unit stay in the L1 and L2 caches

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Where things lie in one layer's keys and values.
struct Geometry {
  int kv_heads, key_dim, value_dim, value_stride, element_bytes;

  explicit Geometry(const KvCache::Layer& layer)
      : kv_heads(layer.spec.kv_heads),
        key_dim(layer.spec.key_dim),
        value_dim(layer.spec.value_dim),
        value_stride(static_cast<int>(round_up(layer.spec.value_dim, kKeyPanel))),
        element_bytes(info(layer.keys.dtype()).block_bytes) {}

  int64_t key_head_bytes() const { return int64_t{kBlock} * key_dim * element_bytes; }
  int64_t value_head_bytes() const { return int64_t{kBlock} * value_stride * element_bytes; }
  int64_t key_block_bytes() const { return kv_heads * key_head_bytes(); }
  int64_t value_block_bytes() const { return kv_heads * value_head_bytes(); }
  // Of one token's first element inside its head's part of a block.
  int64_t key_offset(int token) const {
    return (int64_t{token / kKeyPanel} * kKeyPanel * key_dim + token % kKeyPanel) * element_bytes;
  }
  int64_t value_offset(int token) const { return int64_t{token} * value_stride * element_bytes; }
};

// Address space of its own for each layer's blocks: memory is touched, and zero, as it is used.
Tensor reserve(Device& device, DType type, int64_t elements, const char* what) {
  size_t bytes = static_cast<size_t>(std::max<int64_t>(1, elements * info(type).block_bytes));
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory, cat(what, ": cannot reserve ", bytes, " bytes"));
  std::shared_ptr<void> owner(memory, [bytes](void* data) { munmap(data, bytes); });
  return Tensor(device, make_storage(static_cast<std::byte*>(memory), bytes, owner), type,
                {elements});
}

}  // namespace

void allocate_kv(Device& device, KvCache& cache, int slots) {
  if (cache.type() != DType::f32 && cache.type() != DType::f16)
    throw Error(ErrorCode::unsupported, cat("K/V cache: type ", name(cache.type()),
                                            " is not built for the CPU; f32 and f16 are"));
  cache.layers().clear();
  for (const LayerState& spec : cache.spec().layers) {
    KvCache::Layer layer;
    layer.spec = spec;
    int64_t tokens = int64_t{cache.block_count()} * kBlock;
    if (spec.kind == LayerState::Kind::attention) {
      layer.keys = reserve(device, cache.type(), tokens * spec.kv_heads * spec.key_dim, "keys");
      layer.values =
          reserve(device, cache.type(),
                  tokens * spec.kv_heads * round_up(spec.value_dim, kKeyPanel), "values");
    } else if (spec.kind == LayerState::Kind::recurrent) {
      layer.state = reserve(device, DType::f32, slots * spec.recurrent_elements, "state")
                        .view({slots, spec.recurrent_elements});
    }
    cache.layers().push_back(std::move(layer));
  }
}

void copy_block(KvCache& cache, int from, int to, int tokens) {
  for (KvCache::Layer& layer : cache.layers()) {
    if (!layer.keys.defined()) continue;
    Geometry at(layer);
    // Panels of keys hold 16 tokens: whole panels are copied, what lies past `tokens` is not read.
    int64_t key_bytes = round_up(tokens, kKeyPanel) * at.key_dim * at.element_bytes;
    int64_t value_bytes = at.value_offset(tokens);
    for (int head = 0; head < at.kv_heads; ++head) {
      std::byte* keys = layer.keys.bytes() + head * at.key_head_bytes();
      std::byte* values = layer.values.bytes() + head * at.value_head_bytes();
      std::memcpy(keys + to * at.key_block_bytes(), keys + from * at.key_block_bytes(),
                  static_cast<size_t>(key_bytes));
      std::memcpy(values + to * at.value_block_bytes(), values + from * at.value_block_bytes(),
                  static_cast<size_t>(value_bytes));
    }
  }
}

void store_kv(Context& context, KvCache::Layer& layer, const Tensor& k, const Tensor& v,
              const Batch& batch) {
  Geometry at(layer);
  const VectorKernels& kernels = *context.kernels.vectors;
  bool half = layer.keys.dtype() == DType::f16;
  auto store_key = half ? kernels.store_key_f16 : kernels.store_key_f32;
  auto store_value = half ? kernels.store_value_f16 : kernels.store_value_f32;
  for (const SequenceRun& run : batch.runs) {
    std::span<const int32_t> blocks = batch.blocks(run, kBlock);
    int grain = std::max(1, 16384 / (at.kv_heads * (at.key_dim + at.value_dim)));
    context.pool.parallel_for(run.count, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        int position = run.past + static_cast<int>(i);
        int64_t block = blocks[static_cast<size_t>(position / kBlock)];
        int token = position % kBlock;
        int64_t row = run.begin + i;
        for (int head = 0; head < at.kv_heads; ++head) {
          store_key(layer.keys.bytes() + block * at.key_block_bytes() + head * at.key_head_bytes() +
                        at.key_offset(token),
                    k.data<float>() + row * k.stride(0) + head * k.stride(1), at.key_dim);
          store_value(layer.values.bytes() + block * at.value_block_bytes() +
                          head * at.value_head_bytes() + at.value_offset(token),
                      v.data<float>() + row * v.stride(0) + head * v.stride(1), at.value_dim,
                      at.value_stride);
        }
      }
    });
  }
}

namespace {

using Unit = AttentionUnit;

// All that a worker needs besides its unit.
struct Job {
  Tensor& y;
  const Tensor& q;
  KvCache::Layer& layer;
  const Batch& batch;
  const AttentionOptions& options;
  const VectorKernels& kernels;
  Geometry at;
  int group;  // query heads of a K/V head

  int first_visible(int position) const {
    return options.window > 0 ? std::max(0, position - options.window + 1) : 0;
  }
};

// A worker's arrays, cut from its scratch.
struct Workspace {
  float *queries, *scores;
  SoftmaxState whole, span;  // of all columns
  int32_t *first, *last;

  static size_t floats(const Geometry& at) {
    return static_cast<size_t>(kColumnsPerUnit) *
           static_cast<size_t>(at.key_dim + kAttendBlock + 2 * at.value_stride + 6);
  }
  Workspace(float* memory, const Geometry& at) {
    auto cut = [&memory](int64_t size) {
      float* result = memory;
      memory += size * kColumnsPerUnit;
      return result;
    };
    queries = cut(at.key_dim);
    scores = cut(kAttendBlock);
    for (SoftmaxState* state : {&whole, &span}) *state = {cut(1), cut(1), cut(at.value_stride)};
    first = reinterpret_cast<int32_t*>(cut(1));
    last = reinterpret_cast<int32_t*>(cut(1));
  }
};

AttendSpan prepare(const Job& job, const Unit& unit, const Workspace& work) {
  AttendSpan span;
  span.columns = unit.tokens * job.group;
  span.key_dim = job.at.key_dim;
  span.value_stride = job.at.value_stride;
  span.queries = work.queries;
  span.first = work.first;
  span.last = work.last;
  span.blocks = job.batch.blocks(*unit.run, kBlock).data();
  span.keys = job.layer.keys.bytes() + unit.head * job.at.key_head_bytes();
  span.values = job.layer.values.bytes() + unit.head * job.at.value_head_bytes();
  span.key_block_bytes = job.at.key_block_bytes();
  span.value_block_bytes = job.at.value_block_bytes();
  span.soft_cap = job.options.soft_cap;
  span.scores = work.scores;
  for (int c = 0; c < span.columns; ++c) {
    int token = unit.first_token + c / job.group;
    int head = unit.head * job.group + c % job.group;
    int position = unit.run->past + token;
    work.first[c] = job.first_visible(position);
    work.last[c] = position + 1;
    const float* query =
        job.q.data<float>() + (unit.run->begin + token) * job.q.stride(0) + head * job.q.stride(1);
    job.kernels.scale(work.queries + c * job.at.key_dim, query, job.options.scale, job.at.key_dim);
  }
  return span;
}

void attend_one_span(const Job& job, AttendSpan& span, int index, const SoftmaxState& result) {
  int columns = span.columns;
  span.begin = std::max(index * kSpan, span.first[0] / kBlock * kBlock);
  span.end = std::min((index + 1) * kSpan, span.last[columns - 1]);
  span.maximum = result.maximum;
  span.sum = result.sum;
  span.output = result.output;
  (job.layer.keys.dtype() == DType::f16 ? job.kernels.attend_f16 : job.kernels.attend_f32)(span);
}

void write_result(const Job& job, const Unit& unit, const SoftmaxState& result) {
  for (int c = 0; c < unit.tokens * job.group; ++c) {
    int token = unit.first_token + c / job.group;
    int head = unit.head * job.group + c % job.group;
    float* to =
        job.y.data<float>() + (unit.run->begin + token) * job.y.stride(0) + head * job.y.stride(1);
    job.kernels.scale(to, result.output + int64_t{c} * job.at.value_stride, 1.0f / result.sum[c],
                      job.at.value_dim);
  }
}

void merge_columns(const Job& job, int columns, const SoftmaxState& into,
                   const SoftmaxState& other) {
  for (int c = 0; c < columns; ++c) {
    int64_t at = int64_t{c} * job.at.value_stride;
    job.kernels.merge({into.maximum + c, into.sum + c, into.output + at},
                      {other.maximum + c, other.sum + c, other.output + at}, job.at.value_stride);
  }
}

int first_span(const Job& job, const Unit& unit) {
  return job.first_visible(unit.run->past + unit.first_token) / kSpan;
}

int last_span(const Unit& unit) {
  return (unit.run->past + unit.first_token + unit.tokens - 1) / kSpan;
}

void attend_all_spans(const Job& job, const Unit& unit, const Workspace& work) {
  AttendSpan span = prepare(job, unit, work);
  int first = first_span(job, unit);
  attend_one_span(job, span, first, work.whole);
  for (int index = first + 1; index <= last_span(unit); ++index) {
    attend_one_span(job, span, index, work.span);
    merge_columns(job, span.columns, work.whole, work.span);
  }
  write_result(job, unit, work.whole);
}

void list_units(const Job& job, std::vector<Unit>& units) {
  units.clear();
  int tokens_per_unit = std::max(1, kColumnsPerUnit / job.group);
  for (const SequenceRun& run : job.batch.runs)
    for (int head = 0; head < job.at.kv_heads; ++head)
      for (int token = 0; token < run.count; token += tokens_per_unit)
        units.push_back({&run, head, token, std::min(tokens_per_unit, run.count - token), -1});
}

// Long contexts of few sequences: every span is a unit of its own, merged afterwards in order.
void attend_split(Context& context, const Job& job, const std::vector<Unit>& whole,
                  std::vector<Unit>& parts) {
  parts.clear();
  for (const Unit& unit : whole)
    for (int span = first_span(job, unit); span <= last_span(unit); ++span) {
      parts.push_back(unit);
      parts.back().span = span;
    }
  int64_t columns = kColumnsPerUnit;
  int64_t floats_per_part = columns * (job.at.value_stride + 2);
  size_t work_floats = Workspace::floats(job.at);
  float* memory = context.scratch.floats(Scratch::Slot::attention,
                                         work_floats * static_cast<size_t>(context.pool.size()) +
                                             static_cast<size_t>(floats_per_part) * parts.size());
  float* results = memory + work_floats * static_cast<size_t>(context.pool.size());
  auto state_at = [columns](float* part) {
    return SoftmaxState{part, part + columns, part + 2 * columns};
  };
  context.pool.parallel_for(
      static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end, int worker) {
        Workspace work(memory + work_floats * static_cast<size_t>(worker), job.at);
        for (int64_t i = begin; i < end; ++i) {
          const Unit& part = parts[static_cast<size_t>(i)];
          AttendSpan span = prepare(job, part, work);
          attend_one_span(job, span, part.span, state_at(results + i * floats_per_part));
        }
      });
  Workspace work(memory, job.at);
  float* next = results;
  for (const Unit& unit : whole) {
    int count = unit.tokens * job.group;
    for (int span = first_span(job, unit); span <= last_span(unit); ++span) {
      SoftmaxState result = state_at(next);
      if (span == first_span(job, unit)) {
        std::copy_n(result.maximum, count, work.whole.maximum);
        std::copy_n(result.sum, count, work.whole.sum);
        std::copy_n(result.output, int64_t{count} * job.at.value_stride, work.whole.output);
      } else {
        merge_columns(job, count, work.whole, result);
      }
      next += floats_per_part;
    }
    write_result(job, unit, work.whole);
  }
}

}  // namespace

void attention(Context& context, AttentionPlan& plan, Tensor& y, const AttentionInput& input) {
  Job job{y,
          input.q,
          input.layer,
          input.batch,
          input.options,
          *context.kernels.vectors,
          Geometry(input.layer),
          0};
  job.group = static_cast<int>(input.q.dim(1)) / job.at.kv_heads;
  if (job.group > kColumnsPerUnit)
    throw Error(ErrorCode::unsupported, cat("attention: ", job.group, " query heads share a K/V ",
                                            "head, at most ", kColumnsPerUnit, " are built"));
  list_units(job, plan.units);
  const std::vector<Unit>& units = plan.units;
  int64_t keys = 0;
  for (const Unit& unit : units) keys += unit.run->past + unit.first_token + unit.tokens;
  int threads = context.pool.size();
  if (threads > 1 && static_cast<int>(units.size()) < 2 * threads && keys > 2 * kSpan)
    return attend_split(context, job, units, plan.parts);

  size_t work_floats = Workspace::floats(job.at);
  float* memory =
      context.scratch.floats(Scratch::Slot::attention, work_floats * static_cast<size_t>(threads));
  // A single short sequence is done before a second thread would have woken.
  int64_t grain =
      keys * job.group * job.at.key_dim < 16384 ? static_cast<int64_t>(units.size()) : 1;
  context.pool.parallel_for(
      static_cast<int64_t>(units.size()), grain, [&](int64_t begin, int64_t end, int worker) {
        Workspace work(memory + work_floats * static_cast<size_t>(worker), job.at);
        for (int64_t i = begin; i < end; ++i)
          attend_all_spans(job, units[static_cast<size_t>(i)], work);
      });
}

}  // namespace crane::cpu
