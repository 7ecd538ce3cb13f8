// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// f32 functions that GLSL lacks, or that Vulkan leaves too inexact to compare with a reference
// (sin and cos may be off by 2^-11, atan by 4096 ulp).  Minimax polynomials: Cephes Mathematical
// Library (Moshier), single precision, where nothing else is said.  Products and sums that may be one operation say so
// (fma): described kernels forbid the driver to choose.

float hearth_tanh(float x) {
    float a = abs(x);
    if (a < 0.625) {
        float z = x * x;
        float p = fma(fma(-5.70498872745e-3, z, 2.06390887954e-2), z, -5.37397155531e-2);
        p = fma(fma(p, z, 1.33314422036e-1), z, -3.33332819422e-1);
        return fma(p * z, x, x);
    }
    // exp overflows beyond 88; tanh is 1 to the last bit from 9 on.
    float y = 1.0 - 2.0 / (exp(2.0 * min(a, 20.0)) + 1.0);
    return isnan(x) ? x : (x < 0.0 ? -y : y);
}

// The same as hearth_reduce for any finite x beyond 2^-7: x times the bits of 2 / pi that matter to
// the product modulo 4 (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).
float hearth_reduce_far(float x, out int quadrant) {
    // A word of zeros, then 2 / pi after the binary point.
    const uint two_over_pi[8] = uint[](0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                       0xdb629599u, 0x3c439041u, 0xfe5163abu);
    const uint bits = floatBitsToUint(abs(x));
    const uint mantissa = (bits & 0x7fffffu) | 0x800000u;
    // Of the product's bits, those from the place of 2 on: 96 bits of 2 / pi make 94 after the point.
    const uint start = (bits >> 23) - 120u;
    const uint word = start >> 5, shift = start & 31u;
    uint w[3];
    for (uint i = 0u; i < 3u; ++i) {
        const uint next = shift == 0u ? 0u : two_over_pi[word + i + 1u] >> (32u - shift);
        w[i] = two_over_pi[word + i] << shift | next;
    }
    uint low, middle, carry_low, carry_middle, carry;
    umulExtended(mantissa, w[2], carry_low, low);
    umulExtended(mantissa, w[1], carry_middle, middle);
    middle = uaddCarry(middle, carry_low, carry);
    const uint high = mantissa * w[0] + carry_middle + carry;
    // 64 bits after the point, as a number in [-1/2, 1/2).
    uint a = high << 2 | middle >> 30, b = middle << 2 | low >> 30;
    const bool is_above = a >= 0x80000000u;
    if (is_above) {
        b = ~b + 1u;
        a = ~a + (b == 0u ? 1u : 0u);
    }
    const float turn = float(a) * 2.3283064365386963e-10 + float(b) * 5.421010862427522e-20;
    const float r = (is_above ? -turn : turn) * 1.5707963267948966;
    const int q = int(high >> 30) + (is_above ? 1 : 0);
    quadrant = (x < 0.0 ? -q : q) & 3;
    return x < 0.0 ? -r : r;
}
// x reduced to [-pi/4, pi/4] and the quadrant, with pi/2 in three parts (Cody and Waite), whose
// products with j are exact up to here.
float hearth_reduce(float x, out int quadrant) {
    if (abs(x) > 8192.0 && !isinf(x)) return hearth_reduce_far(x, quadrant);
    float j = roundEven(x * 0.636619772367581343);
    quadrant = int(j) & 3;
    precise float r = x - j * 1.5703125;
    r = r - j * 4.837512969970703125e-4;
    r = r - j * 7.549789948768648e-8;
    return r;
}
float hearth_sin_kernel(float r) {
    float z = r * r;
    float p = fma(fma(-1.9515295891e-4, z, 8.3321608736e-3), z, -1.6666654611e-1);
    return fma(p * z, r, r);
}
float hearth_cos_kernel(float r) {
    float z = r * r;
    float p = fma(fma(2.443315711809948e-5, z, -1.388731625493765e-3), z, 4.166664568298827e-2);
    return fma(p * z, z, fma(-0.5, z, 1.0));
}
float hearth_sin(float x) {
    int q;
    float r = hearth_reduce(x, q);
    float y = (q & 1) == 0 ? hearth_sin_kernel(r) : hearth_cos_kernel(r);
    return (q & 2) == 0 ? y : -y;
}
float hearth_cos(float x) {
    int q;
    float r = hearth_reduce(x, q);
    float y = (q & 1) == 0 ? hearth_cos_kernel(r) : hearth_sin_kernel(r);
    return q == 1 || q == 2 ? -y : y;
}
float hearth_tan(float x) { return hearth_sin(x) / hearth_cos(x); }

