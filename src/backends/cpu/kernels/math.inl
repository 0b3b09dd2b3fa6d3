// Functions of F32 vectors, written over the vocabulary of simd/<level>.h.

// e^x, about 1 ulp. Exact 0 below -104, infinity above 88.8; NaN stays NaN.
inline F32 exp(F32 x) {
  F32 bounded = min(set1(89.0f), max(set1(-105.0f), x));
  F32 n = round(mul(bounded, set1(1.44269504f)));
  // ln 2 in two parts, so that n * ln 2 is exact in the first.
  F32 r = fma(n, set1(-0.693359375f), bounded);
  r = fma(n, set1(2.12194440e-4f), r);
  F32 p = set1(1.9875691500e-4f);
  p = fma(p, r, set1(1.3981999507e-3f));
  p = fma(p, r, set1(8.3334519073e-3f));
  p = fma(p, r, set1(4.1665795894e-2f));
  p = fma(p, r, set1(1.6666665459e-1f));
  p = fma(p, r, set1(5.0000001201e-1f));
  p = fma(p, mul(r, r), add(r, set1(1.0f)));
  // Two factors: 2^n alone leaves the range of normal floats at both ends.
  F32 half = round(mul(n, set1(0.5f)));
  return mul(mul(p, power_of_two(half)), power_of_two(sub(n, half)));
}

// 1 / (1 + e^-x)
inline F32 sigmoid(F32 x) { return div(set1(1.0f), add(set1(1.0f), exp(sub(zero(), x)))); }

inline F32 silu(F32 x) { return div(x, add(set1(1.0f), exp(sub(zero(), x)))); }

// tanh, about 2 ulp: a polynomial near zero, where the formula with e^x loses its digits.
inline F32 tanh(F32 x) {
  F32 a = abs(x);
  F32 e = exp(mul(a, set1(-2.0f)));
  F32 large = div(sub(set1(1.0f), e), add(set1(1.0f), e));
  F32 s = mul(x, x);
  F32 p = set1(-5.70498872745e-3f);
  p = fma(p, s, set1(2.06390887954e-2f));
  p = fma(p, s, set1(-5.37397155531e-2f));
  p = fma(p, s, set1(1.33314422036e-1f));
  p = fma(p, s, set1(-3.33332819422e-1f));
  F32 small = fma(mul(p, s), a, a);
  return copy_sign(select_less(a, set1(0.625f), small, large), x);
}

// The error function within 2e-7: Abramowitz and Stegun 7.1.26 has 1.5e-7, so that its last
// digits do not matter in f32 sums; near zero the Taylor series keeps the relative error small.
inline F32 erf(F32 x) {
  F32 a = abs(x);
  F32 t = div(set1(1.0f), fma(a, set1(0.3275911f), set1(1.0f)));
  F32 p = set1(1.061405429f);
  p = fma(p, t, set1(-1.453152027f));
  p = fma(p, t, set1(1.421413741f));
  p = fma(p, t, set1(-0.284496736f));
  p = fma(p, t, set1(0.254829592f));
  F32 large = sub(set1(1.0f), mul(mul(p, t), exp(mul(a, sub(zero(), a)))));
  F32 s = mul(x, x);
  F32 q = set1(-8.548327e-4f);
  q = fma(q, s, set1(5.223978e-3f));
  q = fma(q, s, set1(-2.686617e-2f));
  q = fma(q, s, set1(1.128379e-1f));
  q = fma(q, s, set1(-3.761264e-1f));
  q = fma(q, s, set1(1.1283792f));
  return copy_sign(select_less(a, set1(0.5f), mul(q, a), large), x);
}

inline F32 gelu(F32 x) {
  return mul(mul(x, set1(0.5f)), add(set1(1.0f), erf(mul(x, set1(0.70710678f)))));
}

inline F32 gelu_tanh(F32 x) {
  F32 cube = mul(mul(x, x), x);
  F32 inner = mul(fma(cube, set1(0.044715f), x), set1(0.79788456f));
  return mul(mul(x, set1(0.5f)), add(set1(1.0f), tanh(inner)));
}

inline F32 relu(F32 x) { return max(zero(), x); }
