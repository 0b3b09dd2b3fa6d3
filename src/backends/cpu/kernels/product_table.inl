// The table of this level's product kernels, rows in the order of packed_index() in pack.h.

template <class T>
constexpr QuantizedKernels quantized_kernels() {
  return {multiply_column<T>, expand<T>, multiply<FormOf<T>>, decode<T>};
}
template <class T>
constexpr ScalarKernels scalar_kernels() {
  return {multiply_float_column<T>, expand_floats<T>};
}

constexpr ProductKernels kProducts = {
    {quantized_kernels<TypeQ4_0>(), quantized_kernels<TypeQ4_1>(), quantized_kernels<TypeQ5_0>(),
     quantized_kernels<TypeQ5_1>(), quantized_kernels<TypeQ8_0>(), quantized_kernels<TypeQ4_K>(),
     quantized_kernels<TypeQ5_K>(), quantized_kernels<TypeQ6_K>(), quantized_kernels<TypeIQ4_NL>(),
     quantized_kernels<TypeIQ4_XS>()},
    {scalar_kernels<FloatF32>(), scalar_kernels<FloatF16>(), scalar_kernels<FloatBf16>()},
    quantize,
    multiply_floats,
};