float hearth_atan(float x) {
    float a = abs(x);
    float base = 0.0;
    if (a > 2.414213562373095) {
        base = 1.5707963267948966;
        a = -1.0 / a;
    } else if (a > 0.4142135623730950) {
        base = 0.7853981633974483;
        a = (a - 1.0) / (a + 1.0);
    }
    float z = a * a;
    float p = fma(fma(8.05374449538e-2, z, -1.38776856032e-1), z, 1.99777106478e-1);
    p = fma(p, z, -3.33329491539e-1);
    float y = base + fma(p * z, a, a);
    return isnan(x) ? x : (x < 0.0 ? -y : y);
}
float hearth_atan2(float y, float x) {
    const float pi = 3.14159265358979;
    if (x == 0.0 && y == 0.0) return floatBitsToInt(x) < 0 ? (floatBitsToInt(y) < 0 ? -pi : pi) : y;
    if (isinf(x) && isinf(y)) {
        float a = x > 0.0 ? 0.25 * pi : 0.75 * pi;
        return y < 0.0 ? -a : a;
    }
    if (x == 0.0) return y > 0.0 ? 0.5 * pi : -0.5 * pi;
    float a = hearth_atan(y / x);
    if (x > 0.0) return a;
    return floatBitsToInt(y) < 0 ? a - pi : a + pi;
}
float hearth_asin(float x) {
    float a = abs(x);
    bool far = a > 0.5;
    float z = far ? 0.5 * (1.0 - a) : a * a;
    float s = far ? sqrt(z) : a;
    float p = fma(fma(4.2163199048e-2, z, 2.4181311049e-2), z, 4.5470025998e-2);
    p = fma(fma(p, z, 7.4953002686e-2), z, 1.6666752422e-1);
    float y = fma(p * z, s, s);
    if (far) y = 1.5707963267948966 - 2.0 * y;
    return x < 0.0 ? -y : y;
}
float hearth_acos(float x) {
    if (x > 0.5) return 2.0 * hearth_asin(sqrt(0.5 * (1.0 - x)));
    if (x < -0.5) return 3.14159265358979 - 2.0 * hearth_asin(sqrt(0.5 * (1.0 + x)));
    return 1.5707963267948966 - hearth_asin(x);
}

float hearth_sinh(float x) {
    float a = abs(x);
    if (a < 1.0) {
        float z = x * x;
        float p = fma(fma(2.03721912945e-4, z, 8.33028376239e-3), z, 1.66667160211e-1);
        return fma(p * z, x, x);
    }
    // exp(a) / 2 as a product, so that it overflows no earlier than the result does.
    float h = exp(0.5 * a);
    float y = 0.5 * h * h - 0.5 / (h * h);
    return x < 0.0 ? -y : y;
}
float hearth_cosh(float x) {
    float h = exp(0.5 * abs(x));
    return 0.5 * h * h + 0.5 / (h * h);
}
// log(1 + x) without losing small x (Kahan's correction).
float hearth_log1p(float x) {
    precise float u = 1.0 + x;
    precise float d = u - 1.0;
    return d == 0.0 ? x : log(u) * (x / d);
}
float hearth_asinh(float x) {
    float a = abs(x);
    float y = a > 1.0e4 ? log(a) + 0.6931471805599453
                        : hearth_log1p(a + a * a / (1.0 + sqrt(1.0 + a * a)));
    return x < 0.0 ? -y : y;
}
float hearth_acosh(float x) {
    if (x > 1.0e4) return log(x) + 0.6931471805599453;
    float t = x - 1.0;
    return hearth_log1p(t + sqrt(2.0 * t + t * t));
}
float hearth_atanh(float x) {
    float a = abs(x);
    float y = a == 1.0 ? uintBitsToFloat(0x7f800000u) : 0.5 * hearth_log1p(2.0 * a / (1.0 - a));
    return x < 0.0 ? -y : y;
}

