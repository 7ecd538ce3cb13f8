#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adds the groups' partial gradients in a fixed order and applies Adam to all parameters at once.
//   partials: [groups][5200 vec4s]; 16 vec4s of parameters per workgroup, 16 slices of groups each.
//   Slice s adds groups s, s + 16, ...; the slices are then added in order, so equal inputs give
//   equal bits. Also keeps the transposed weights, and adds up the loss.

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "adam.glsl"

layout(local_size_x = 256) in;

layout(push_constant) uniform Push {
    ReadVec4s partials;
    ReadFloats loss_partials;
    Vec4s weights;
    Floats weights_t;
    Vec4s m;
    Vec4s v;
    State state;
    uint groups;
    uint loss_groups;
    float learning_rate;
} p;

shared vec4 sums[256];

void main() {
    const uint lane = gl_LocalInvocationID.x % 16;
    const uint slice = gl_LocalInvocationID.x / 16;
    const uint at = gl_WorkGroupID.x * 16 + lane;  // 5200 is a multiple of 16
    vec4 sum = vec4(0);
    for (uint group = slice; group < p.groups; group += 16)
        sum += p.partials.v[group * kParamVec4s + at];
    sums[gl_LocalInvocationID.x] = sum;
    barrier();
    if (slice == 0) {
        for (uint s = 1; s < 16; ++s) sum += sums[s * 16 + lane];
        vec4 m = p.m.v[at], v = p.v.v[at];
        const vec4 w = adam(p.weights.v[at], sum, m, v, float(p.state.step), p.learning_rate);
        p.weights.v[at] = w;
        p.m.v[at] = m;
        p.v.v[at] = v;
        const uint layer = at / kLayerVec4s, inside = at % kLayerVec4s;
        if (inside < 1024) {
            const uint k = inside / 16, n = inside % 16 * 4;
            [[unroll]] for (uint j = 0; j < 4; ++j)
                p.weights_t.v[layer * kLayerVec4s * 4 + (n + j) * kWidth + k] = w[j];
        }
    }
    if (gl_WorkGroupID.x == 0) {
        barrier();
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
    }
}
