#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A kernel that reaches where it has no business: reads and writes `state` and `a` far from their
// ends, as a package of a stranger may.  result[i] = what it read; [rows, width] as add_row.comp.
#extension GL_GOOGLE_include_directive : enable
#include "operands.glsl"

OPERAND(1, a)
OPERAND(2, state)
OPERAND(3, result)
ARGUMENTS(Floats a; Floats state; Floats result;, uint width; uint reach; float value;)

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= run_rows * push.width) return;
    AT(state, i % push.width + push.reach) = push.value;
    AT(a, i + push.reach) = push.value;
    AT(result, i + run_rows * push.width + push.reach) = push.value;
    AT(result, i) = AT(state, i % push.width + push.reach) + AT(a, i + push.reach);
}
