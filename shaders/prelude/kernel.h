/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define HEARTH_UNUSED __attribute__((unused))
#else
#define HEARTH_UNUSED
#endif
#define HEARTH_FUNCTION static inline HEARTH_UNUSED

HEARTH_FUNCTION float hearth_f32_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
HEARTH_FUNCTION uint32_t hearth_bits_of_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
HEARTH_FUNCTION double hearth_f64_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
HEARTH_FUNCTION uint64_t hearth_bits_of_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
/* Both are known: without a branch, which of data is often guessed wrong, and keeps compilers from making vectors. */
HEARTH_FUNCTION float hearth_select(bool is_first, float first, float second) {
    const uint32_t mask = 0u - (uint32_t)is_first;
    return hearth_f32_of_bits((hearth_bits_of_f32(first) & mask) |
                              (hearth_bits_of_f32(second) & ~mask));
}

/* NaN stays NaN. */
HEARTH_FUNCTION float hearth_min(float a, float b) {
    return b != b || b < a ? b : a;
}
HEARTH_FUNCTION float hearth_max(float a, float b) {
    return b != b || b > a ? b : a;
}
/* The same of a bound that is a number: without a branch, for which compilers would make one of each bound. */
HEARTH_FUNCTION float hearth_at_most(float a, float bound) {
    return hearth_select(bound < a, bound, a);
}
HEARTH_FUNCTION float hearth_at_least(float a, float bound) {
    return hearth_select(bound > a, bound, a);
}
HEARTH_FUNCTION float hearth_sign(float x) {
    return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
}
HEARTH_FUNCTION double hearth_min_f64(double a, double b) {
    return b != b || b < a ? b : a;
}
HEARTH_FUNCTION double hearth_max_f64(double a, double b) {
    return b != b || b > a ? b : a;
}
HEARTH_FUNCTION double hearth_sign_f64(double x) {
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
}
/* Without calls and branches, so that compilers make vectors of loops.  Coefficients: Moshier, Cephes (expf, tanhf). */
HEARTH_FUNCTION float hearth_exp(float x) {
    const uint32_t is_small = 0u - (uint32_t)(x < -104.0f), is_large = 0u - (uint32_t)(x > 89.0f);
    const uint32_t is_inside = ~(is_small | is_large); /* or NaN, which stays NaN */
    const float in = hearth_f32_of_bits(hearth_bits_of_f32(x) & is_inside);
    const float shifted =
        in * 1.44269504f + 12582912.0f; /* 1.5 * 2^23: its last bits are the nearest integer */
    const float n = shifted - 12582912.0f;
    const float r = in - n * 0.693359375f - n * -2.12194440e-4f;
    const float p = ((((1.9875691500e-4f * r + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r +
                      4.1665795894e-2f) *
                         r +
                     1.6666665459e-1f) *
                        r +
                    5.0000001201e-1f;
    /* Two factors, as 2^n itself may be subnormal. */
    const uint32_t exponent = hearth_bits_of_f32(shifted) - 0x4b400000u + 254u,
                   half = exponent >> 1;
    const float power = p * r * r + r + 1.0f;
    const float y =
        power * hearth_f32_of_bits(half << 23) * hearth_f32_of_bits((exponent - half) << 23);
    return hearth_f32_of_bits((hearth_bits_of_f32(y) & is_inside) | (is_large & 0x7f800000u));
}
HEARTH_FUNCTION float hearth_tanh(float x) {
    const uint32_t sign = hearth_bits_of_f32(x) & 0x80000000u;
    const float size = hearth_f32_of_bits(hearth_bits_of_f32(x) ^ sign), z = size * size;
    const float near_zero =
        ((((-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z +
          1.33314422036e-1f) *
             z -
         3.33332819422e-1f) *
            z * size +
        size;
    const float beyond = 1.0f - 2.0f / (hearth_exp(size + size) + 1.0f);
    const uint32_t is_near = 0u - (uint32_t)(size < 0.625f);
    const uint32_t bits =
        (hearth_bits_of_f32(near_zero) & is_near) | (hearth_bits_of_f32(beyond) & ~is_near);
    return hearth_f32_of_bits(bits | sign);
}
/* Near zero x + x P(x^2), beyond that 1 - exp(x Q(x)): both fitted to the least relative error. */
HEARTH_FUNCTION float hearth_erf(float x) {
    const uint32_t sign = hearth_bits_of_f32(x) & 0x80000000u;
    const float size = hearth_f32_of_bits(hearth_bits_of_f32(x) ^ sign), z = size * size;
    const float near_zero =
        (((((-5.99083665e-4f * z + 4.99317655e-3f) * z - 2.67666131e-2f) * z + 1.12818159e-1f) * z -
          3.76124948e-1f) *
             z +
         1.28379151e-1f) *
            size +
        size;
    const uint32_t is_one = 0u - (uint32_t)(size > 4.0f);
    const float far =
        hearth_f32_of_bits((hearth_bits_of_f32(size) & ~is_one) | (is_one & 0x40800000u));
    const float power =
        (((((((-4.79538539e-6f * far + 4.39095274e-5f) * far + 5.7767058e-5f) * far -
             2.95186439e-3f) *
                far +
            2.27078907e-2f) *
               far -
           1.05293475e-1f) *
              far -
          6.35610044e-1f) *
             far -
         1.12855494f) *
        far;
    const float beyond = 1.0f - hearth_exp(power);
    const uint32_t is_near = 0u - (uint32_t)(size < 0.921875f);
    const uint32_t bits =
        (hearth_bits_of_f32(near_zero) & is_near) | (hearth_bits_of_f32(beyond) & ~is_near);
    return hearth_f32_of_bits(bits | sign);
}

/* Integers of n bits.  Division by zero gives zero; it ends a program otherwise. */
#define HEARTH_INTEGERS(n)                                                                \
    HEARTH_FUNCTION int##n##_t hearth_min_i##n(int##n##_t a, int##n##_t b) {              \
        return a < b ? a : b;                                                             \
    }                                                                                     \
    HEARTH_FUNCTION int##n##_t hearth_max_i##n(int##n##_t a, int##n##_t b) {              \
        return a > b ? a : b;                                                             \
    }                                                                                     \
    HEARTH_FUNCTION int##n##_t hearth_sign_i##n(int##n##_t x) {                           \
        return (x > 0) - (x < 0);                                                         \
    }                                                                                     \
    HEARTH_FUNCTION int##n##_t hearth_abs_i##n(int##n##_t x) {                            \
        return x < 0 ? 0 - x : x;                                                         \
    }                                                                                     \
    HEARTH_FUNCTION int##n##_t hearth_div_i##n(int##n##_t a, int##n##_t b) {              \
        return b == 0 ? 0 : b == -1 ? 0 - a : a / b;                                      \
    }                                                                                     \
    HEARTH_FUNCTION int##n##_t hearth_mod_i##n(int##n##_t a, int##n##_t b) {              \
        return b == 0 || b == -1 ? 0 : a % b;                                             \
    }                                                                                     \
    HEARTH_FUNCTION int##n##_t hearth_shl_i##n(int##n##_t a, int##n##_t b) {              \
        return b >= 0 && b < n ? (int##n##_t)((uint##n##_t)a << b) : 0;                   \
    }                                                                                     \
    HEARTH_FUNCTION int##n##_t hearth_shr_i##n(int##n##_t a, int##n##_t b) {              \
        return b >= 0 && b < n ? a >> b : 0;                                              \
    }                                                                                     \
    HEARTH_FUNCTION uint##n##_t hearth_min_u##n(uint##n##_t a, uint##n##_t b) {           \
        return a < b ? a : b;                                                             \
    }                                                                                     \
    HEARTH_FUNCTION uint##n##_t hearth_max_u##n(uint##n##_t a, uint##n##_t b) {           \
        return a > b ? a : b;                                                             \
    }                                                                                     \
    HEARTH_FUNCTION uint##n##_t hearth_div_u##n(uint##n##_t a, uint##n##_t b) {           \
        return b == 0 ? 0 : a / b;                                                        \
    }                                                                                     \
    HEARTH_FUNCTION uint##n##_t hearth_mod_u##n(uint##n##_t a, uint##n##_t b) {           \
        return b == 0 ? 0 : a % b;                                                        \
    }                                                                                     \
    HEARTH_FUNCTION uint##n##_t hearth_shl_u##n(uint##n##_t a, uint##n##_t b) {           \
        return b < n ? a << b : 0;                                                        \
    }                                                                                     \
    HEARTH_FUNCTION uint##n##_t hearth_shr_u##n(uint##n##_t a, uint##n##_t b) {           \
        return b < n ? a >> b : 0;                                                        \
    }                                                                                     \
    HEARTH_FUNCTION uint##n##_t hearth_pow_u##n(uint##n##_t base, uint##n##_t exponent) { \
        uint##n##_t result = 1;                                                           \
        for (; exponent > 0; exponent >>= 1, base *= base)                                \
            if ((exponent & 1) != 0) result *= base;                                      \
        return result;                                                                    \
    }                                                                                     \
    HEARTH_FUNCTION int##n##_t hearth_pow_i##n(int##n##_t base, int##n##_t exponent) {    \
        if (exponent >= 0)                                                                \
            return (int##n##_t)hearth_pow_u##n((uint##n##_t)base, (uint##n##_t)exponent); \
        return base == 1 ? 1 : base != -1 ? 0 : (exponent & 1) == 0 ? 1 : -1;             \
    }