// Below 0.95 x + x P(x^2), beyond 1 - 2^Q(|x|): P and Q interpolate at Chebyshev's nodes and are
// within 2.3e-8 of x and 2.2e-8 of the exponent.  Both are worked out: less than a branch costs.
float hearth_erf(float x) {
    float s = x * x;
    float near = fma(fma(fma(-0.0005876505632, s, 0.004970797457), s, -0.02675150035), s, 0.112814073);
    near = fma(fma(near, s, -0.3761245598), s, 0.1283791442);
    near = fma(near, x, x);
    float z = min(abs(x), 3.95);  // from here on it is 1 to the last bit
    float q = fma(fma(fma(2.396850269e-6, z, -6.710616827e-5), z, 0.0008662784073), z, -0.006889976979);
    q = fma(fma(fma(q, z, 0.03817995428), z, -0.1589144875), z, -0.9114312112);
    q = fma(fma(q, z, -1.63063669), z, 0.000474136794);
    float far = 1.0 - exp2(q);
    return abs(x) > 0.95 ? (x < 0.0 ? -far : far) : near;
}

// GLSL leaves pow undefined for a negative base and for 0 to the 0.
float hearth_pow(float x, float y) {
    if (y == 0.0 || x == 1.0) return 1.0;
    if (y == 2.0) return x * x;
    if (y == 1.0) return x;
    if (x == 0.0) {
        bool odd = mod(y, 2.0) == 1.0;
        if (y > 0.0) return odd ? x : 0.0;
        float infinity = uintBitsToFloat(0x7f800000u);
        return odd && floatBitsToInt(x) < 0 ? -infinity : infinity;
    }
    float p = pow(abs(x), y);
    if (x > 0.0) return p;
    if (isnan(x) || isnan(y)) return x + y;
    if (floor(y) != y && !isinf(y)) return uintBitsToFloat(0x7fc00000u);
    return mod(abs(y), 2.0) == 1.0 ? -p : p;
}

// As in NumPy, a NaN on either side wins.
float hearth_min(float a, float b) { return isnan(a) ? a : (isnan(b) ? b : min(a, b)); }
float hearth_max(float a, float b) { return isnan(a) ? a : (isnan(b) ? b : max(a, b)); }

float hearth_sign(float x) { return isnan(x) ? x : sign(x); }

// Without the fraction; what the type does not hold becomes its nearest number, NaN zero.  int() and
// uint() leave that undefined.  As saturate_cast on the CPU.
int hearth_to_int(float x) {
    return x >= 2147483648.0 ? 0x7fffffff
                             : (x > -2147483648.0 ? int(x) : (isnan(x) ? 0 : int(0x80000000u)));
}
uint hearth_to_uint(float x) {
    return x >= 4294967296.0 ? 0xffffffffu : (x > 0.0 ? uint(x) : 0u);
}

// C's remainder, exact: the sign is the dividend's.  A quotient from a GPU's division may be a unit off, and that of
// two whole numbers then gives b instead of 0; so the fractions are divided as integers, eight bits at a time.
float hearth_fmod(float a, float b) {
    uint x = floatBitsToUint(a) & 0x7fffffffu;
    uint y = floatBitsToUint(b) & 0x7fffffffu;
    if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) return uintBitsToFloat(0x7fc00000u);
    if (x < y) return a;
    // a = fraction_x * 2^(exponent_x - 150), and b alike; below 1 as they are, without the leading bit.
    uint exponent_x = max(x >> 23, 1u);
    uint exponent_y = max(y >> 23, 1u);
    uint fraction_y = (y & 0x7fffffu) | ((y >> 23) != 0u ? 0x800000u : 0u);
    uint rest = ((x & 0x7fffffu) | ((x >> 23) != 0u ? 0x800000u : 0u)) % fraction_y;
    for (uint left = exponent_x - exponent_y; left > 0u && rest > 0u;) {
        uint bits = min(left, 8u);
        rest = (rest << bits) % fraction_y;
        left -= bits;
    }
    uint sign_bit = floatBitsToUint(a) & 0x80000000u;
    if (rest == 0u) return uintBitsToFloat(sign_bit);
    uint shift = min(uint(23 - findMSB(rest)), exponent_y - 1u);
    rest <<= shift;
    uint exponent = (rest & 0x800000u) != 0u ? exponent_y - shift : 0u;
    return uintBitsToFloat(sign_bit | (exponent << 23) | (rest & 0x7fffffu));
}

int hearth_ipow(int x, int y) {
    if (y < 0) return x == 1 ? 1 : (x == -1 ? ((y & 1) == 0 ? 1 : -1) : 0);
    int result = 1;
    for (; y > 0; y >>= 1) {
        if ((y & 1) != 0) result *= x;
        x *= x;
    }
    return result;
}
