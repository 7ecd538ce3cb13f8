#version 450
#extension GL_EXT_buffer_reference : require
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// y = 1 - x, for [rows, 4]: the game's own shader.  Addresses come in the order inputs, outputs, run
// block; the first word of the run block is the number of live rows.

layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer F32 { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer U32 { uint at[]; };
layout(push_constant, std430) uniform Push { F32 x; F32 y; U32 run; } push;

void main() {
    const uint count = 4 * push.run.at[0];
    for (uint i = gl_GlobalInvocationID.x; i < count; i += 64 * gl_NumWorkGroups.x)
        push.y.at[i] = 1.0 - push.x.at[i];
}