HEARTH_INTEGERS(32)
HEARTH_INTEGERS(64)

/* What an integer cannot hold becomes its nearest one, NaN zero. */
HEARTH_FUNCTION int32_t hearth_to_i32(float x) {
    if (x >= 2147483648.0f) return INT32_MAX;
    if (x > -2147483648.0f) return (int32_t)x;
    return x == x ? INT32_MIN : 0;
}
HEARTH_FUNCTION uint32_t hearth_to_u32(float x) {
    if (x >= 4294967296.0f) return UINT32_MAX;
    return x > 0 ? (uint32_t)x : 0;
}
HEARTH_FUNCTION int32_t hearth_i32_of_f64(double x) {
    if (x >= 2147483648.0) return INT32_MAX;
    if (x > -2147483649.0) return (int32_t)x;
    return x == x ? INT32_MIN : 0;
}
HEARTH_FUNCTION uint32_t hearth_u32_of_f64(double x) {
    if (x >= 4294967296.0) return UINT32_MAX;
    return x > 0 ? (uint32_t)x : 0;
}
HEARTH_FUNCTION int64_t hearth_i64_of_f64(double x) {
    if (x >= 9223372036854775808.0) return INT64_MAX;
    if (x > -9223372036854775808.0) return (int64_t)x;
    return x == x ? INT64_MIN : 0;
}
HEARTH_FUNCTION uint64_t hearth_u64_of_f64(double x) {
    if (x >= 18446744073709551616.0) return UINT64_MAX;
    return x > 0 ? (uint64_t)x : 0;
}

