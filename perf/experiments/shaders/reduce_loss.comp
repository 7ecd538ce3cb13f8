#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adds up the partial losses of the separate step.

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Push {
    ReadFloats loss_partials;
    State state;
    uint groups;
} p;

shared float sums[64];

void main() {
    float loss = 0;
    for (uint i = gl_LocalInvocationID.x; i < p.groups; i += 64) loss += p.loss_partials.v[i];
    sums[gl_LocalInvocationID.x] = loss;
    barrier();
    if (gl_LocalInvocationID.x == 0) {
        for (uint i = 1; i < 64; ++i) loss += sums[i];
        p.state.loss = loss;
    }
}
