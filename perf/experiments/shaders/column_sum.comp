#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Column sums of delta [rows, 64]: workgroup g adds its rows_per_group rows into partials[g * stride].

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 256) in;

layout(push_constant) uniform Push {
    ReadVec4s delta;
    Vec4s partials;
    uint rows;
    uint rows_per_group;
    uint stride_vec4s;
} p;

shared vec4 sums[256];

void main() {
    const uint column = gl_LocalInvocationID.x % 16, lane = gl_LocalInvocationID.x / 16;
    const uint begin = gl_WorkGroupID.x * p.rows_per_group;
    const uint end = min(begin + p.rows_per_group, p.rows);
    vec4 sum = vec4(0);
    for (uint row = begin + lane; row < end; row += 16) sum += p.delta.v[row * 16 + column];
    sums[gl_LocalInvocationID.x] = sum;
    barrier();
    if (lane == 0) {
        for (uint i = 1; i < 16; ++i) sum += sums[i * 16 + column];
        p.partials.v[gl_WorkGroupID.x * p.stride_vec4s + column] = sum;
    }
}
