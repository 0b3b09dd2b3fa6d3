// The table of vector_kernels.h for the level that includes this.

constexpr VectorKernels kVectorKernels = {
    rms_norm,      add_vectors,     scale_vector,    gate,       rotate,     store_key_f32,
    store_key_f16, store_value_f32, store_value_f16, attend_f32, attend_f16, merge_spans,
};
