// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Integers of 64 bits: conversions of floats saturate, NaN becomes zero; powers are C's.

// Mesa 22.3's lavapipe finds no sign-extended int to be less than a constant; it does not recognize
// these words as one.
int64_t hearth_widen(int x) { return int64_t(packInt2x32(ivec2(x, x >> 31))); }
int64_t hearth_widen(uint x) { return int64_t(x); }
int64_t hearth_widen(bool x) { return int64_t(x); }
int64_t hearth_widen(int64_t x) { return x; }
int64_t hearth_widen(uint64_t x) { return int64_t(x); }

int64_t hearth_to_int64(float x) {
    return x >= 9223372036854775808.0 ? 9223372036854775807l
           : x > -9223372036854775808.0 ? int64_t(x)
                                        : (isnan(x) ? 0l : -9223372036854775807l - 1l);
}
uint64_t hearth_to_uint64(float x) {
    return x >= 18446744073709551616.0 ? 18446744073709551615ul : (x > 0.0 ? uint64_t(x) : 0ul);
}
uint64_t hearth_ipow(uint64_t x, uint64_t y) {
    uint64_t result = 1ul;
    for (; y > 0ul; y >>= 1) {
        if ((y & 1ul) != 0ul) result *= x;
        x *= x;
    }
    return result;
}
int64_t hearth_ipow(int64_t x, int64_t y) {
    if (y < 0l) return x == 1l ? 1l : (x == -1l ? ((y & 1l) == 0l ? 1l : -1l) : 0l);
    return int64_t(hearth_ipow(uint64_t(x), uint64_t(y)));
}
