// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// `count` words from one buffer to another: what vkCmdCopyBuffer does, between kernels without a
// change of pipeline stages.  Code generation completes this text with its version, THREADS and ADDRESSES,
// which is 1 if operands come as addresses.

#if ADDRESSES
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(push_constant, std430) uniform Push {
    uvec2 from, to;
    uint count;
} push;
#define from_words Words(push.from)
#define to_words Words(push.to)
#else
layout(set = 0, binding = 0, std430) readonly buffer From { uint at[]; } from_words;
layout(set = 0, binding = 1, std430) writeonly buffer To { uint at[]; } to_words;
layout(push_constant, std430) uniform Push { uint count; } push;
#endif
layout(local_size_x = THREADS) in;

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < push.count) to_words.at[i] = from_words.at[i];
}
