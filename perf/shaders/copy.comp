// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// to[i] = from[i] for `count` vectors: the memory roof. Neighbouring threads take neighbouring
// vectors. Bytes moved: 32 * count.
#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vectors { vec4 at[]; };
layout(push_constant, std430) uniform Push {
    Vectors from, to;
    uint count;
    float unused;
} push;

void main() {
    const uint stride = gl_NumWorkGroups.x * 256;
    for (uint i = gl_GlobalInvocationID.x; i < push.count; i += stride)
        push.to.at[i] = push.from.at[i];
}
