#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// out = a * scale_a + b * scale_b + bias, elementwise over [rows, width].
#extension GL_GOOGLE_include_directive : enable
#include "operands.glsl"
layout(constant_id = 7) const float kBias = 0.0;

OPERAND(1, a)
OPERAND(2, b)
OPERAND(3, result)
ARGUMENTS(Floats a; Floats b; Floats result;, uint width; float scale_a; float scale_b;)

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= run_rows * push.width) return;
    AT(result, i) = AT(a, i) * push.scale_a + AT(b, i) * push.scale_b + kBias;
}
