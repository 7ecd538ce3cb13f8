#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adds the groups' partial gradients in a fixed order and applies Adam to all parameters at once;
// writes their f16 copy too.  COLUMNS vec4s of parameters per workgroup, 256 / COLUMNS slices of
// groups each.  The last workgroup adds up the loss.

#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
#include "common.glsl"
#include "adam.glsl"

layout(local_size_x = 256) in;

layout(buffer_reference, std430, buffer_reference_align = 8) restrict buffer Uvec2s { uvec2 v[]; };
layout(push_constant) uniform Push {
    ReadVec4s partials;
    ReadFloats loss_partials;
    Vec4s weights;
    Uvec2s weights_h;
    Vec4s m;
    Vec4s v;
    State state;
    uint groups;
    uint loss_groups;
    float learning_rate;
} p;

const uint kSlices = 256 / COLUMNS;
shared vec4 sums[256];

void main() {
    const uint lane = gl_LocalInvocationID.x % COLUMNS;
    const uint slice = gl_LocalInvocationID.x / COLUMNS;
    if (gl_WorkGroupID.x == kParamVec4s / COLUMNS) {
        float loss = 0;
        for (uint i = gl_LocalInvocationID.x; i < p.loss_groups; i += 256)
            loss += p.loss_partials.v[i];
        sums[gl_LocalInvocationID.x].x = loss;
        barrier();
        for (uint half_size = 128; half_size > 0; half_size /= 2) {
            if (gl_LocalInvocationID.x < half_size)
                sums[gl_LocalInvocationID.x].x += sums[gl_LocalInvocationID.x + half_size].x;
            barrier();
        }
        if (gl_LocalInvocationID.x == 0) p.state.loss = sums[0].x;
        return;
    }
    const uint at = gl_WorkGroupID.x * COLUMNS + lane;
    vec4 m, v, w;
    if (slice == 0) {
        m = p.m.v[at];
        v = p.v.v[at];
        w = p.weights.v[at];
    }
    vec4 sum = vec4(0);
    uint group = slice;
    for (; group + 3 * kSlices < p.groups; group += 4 * kSlices) {
        const vec4 a = p.partials.v[group * kParamVec4s + at];
        const vec4 b = p.partials.v[(group + kSlices) * kParamVec4s + at];
        const vec4 c = p.partials.v[(group + 2 * kSlices) * kParamVec4s + at];
        const vec4 d = p.partials.v[(group + 3 * kSlices) * kParamVec4s + at];
        sum += (a + b) + (c + d);
    }
    for (; group < p.groups; group += kSlices) sum += p.partials.v[group * kParamVec4s + at];
    sums[gl_LocalInvocationID.x] = sum;
    barrier();
    if (slice == 0) {
        for (uint s = 1; s < min(kSlices, p.groups); ++s) sum += sums[s * COLUMNS + lane];
        w = adam(w, sum, m, v, float(p.state.step), p.learning_rate);
        p.weights.v[at] = w;
        p.m.v[at] = m;
        p.v.v[at] = v;
        p.weights_h.v[at] = uvec2(packHalf2x16(w.xy), packHalf2x16(w.zw));
    }
}
