// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The nearest float to a / b.  Vulkan lets division be 2.5 units in the last place off; what is left of a, divided again,
// mends that (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990).
float hearth_divide(float a, float b) {
    precise float quotient = a / b;
    precise float rest = fma(-quotient, b, a);
    precise float exact = quotient + rest / b;
    // Zeros, infinities and NaN come out of the plain division as they should.
    return rest != 0.0 && abs(rest) <= 3.0e38 ? exact : quotient;
}
vec4 hearth_divide(vec4 a, vec4 b) {
    return vec4(hearth_divide(a.x, b.x), hearth_divide(a.y, b.y), hearth_divide(a.z, b.z),
                hearth_divide(a.w, b.w));
}
