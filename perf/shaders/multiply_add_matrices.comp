// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// `count` rounds of eight independent products of matrices in registers, f16 with f32 sums: the
// roof of what matrix cores compute. Flops: 16 m n k * count for each of a workgroup's subgroups.
// Built for each dialect: with HEARTH_MATRIX_KHR, it is translated before it is used.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
#ifdef HEARTH_MATRIX_KHR
#pragma use_vulkan_memory_model
#endif
layout(local_size_x_id = 3) in;
layout(constant_id = 0) const int hearth_matrix_m = 16;
layout(constant_id = 1) const int hearth_matrix_n = 16;
layout(constant_id = 2) const int hearth_matrix_k = 16;
#include "common/coopmat.glsl"

layout(buffer_reference, std430, buffer_reference_align = 16) buffer Halfs { float16_t at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Floats { float at[]; };
layout(push_constant, std430) uniform Push {
    Halfs from;
    Floats to;
    uint count;
    float unused;
} push;

const int kSums = 8;

void main() {
    hearth_matrix_a a;
    hearth_matrix_b b;
    hearth_matrix_load(a, push.from.at, 0, 16, false);
    hearth_matrix_load(b, push.from.at, 0, 16, false);
    hearth_matrix_sum sums[kSums];
    [[unroll]] for (int i = 0; i < kSums; ++i) sums[i] = hearth_matrix_sum(float(i));
    for (uint round = 0; round < push.count; ++round)
        [[unroll]] for (int i = 0; i < kSums; ++i) sums[i] = hearth_multiply_add(a, b, sums[i]);
    [[unroll]] for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
    // Never true, which the compiler cannot know.
    if (sums[0][0] == -1.0) hearth_matrix_store(sums[0], push.to.at, 0, 16, false);
}
