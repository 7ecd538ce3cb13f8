#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Declares the capability Float16, for the test of what happens where it is not enabled.
#extension GL_GOOGLE_include_directive : enable
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#include "operands.glsl"

OPERAND(1, a)
OPERAND(2, b)
OPERAND(3, result)
ARGUMENTS(Floats a; Floats b; Floats result;, uint width; float scale_a; float scale_b;)

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= run_rows * push.width) return;
    AT(result, i) = float(float16_t(AT(a, i)) * float16_t(2.0));
}