/* To the nearest, of two the even one. */
HEARTH_FUNCTION uint16_t hearth_bf16_of(float value) {
    const uint32_t bits = hearth_bits_of_f32(value);
    if (value != value) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
HEARTH_FUNCTION float hearth_of_bf16(uint16_t bits) {
    return hearth_f32_of_bits((uint32_t)bits << 16);
}
HEARTH_FUNCTION uint16_t hearth_f16_of(float value) {
    const uint32_t bits = hearth_bits_of_f32(value);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* rounds beyond 65504 */
    if (magnitude < 0x38800000u) /* below 2^-14: a multiple of 2^-24 */
        return (uint16_t)(sign | (uint16_t)nearbyintf(hearth_f32_of_bits(magnitude) * 16777216.0f));
    return (uint16_t)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}
HEARTH_FUNCTION float hearth_of_f16(uint16_t bits) {
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    float value;
    if (magnitude >= 0x7c00u)
        value = hearth_f32_of_bits(0x7f800000u | (magnitude & 0x3ffu) << 13);
    else if (magnitude < 0x400u)
        value = (float)magnitude * 5.9604644775390625e-8f;
    else
        value = hearth_f32_of_bits((magnitude << 13) + 0x38000000u);
    return hearth_f32_of_bits(hearth_bits_of_f32(value) | sign);
}
HEARTH_FUNCTION float hearth_round_bf16(float value) {
    return hearth_of_bf16(hearth_bf16_of(value));
}
HEARTH_FUNCTION float hearth_round_f16(float value) {
    return hearth_of_f16(hearth_f16_of(value));
}

/* Numbers side by side in a vector register; arrays where the compiler has no vectors. */
#if defined(__GNUC__)
#define HEARTH_LANES(n)                                               \
    typedef float hearth_f32x##n __attribute__((vector_size(4 * n))); \
    HEARTH_FUNCTION hearth_f32x##n hearth_fill_f32x##n(float a) {     \
        return a - (hearth_f32x##n){0};                               \
    }                                                                 \
    HEARTH_MEMORY_LANES(n)
#define HEARTH_PLAIN_MULTIPLY_ADD(n)                                                               \
    HEARTH_FUNCTION hearth_f32x##n hearth_multiply_add_f32x##n(hearth_f32x##n a, hearth_f32x##n b, \
                                                               hearth_f32x##n sum) {               \
        return sum + a * b;                                                                        \
    }
#else
#define HEARTH_LANES(n)                                           \
    typedef struct {                                              \
        float at[n];                                              \
    } hearth_f32x##n;                                             \
    HEARTH_FUNCTION hearth_f32x##n hearth_fill_f32x##n(float a) { \
        hearth_f32x##n lanes;                                     \
        for (int i = 0; i < n; ++i) lanes.at[i] = a;              \
        return lanes;                                             \
    }                                                             \
    HEARTH_MEMORY_LANES(n)
