#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// sum[i] = partials[i] + partials[stride + i] + ..., added in a fixed order. 16 vec4s per workgroup,
// 16 slices of groups each, as in reduce_adam.comp.

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 256) in;

layout(push_constant) uniform Push {
    ReadVec4s partials;
    Vec4s sum;
    uint groups;
    uint stride_vec4s;
} p;

shared vec4 sums[256];

void main() {
    const uint lane = gl_LocalInvocationID.x % 16, slice = gl_LocalInvocationID.x / 16;
    const uint at = gl_WorkGroupID.x * 16 + lane;
    vec4 sum = vec4(0);
    for (uint group = slice; group < p.groups; group += 16)
        sum += p.partials.v[group * p.stride_vec4s + at];
    sums[gl_LocalInvocationID.x] = sum;
    barrier();
    if (slice == 0) {
        for (uint s = 1; s < 16; ++s) sum += sums[s * 16 + lane];
        p.sum.v[at] = sum;
    }
}
