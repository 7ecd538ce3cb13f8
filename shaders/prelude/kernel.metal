// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What kernels in MSL use beside Metal's own functions.

#include <metal_stdlib>
using namespace metal;

struct Run {
    int rows, workgroups;
};

inline bool hearth_is_nan(float x) {
    return (as_type<uint>(x) & 0x7fffffffu) > 0x7f800000u;
}
inline bool hearth_is_inf(float x) {
    return (as_type<uint>(x) & 0x7fffffffu) == 0x7f800000u;
}

inline float hearth_min(float a, float b) {
    return hearth_is_nan(a) || a < b ? a : b;
}
inline float hearth_max(float a, float b) {
    return hearth_is_nan(a) || a > b ? a : b;
}
template <typename T>
inline T hearth_min(T a, T b) {
    return a < b ? a : b;
}
template <typename T>
inline T hearth_max(T a, T b) {
    return a < b ? b : a;
}
inline float hearth_sign(float x) {
    return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
}
template <typename T>
inline T hearth_sign(T x) {
    return T(x > T(0)) - T(x < T(0));
}

// Division by zero, and shifts by a type's bits or more, give zero.
template <typename T>
inline T hearth_div(T a, T b) {
    return b == T(0) ? T(0) : b == T(-1) && T(-1) < T(0) ? T(0) - a : a / b;
}
template <typename T>
inline T hearth_mod(T a, T b) {
    return b == T(0) || (b == T(-1) && T(-1) < T(0)) ? T(0) : a % b;
}
template <typename T, typename B>
inline T hearth_shift_left(T a, B bits) {
    return bits >= B(0) && bits < B(8 * sizeof(T)) ? a << bits : T(0);
}
template <typename T, typename B>
inline T hearth_shift_right(T a, B bits) {
    return bits >= B(0) && bits < B(8 * sizeof(T)) ? a >> bits : T(0);
}

inline float2 hearth_two_halves(uint word) {
    return float2(float(as_type<half>(ushort(word))), float(as_type<half>(ushort(word >> 16))));
}

inline float hearth_dot_halves(uint a, uint b, float sum) {
    const float2 first = hearth_two_halves(a), second = hearth_two_halves(b);
    return fma(first[1], second[1], fma(first[0], second[0], sum));
}

// Philox4x32-10: Salmon, Moraes, Dror and Shaw, 2011.
inline uint hearth_philox(uint key0, uint key1, uint step, uint element) {
    uint4 c(element, step, 0u, 0u);
    for (int round = 0; round < 10; ++round) {
        const uint high0 = mulhi(0xd2511f53u, c[0]), low0 = 0xd2511f53u * c[0];
        const uint high1 = mulhi(0xcd9e8d57u, c[2]), low1 = 0xcd9e8d57u * c[2];
        c = uint4(high1 ^ c[1] ^ key0, low1, high0 ^ c[3] ^ key1, low0);
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    return c[0];
}
