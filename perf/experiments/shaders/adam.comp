#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adam on one parameter tensor. 64 vec4s per workgroup.

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "adam.glsl"

layout(local_size_x = 64) in;

layout(push_constant) uniform Push {
    ReadVec4s gradient;
    Vec4s weights;
    Vec4s m;
    Vec4s v;
    State state;
    uint count;
    float learning_rate;
} p;

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (at >= p.count) return;
    vec4 m = p.m.v[at], v = p.v.v[at];
    p.weights.v[at] =
        adam(p.weights.v[at], p.gradient.v[at], m, v, float(p.state.step), p.learning_rate);
    p.m.v[at] = m;
    p.v.v[at] = v;
}
