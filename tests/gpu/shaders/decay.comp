#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// state = state / 2 + rate * (sum of a over rows), for each of width columns.  Order matters: running
// it twice, or out of order with its producer, gives another result.
#extension GL_GOOGLE_include_directive : enable
#include "operands.glsl"

OPERAND(1, a)
OPERAND(2, rate)
OPERAND(3, state)
ARGUMENTS(Floats a; Floats rate; Floats state;, uint width;)

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= push.width) return;
    float sum = 0.0;
    for (uint row = 0; row < run_rows; ++row) sum += AT(a, row * push.width + i);
    AT(state, i) = AT(state, i) * 0.5 + AT(rate, 0) * sum;
}
