// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Elements that follow each other in memory, loaded as 16 bytes where they lie so: 4 of f32 as vec4,
// 8 of f16 as uvec4, 16 and 32 of packed integers with their scale.  4 of f16 are a uvec2.  Eight: of
// anything else.
// four_of(chunk, i) gives elements 4 i to 4 i + 3 as floats.

struct Eight {
    vec4 x, y;
};
struct Int8Chunk {
    uvec4 words;
    float scale;
};
struct Int4Chunk {
    uvec4 words;
    float scale;
};

vec4 four_of(vec4 chunk, int i) {
    return chunk;
}
vec4 four_of(uvec4 chunk, int i) {
    return vec4(unpackHalf2x16(chunk[2 * i]), unpackHalf2x16(chunk[2 * i + 1]));
}
vec4 four_of(uvec2 halves) {
    return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}
vec4 four_of(Eight chunk, int i) {
    return i == 0 ? chunk.x : chunk.y;
}

// As f16 has them; and so in memory.
vec4 hearth_rounded(vec4 v) {
    return vec4(hearth_round_f16(v.x), hearth_round_f16(v.y), hearth_round_f16(v.z),
                hearth_round_f16(v.w));
}
uvec2 hearth_halves(vec4 v) {
    const vec4 exact = hearth_rounded(v);
    return uvec2(packHalf2x16(exact.xy), packHalf2x16(exact.zw));
}

// Signed integers, from the lowest bits up (compiler/ops/records/packed.ops.cpp).  As the last bits of 2^23, with an
// offset that makes them positive, they need no conversion.
vec4 hearth_four_int8(uint word) {
    const uint w = word ^ 0x80808080u;
    return uintBitsToFloat((uvec4(w, w >> 8, w >> 16, w >> 24) & 0xffu) | 0x4b000000u) -
           (8388608.0 + 128.0);
}
vec4 hearth_four_int4(uint word, int half_of_word) {
    const uint w = (word >> (16 * half_of_word)) ^ 0x8888u;
    return uintBitsToFloat((uvec4(w, w >> 4, w >> 8, w >> 12) & 0xfu) | 0x4b000000u) -
           (8388608.0 + 8.0);
}
vec4 four_of(Int8Chunk chunk, int i) {
    return hearth_four_int8(chunk.words[i]) * chunk.scale;
}
vec4 four_of(Int4Chunk chunk, int i) {
    return hearth_four_int4(chunk.words[i / 2], i % 2) * chunk.scale;
}

#ifdef HEARTH_MATRIX_WORDS
// As they lie in memory in f16.  This conversion rounds to nearest even on every GPU we know of, and
// costs a tenth of hearth_round_f16.
uvec4 hearth_words(Eight e) {
    return uvec4(packFloat2x16(f16vec2(e.x.xy)), packFloat2x16(f16vec2(e.x.zw)),
                 packFloat2x16(f16vec2(e.y.xy)), packFloat2x16(f16vec2(e.y.zw)));
}
uvec4 hearth_words(uvec4 words) {
    return words;
}
#endif
