#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// y = a * x + y in either binding model.
// Defines: ELEM (float or vec4), ADDRESSES (1 device addresses, 0 descriptors).

#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = 256) in;

#if ADDRESSES
layout(buffer_reference, std430, buffer_reference_align = ALIGN) readonly restrict buffer Source {
    ELEM v[];
};
layout(buffer_reference, std430, buffer_reference_align = ALIGN) restrict buffer Target {
    ELEM v[];
};
layout(push_constant) uniform Push {
    Source x;
    Target y;
    uint count;
    float a;
} p;
#define X p.x.v
#define Y p.y.v
#else
layout(set = 0, binding = 0) readonly restrict buffer BufferX { ELEM v[]; } buffer_x;
layout(set = 0, binding = 1) restrict buffer BufferY { ELEM v[]; } buffer_y;
layout(push_constant) uniform Push {
    uint count;
    float a;
} p;
#define X buffer_x.v
#define Y buffer_y.v
#endif

void main() {
    const uint at = gl_GlobalInvocationID.x;
    if (at < p.count) Y[at] = p.a * X[at] + Y[at];
}
