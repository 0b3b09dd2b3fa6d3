// All kernels at level "generic". Everything stays in the unnamed namespace, so that no function
// compiled with these flags can stand in for another file's.
#include <math.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/vector_kernels.h"

namespace crane::cpu::generic {
namespace {
#include "backends/cpu/simd/generic.h"

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
}  // namespace crane::cpu::generic

const crane::cpu::Kernels crane::cpu::kernels_generic = {"generic", &crane::cpu::generic::kProducts,
                                                         &crane::cpu::generic::kVectorKernels};
