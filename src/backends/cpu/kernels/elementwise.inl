// Norms, rotations and element-by-element kernels. Sizes need not be multiples of the vector.

void rms_norm(float* y, const float* x, const float* weight, int64_t size, float eps) {
  F32 squares = set1(0.0f);
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    F32 value = load(x + i);
    squares = fma(value, value, squares);
  }
  float total = sum(squares);
  for (int64_t j = i; j < size; ++j) total += x[j] * x[j];
  float inverse = 1.0f / sqrtf(total / static_cast<float>(size) + eps);
  F32 factor = set1(inverse);
  for (i = 0; i + kLanes <= size; i += kLanes)
    store(y + i, mul(mul(load(x + i), factor), load(weight + i)));
  for (; i < size; ++i) y[i] = x[i] * inverse * weight[i];
}

void add_vectors(float* y, const float* a, const float* b, int64_t size) {
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) store(y + i, add(load(a + i), load(b + i)));
  for (; i < size; ++i) y[i] = a[i] + b[i];
}

void scale_vector(float* y, const float* x, float factor, int64_t size) {
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) store(y + i, mul(load(x + i), set1(factor)));
  for (; i < size; ++i) y[i] = x[i] * factor;
}

void rotate(float* x, const float* angles, int64_t half) {
  const float* cosines = angles;
  const float* sines = angles + half;
  float* upper = x + half;
  for (int64_t i = 0; i < half; ++i) {
    float a = x[i], b = upper[i];
    x[i] = a * cosines[i] - b * sines[i];
    upper[i] = b * cosines[i] + a * sines[i];
  }
}

template <F32 (*Function)(F32)>
void gate_vectors(float* y, const float* gate, const float* up, int64_t size) {
  for (int64_t i = 0; i < size; i += kLanes) {
    int count = size - i < kLanes ? static_cast<int>(size - i) : kLanes;
    F32 result = mul(Function(load_partial(gate + i, count)), load_partial(up + i, count));
    store_partial(y + i, result, count);
  }
}

void gate(float* y, const float* gate, const float* up, int64_t size, Activation activation) {
  switch (activation) {
    case Activation::silu:
      return gate_vectors<silu>(y, gate, up, size);
    case Activation::gelu:
      return gate_vectors<gelu>(y, gate, up, size);
    case Activation::gelu_tanh:
      return gate_vectors<gelu_tanh>(y, gate, up, size);
    case Activation::relu:
      return gate_vectors<relu>(y, gate, up, size);
  }
}
