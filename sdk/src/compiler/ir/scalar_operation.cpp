// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Executes scalar operations on 32-bit words with the semantics of kernels.

#include "compiler/ir/scalar_operation.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/op/at.hpp>

#include <bit>
#include <cmath>

namespace hearth {

namespace {

float f32(uint32_t bits) {
    return std::bit_cast<float>(bits);
}
uint32_t bits_of(float value) {
    return std::bit_cast<uint32_t>(value);
}
uint32_t rounded(double value) {
    return bits_of(static_cast<float>(value));
}

uint32_t power(uint32_t base, int32_t exponent) {
    if (exponent < 0) {
        if (base == 1) return 1;
        return base != 0xffffffffu ? 0 : (exponent & 1) == 0 ? 1 : base;
    }
    uint32_t result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if ((exponent & 1) != 0) result *= base;
    return result;
}

uint32_t unary_float(ScalarOp op, uint32_t bits) {
    const float a = f32(bits);
    const double x = static_cast<double>(a);
    switch (op) {
        case ScalarOp::kNeg:
            return bits ^ 0x80000000u;
        case ScalarOp::kAbs:
            return bits & 0x7fffffffu;
        case ScalarOp::kSign:
            return rounded(sign(x));
        case ScalarOp::kFloor:
            return bits_of(std::floor(a));
        case ScalarOp::kCeil:
            return bits_of(std::ceil(a));
        case ScalarOp::kRound:
            return bits_of(std::nearbyint(a));
        case ScalarOp::kTrunc:
            return bits_of(std::trunc(a));
        case ScalarOp::kSqrt:
            return rounded(std::sqrt(x));
        case ScalarOp::kRsqrt:
            return rounded(rsqrt(x));
        case ScalarOp::kExp:
            return rounded(std::exp(x));
        case ScalarOp::kLog:
            return rounded(std::log(x));
        case ScalarOp::kSin:
            return rounded(std::sin(x));
        case ScalarOp::kCos:
            return rounded(std::cos(x));
        case ScalarOp::kTan:
            return rounded(std::tan(x));
        case ScalarOp::kAsin:
            return rounded(std::asin(x));
        case ScalarOp::kAcos:
            return rounded(std::acos(x));
        case ScalarOp::kAtan:
            return rounded(std::atan(x));
        case ScalarOp::kSinh:
            return rounded(std::sinh(x));
        case ScalarOp::kCosh:
            return rounded(std::cosh(x));
        case ScalarOp::kTanh:
            return rounded(std::tanh(x));
        case ScalarOp::kAsinh:
            return rounded(std::asinh(x));
        case ScalarOp::kAcosh:
            return rounded(std::acosh(x));
        case ScalarOp::kAtanh:
            return rounded(std::atanh(x));
        case ScalarOp::kErf:
            return rounded(std::erf(x));
        case ScalarOp::kIsNan:
            return std::isnan(a);
        case ScalarOp::kIsInf:
            return std::isinf(a);
        case ScalarOp::kToI32:
            return static_cast<uint32_t>(saturate_cast<int32_t>(x));
        case ScalarOp::kToU32:
            return saturate_cast<uint32_t>(x);
        case ScalarOp::kToBool:
            return a != 0;
        case ScalarOp::kRoundF16:
            return rounded(half_to_float(float_to_half(x)));
        case ScalarOp::kRoundBF16:
            return rounded(bfloat16_to_float(float_to_bfloat16(x)));
        default:
            return bits;  // reinterpreted
    }
}

uint32_t unary_integer(ScalarOp op, ScalarType type, uint32_t a) {
    const auto whole = static_cast<int32_t>(a);
    const bool has_sign = type == ScalarType::kI32;
    switch (op) {
        case ScalarOp::kNeg:
            return 0u - a;
        case ScalarOp::kNot:
            return a == 0;
        case ScalarOp::kAbs:
            return has_sign && whole < 0 ? 0u - a : a;
        case ScalarOp::kSign:
            return has_sign ? static_cast<uint32_t>((whole > 0) - (whole < 0)) : a != 0;
        case ScalarOp::kToF32:
            return has_sign ? bits_of(static_cast<float>(whole)) : bits_of(static_cast<float>(a));
        case ScalarOp::kToBool:
            return a != 0;
        case ScalarOp::kBitNot:
            return ~a;
        case ScalarOp::kBitsToUniform:
            return rounded(uniform_from_bits(a));
        default:
            return a;  // reinterpreted
    }
}

uint32_t binary_float(ScalarOp op, float a, float b) {
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    switch (op) {
        case ScalarOp::kAdd:
            return bits_of(a + b);
        case ScalarOp::kSub:
            return bits_of(a - b);
        case ScalarOp::kMul:
            return bits_of(a * b);
        case ScalarOp::kDiv:
            return bits_of(a / b);
        case ScalarOp::kMod:
            return rounded(std::fmod(x, y));
        case ScalarOp::kPow:
            return rounded(std::pow(x, y));
        case ScalarOp::kAtan2:
            return rounded(std::atan2(x, y));
        case ScalarOp::kMin:
            return rounded(min(x, y));
        case ScalarOp::kMax:
            return rounded(max(x, y));
        case ScalarOp::kLess:
            return a < b;
        case ScalarOp::kLessEqual:
            return a <= b;
        case ScalarOp::kEqual:
            return a == b;
        case ScalarOp::kNotEqual:
            return a != b;
        default:
            HEARTH_ASSERT(false && "no operation of floats");
            return 0;
    }
}

uint32_t binary_integer(ScalarOp op, bool has_sign, uint32_t a, uint32_t b) {
    // Widened, so that signed and unsigned types share the code below.
    const int64_t x = has_sign ? static_cast<int32_t>(a) : int64_t{a};
    const int64_t y = has_sign ? static_cast<int32_t>(b) : int64_t{b};
    switch (op) {
        case ScalarOp::kAdd:
            return a + b;
        case ScalarOp::kSub:
            return a - b;
        case ScalarOp::kMul:
            return a * b;
        case ScalarOp::kDiv:
            return y == 0 ? 0 : static_cast<uint32_t>(x / y);
        case ScalarOp::kMod:
            return y == 0 ? 0 : static_cast<uint32_t>(x % y);
        case ScalarOp::kPow:
            return power(a, static_cast<int32_t>(b));
        case ScalarOp::kMin:
            return x < y ? a : b;
        case ScalarOp::kMax:
            return x > y ? a : b;
        case ScalarOp::kLess:
            return x < y;
        case ScalarOp::kLessEqual:
            return x <= y;
        case ScalarOp::kEqual:
            return a == b;
        case ScalarOp::kNotEqual:
        case ScalarOp::kXor:
            return a != b;
        case ScalarOp::kAnd:
            return a & b;
        case ScalarOp::kOr:
            return a | b;
        case ScalarOp::kBitAnd:
            return a & b;
        case ScalarOp::kBitOr:
            return a | b;
        case ScalarOp::kBitXor:
            return a ^ b;
        case ScalarOp::kShiftLeft:
            return b < 32 ? a << b : 0;
        case ScalarOp::kShiftRight:
            return b < 32 ? static_cast<uint32_t>(x >> b) : 0;
        default:
            HEARTH_ASSERT(false && "no operation of integers");
            return 0;
    }
}

}  // namespace

uint32_t scalar_operation(ScalarOp op, ScalarType operand, std::array<uint32_t, 3> in) {
    if (op == ScalarOp::kSelect) return in[0] != 0 ? in[1] : in[2];
    const bool is_float = operand == ScalarType::kF32;
    if (op >= ScalarOp::kNeg && op <= ScalarOp::kBitsToUniform)
        return is_float ? unary_float(op, in[0]) : unary_integer(op, operand, in[0]);
    if (is_float) return binary_float(op, f32(in[0]), f32(in[1]));
    return binary_integer(op, operand == ScalarType::kI32, in[0], in[1]);
}

}  // namespace hearth
