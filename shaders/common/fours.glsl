// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Fours of floats, and as f16 in memory.
vec4 hearth_four(uvec2 halves) {
    return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}
vec4 hearth_rounded(vec4 v) {
    return vec4(hearth_round_f16(v.x), hearth_round_f16(v.y), hearth_round_f16(v.z),
                hearth_round_f16(v.w));
}
uvec2 hearth_halves(vec4 v) {
    const vec4 exact = hearth_rounded(v);
    return uvec2(packHalf2x16(exact.xy), packHalf2x16(exact.zw));
}
