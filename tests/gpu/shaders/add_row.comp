#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// result[row] = a[row] + state, over [rows, width].
#extension GL_GOOGLE_include_directive : enable
#include "operands.glsl"

OPERAND(1, a)
OPERAND(2, state)
OPERAND(3, result)
ARGUMENTS(Floats a; Floats state; Floats result;, uint width;)

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= run_rows * push.width) return;
    AT(result, i) = AT(a, i) + AT(state, i % push.width);
}
