// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// `count` rounds of sixteen independent multiply-adds in registers: the arithmetic roof.
// Flops: 32 * count for each thread.
#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Vectors { vec4 at[]; };
layout(push_constant, std430) uniform Push {
    Vectors from, to;
    uint count;
    float factor;
} push;

void main() {
    // One operand is a push constant: three registers to read would slow some GPUs down. The other
    // comes from memory, so that nothing can be computed ahead of time.
    const vec4 addend = push.from.at[0];
    vec4 a = vec4(gl_LocalInvocationID.x), b = a + 0.25, c = a + 0.5, d = a + 0.75;
    for (uint i = 0; i < push.count; ++i) {
        a = a * push.factor + addend;
        b = b * push.factor + addend;
        c = c * push.factor + addend;
        d = d * push.factor + addend;
    }
    const vec4 sum = a + b + c + d;
    // Never true, which the compiler cannot know.
    if (sum.x == -1.0) push.to.at[gl_GlobalInvocationID.x] = sum;
}
