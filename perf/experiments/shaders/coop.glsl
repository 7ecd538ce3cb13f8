// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Cooperative matrices of a subgroup, f16 with f32 sums, by either extension.  `T` is their edge.
//
// Defines: KHR   1: GL_KHR_cooperative_matrix, which only newer compilers know
//          T     16, or what the device has

#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require

#if KHR
#extension GL_KHR_cooperative_matrix : require
#define MatrixA coopmat<float16_t, gl_ScopeSubgroup, T, T, gl_MatrixUseA>
#define MatrixB coopmat<float16_t, gl_ScopeSubgroup, T, T, gl_MatrixUseB>
#define Sum coopmat<float, gl_ScopeSubgroup, T, T, gl_MatrixUseAccumulator>
#define HalfSum coopmat<float16_t, gl_ScopeSubgroup, T, T, gl_MatrixUseAccumulator>
#define LOAD(m, from, at, stride) \
    coopMatLoad(m, from, at, stride, gl_CooperativeMatrixLayoutRowMajor)
#define LOAD_TRANSPOSED(m, from, at, stride) \
    coopMatLoad(m, from, at, stride, gl_CooperativeMatrixLayoutColumnMajor)
#define STORE(m, to, at, stride) coopMatStore(m, to, at, stride, gl_CooperativeMatrixLayoutRowMajor)
#define MULTIPLY_ADD(a, b, c) coopMatMulAdd(a, b, c)
#else
#extension GL_NV_cooperative_matrix : require
#define MatrixA fcoopmatNV<16, gl_ScopeSubgroup, T, T>
#define MatrixB fcoopmatNV<16, gl_ScopeSubgroup, T, T>
#define Sum fcoopmatNV<32, gl_ScopeSubgroup, T, T>
#define HalfSum fcoopmatNV<16, gl_ScopeSubgroup, T, T>
#define LOAD(m, from, at, stride) coopMatLoadNV(m, from, at, stride, false)
#define LOAD_TRANSPOSED(m, from, at, stride) coopMatLoadNV(m, from, at, stride, true)
#define STORE(m, to, at, stride) coopMatStoreNV(m, to, at, stride, false)
#define MULTIPLY_ADD(a, b, c) coopMatMulAddNV(a, b, c)
#endif

layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer ReadHalfs {
    float16_t v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict buffer Halfs {
    float16_t v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer ReadUvec4s {
    uvec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict buffer Uvec4s { uvec4 v[]; };

const uint kWide = kWidth / T;               // matrices side by side in a row
const uint kStride = kWidth / 8 + 1;         // of a row in shared memory, in uvec4s: other banks
const uint kEdge = T / 8;                    // of a matrix, in uvec4s
const uint kLayerHalfs = kWidth * kWidth + kWidth;

uvec4 to_halfs(vec4 low, vec4 high) {
    return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy),
                 packHalf2x16(high.zw));
}
