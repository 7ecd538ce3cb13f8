// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Functions of f32 whose operands may be NaN, before those that are printed from
// compiler/kernel/decompositions.cpp (print_glsl_math()).

// As in NumPy, a NaN on either side wins.
float hearth_min(float a, float b) { return isnan(a) ? a : (isnan(b) ? b : min(a, b)); }
float hearth_max(float a, float b) { return isnan(a) ? a : (isnan(b) ? b : max(a, b)); }

float hearth_sign(float x) { return isnan(x) ? x : sign(x); }

uint hearth_high_product(uint a, uint b) {
    uint high, low;
    umulExtended(a, b, high, low);
    return high;
}
