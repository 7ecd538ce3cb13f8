#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Mean squared error: delta = 2 (y - target) / (rows * 64), and one partial loss per workgroup.
// A workgroup takes every groups-th block of 256 vec4s. Counts the step.

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 256) in;

layout(push_constant) uniform Push {
    ReadVec4s y;
    ReadVec4s target;
    Vec4s delta;
    Floats loss_partials;
    State state;
    uint count;
    uint groups;
} p;

shared float sums[256];

void main() {
    if (gl_GlobalInvocationID.x == 0) p.state.step += 1;
    const float scale = 1.0 / (float(p.count) * 4.0);
    float loss = 0;
    for (uint at = gl_GlobalInvocationID.x; at < p.count; at += p.groups * 256) {
        const vec4 error = p.y.v[at] - p.target.v[at];
        loss += dot(error, error);
        p.delta.v[at] = error * (2.0 * scale);
    }
    sums[gl_LocalInvocationID.x] = loss;
    barrier();
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
        if (gl_LocalInvocationID.x < half_size)
            sums[gl_LocalInvocationID.x] += sums[gl_LocalInvocationID.x + half_size];
        barrier();
    }
    if (gl_LocalInvocationID.x == 0) p.loss_partials.v[gl_WorkGroupID.x] = sums[0] * scale;
}
