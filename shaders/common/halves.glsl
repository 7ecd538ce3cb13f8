// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Floats of 16 bits in words of memory, for kernels on matrix cores: all devices that have some convert
// to nearest even, as the matrices' own conversions do.
//
//   hearth_convert_f16(x)     x as f16 has it
//   hearth_pack(low, high)    eight numbers as f16 in four words
//   hearth_pack(v)            the same of an array of eight
//   hearth_spread(halves, v)  sets an array of eight to what four words hold
//   hearth_spread(low, high, v)

float hearth_convert_f16(float x) {
    return float(float16_t(x));
}

uvec4 hearth_pack(vec4 low, vec4 high) {
    return uvec4(packHalf2x16(low.xy), packHalf2x16(low.zw), packHalf2x16(high.xy),
                 packHalf2x16(high.zw));
}
uvec4 hearth_pack(float v[8]) {
    return hearth_pack(vec4(v[0], v[1], v[2], v[3]), vec4(v[4], v[5], v[6], v[7]));
}

void hearth_spread(vec4 low, vec4 high, out float v[8]) {
    [[unroll]] for (int t = 0; t < 4; ++t) {
        v[t] = low[t];
        v[t + 4] = high[t];
    }
}
void hearth_spread(uvec4 halves, out float v[8]) {
    hearth_spread(vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y)),
                  vec4(unpackHalf2x16(halves.z), unpackHalf2x16(halves.w)), v);
}
