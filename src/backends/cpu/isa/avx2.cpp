// All kernels at level "avx2". Everything stays in the unnamed namespace, so that no function
// compiled with these flags can stand in for another file's.
#include <immintrin.h>
#include <math.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/vector_kernels.h"

namespace crane::cpu::avx2 {
namespace {
#include "backends/cpu/simd/avx2.h"

#include "backends/cpu/kernels/math.inl"

#include "backends/cpu/kernels/quantize.inl"

#include "backends/cpu/kernels/quant_types.inl"

#include "backends/cpu/kernels/quant_products.inl"

#include "backends/cpu/kernels/quant_tiles.inl"

#include "backends/cpu/kernels/float_products.inl"

#include "backends/cpu/kernels/product_table.inl"

#include "backends/cpu/kernels/elementwise.inl"

#include "backends/cpu/kernels/attention.inl"

#include "backends/cpu/kernels/vector_table.inl"
}  // namespace
}  // namespace crane::cpu::avx2

const crane::cpu::Kernels crane::cpu::kernels_avx2 = {"avx2", &crane::cpu::avx2::kProducts,
                                                      &crane::cpu::avx2::kVectorKernels};