#define HEARTH_PLAIN_MULTIPLY_ADD(n)                                                               \
    HEARTH_FUNCTION hearth_f32x##n hearth_multiply_add_f32x##n(hearth_f32x##n a, hearth_f32x##n b, \
                                                               hearth_f32x##n sum) {               \
        for (int i = 0; i < n; ++i) sum.at[i] = sum.at[i] + a.at[i] * b.at[i];                     \
        return sum;                                                                                \
    }
#endif
#define HEARTH_FMA_LANES(n, registers, multiply_add)                                               \
    HEARTH_LANES(n)                                                                                \
    HEARTH_FUNCTION hearth_f32x##n hearth_multiply_add_f32x##n(hearth_f32x##n a, hearth_f32x##n b, \
                                                               hearth_f32x##n sum) {               \
        return (hearth_f32x##n)multiply_add((registers)a, (registers)b, (registers)sum);           \
    }
#define HEARTH_MEMORY_LANES(n)                                                   \
    HEARTH_FUNCTION hearth_f32x##n hearth_load_f32x##n(const float* from) {      \
        hearth_f32x##n lanes;                                                    \
        memcpy(&lanes, from, sizeof lanes);                                      \
        return lanes;                                                            \
    }                                                                            \
    HEARTH_FUNCTION void hearth_store_f32x##n(float* to, hearth_f32x##n lanes) { \
        memcpy(to, &lanes, sizeof lanes);                                        \
    }

HEARTH_FUNCTION float hearth_multiply_add(float a, float b, float sum) {
#if defined(__FMA__) || defined(__AVX2__) || defined(__aarch64__)
    return fmaf(a, b, sum);
#else
    return a * b + sum;
#endif
}

/* Two to four numbers. */
typedef struct {
    float at[4];
} hearth_four;
HEARTH_FUNCTION hearth_four hearth_four_of(float a, float b, float c, float d) {
    const hearth_four four = {{a, b, c, d}};
    return four;
}
HEARTH_FUNCTION hearth_four hearth_fill_four(float a) {
    return hearth_four_of(a, a, a, a);
}
HEARTH_FUNCTION hearth_four hearth_load_four(const float* from) {
    return hearth_four_of(from[0], from[1], from[2], from[3]);
}
HEARTH_FUNCTION hearth_four hearth_add_four(hearth_four a, hearth_four b) {
    for (int i = 0; i < 4; ++i) a.at[i] += b.at[i];
    return a;
}
HEARTH_FUNCTION hearth_four hearth_scale_four(hearth_four a, float factor) {
    for (int i = 0; i < 4; ++i) a.at[i] *= factor;
    return a;
}
HEARTH_FUNCTION hearth_four hearth_multiply_add_four(hearth_four a, hearth_four b,
                                                     hearth_four sum) {
    for (int i = 0; i < 4; ++i) sum.at[i] = hearth_multiply_add(a.at[i], b.at[i], sum.at[i]);
    return sum;
}
HEARTH_FUNCTION float hearth_dot(hearth_four a, hearth_four b) {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum = hearth_multiply_add(a.at[i], b.at[i], sum);
    return sum;
}

HEARTH_FUNCTION hearth_four hearth_round_four(hearth_four a) {
    for (int i = 0; i < 4; ++i) a.at[i] = hearth_round_f16(a.at[i]);
    return a;
}

/* Four words, or the eight f16 that they hold. */
typedef struct {
    uint32_t at[4];
} hearth_words;
HEARTH_FUNCTION hearth_words hearth_load_words(const void* from) {
    hearth_words words;
    memcpy(&words, from, sizeof words);
    return words;
}
HEARTH_FUNCTION hearth_four hearth_two_halves(uint32_t word) {
    return hearth_four_of(hearth_of_f16((uint16_t)word), hearth_of_f16((uint16_t)(word >> 16)),
                          0.0f, 0.0f);
}

HEARTH_FUNCTION float hearth_dot_halves(uint32_t a, uint32_t b, float sum) {
    const hearth_four first = hearth_two_halves(a), second = hearth_two_halves(b);
    for (int i = 0; i < 2; ++i) sum = hearth_multiply_add(first.at[i], second.at[i], sum);
    return sum;
}

/* Philox4x32-10: Salmon, Moraes, Dror and Shaw, 2011. */
HEARTH_FUNCTION uint32_t hearth_philox(uint32_t key0, uint32_t key1, uint32_t step,
                                       uint32_t element) {
    uint32_t c0 = element, c1 = step, c2 = 0, c3 = 0;
    for (int round = 0; round < 10; ++round) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ key0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ key1;
        c3 = (uint32_t)p0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return c0;
}
