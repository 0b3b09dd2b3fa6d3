#include "backends/cpu/elementwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/vector_kernels.h"

namespace crane::cpu {
namespace {

constexpr int64_t kInlineElements = 16384;  // below this one thread is as fast as several

// Rows per piece, so that a piece is worth a worker's while.
int64_t grain(int64_t row_elements) {
  return std::max<int64_t>(1, kInlineElements / std::max<int64_t>(1, row_elements));
}

// The innermost rows of a rank 2 or 3 tensor whose last axis is dense.
struct Rows {
  float* data;
  int64_t inner, stride, inner_stride, size, count;

  explicit Rows(const Tensor& x)
      : data(x.data<float>()),
        inner(x.rank() == 3 ? x.dim(1) : 1),
        stride(x.stride(0)),
        inner_stride(x.rank() == 3 ? x.stride(1) : 0),
        size(x.dim(-1)),
        count(x.rank() == 3 ? x.dim(0) * x.dim(1) : x.dim(0)) {}
  float* operator[](int64_t row) const {
    return data + row / inner * stride + row % inner * inner_stride;
  }
};

}  // namespace

void select_rows(Tensor& y, const Tensor& x, std::span<const int32_t> rows) {
  Rows to(y), from(x);
  for (size_t i = 0; i < rows.size(); ++i)
    std::memcpy(to[static_cast<int64_t>(i)], from[rows[i]],
                static_cast<size_t>(to.size) * sizeof(float));
}

void rms_norm(Context& context, Tensor& y, const Tensor& x, const Tensor& weight, float eps) {
  Rows to(y), from(x);
  const float* scales = weight.data<float>();
  context.pool.parallel_for(to.count, grain(to.size), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      context.kernels.vectors->rms_norm(to[row], from[row], scales, to.size, eps);
  });
}

void gate(Context& context, Tensor& y, const Tensor& gate, const Tensor& up,
          Activation activation) {
  Rows to(y), a(gate), b(up);
  context.pool.parallel_for(to.count, grain(to.size), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      context.kernels.vectors->gate(to[row], a[row], b[row], to.size, activation);
  });
}

void add(Context& context, Tensor& y, const Tensor& a, const Tensor& b) {
  Rows to(y), left(a), right(b);
  context.pool.parallel_for(to.count, grain(to.size), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      context.kernels.vectors->add(to[row], left[row], right[row], to.size);
  });
}

void scale(Context& context, Tensor& y, const Tensor& x, float factor) {
  Rows to(y), from(x);
  context.pool.parallel_for(to.count, grain(to.size), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      context.kernels.vectors->scale(to[row], from[row], factor, to.size);
  });
}

void rope_angles(Context& context, Tensor& angles, std::span<const int32_t> positions,
                 std::span<const float> frequencies, float magnitude) {
  Rows rows(angles);
  int64_t half = static_cast<int64_t>(frequencies.size());
  context.pool.parallel_for(rows.count, grain(16 * half), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      float position = static_cast<float>(positions[static_cast<size_t>(row)]);
      for (int64_t i = 0; i < half; ++i) {
        // The product is rounded to f32, as the reference computes it; its cosine is exact.
        double angle = position * frequencies[static_cast<size_t>(i)];
        rows[row][i] = static_cast<float>(std::cos(angle)) * magnitude;
        rows[row][half + i] = static_cast<float>(std::sin(angle)) * magnitude;
      }
    }
  });
}

void rope(Context& context, Tensor& x, const Tensor& angles) {
  Rows heads(x), rows(angles);
  int64_t half = angles.dim(1) / 2;
  context.pool.parallel_for(heads.count, grain(heads.size), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      context.kernels.vectors->rope(heads[row], rows[row / heads.inner], half);
  });
}

}  // namespace crane::cpu
