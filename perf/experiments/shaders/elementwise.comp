#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element-wise kernels of the separate step, one vec4 per thread.
//   OP 0  c = c + bias             (bias[64] repeats over the rows)
//   OP 1  c = relu(c + bias)
//   OP 2  c = extra > 0 ? c : 0    (backward of relu; extra is relu's output)

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 256) in;

layout(push_constant) uniform Push {
    Vec4s c;
    ReadVec4s extra;
    uint count;
} p;

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (at >= p.count) return;
#if OP == 0
    p.c.v[at] += p.extra.v[at % 16];
#elif OP == 1
    p.c.v[at] = max(p.c.v[at] + p.extra.v[at % 16], vec4(0));
#else
    p.c.v[at] = mix(vec4(0), p.c.v[at], greaterThan(p.extra.v[at], vec4(0)));
#endif
}
