// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Executes scalar operations on words of 32 or 64 bits with the semantics of kernels.

#include "compiler/ir/scalar_operation.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/op/at.hpp>

#include <bit>
#include <cmath>
#include <type_traits>

namespace hearth {

namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
T number(uint64_t bits) {
    return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}
template <class T>
uint64_t bits_of(T value) {
    return std::bit_cast<BitsOf<T>>(value);
}
template <class F>
uint64_t rounded(double value) {
    return bits_of(static_cast<F>(value));
}

template <class U, class I>
U power(U base, I exponent) {
    if (exponent < 0) {
        if (base == 1) return 1;
        return base != static_cast<U>(-1) ? 0 : (exponent & 1) == 0 ? 1 : base;
    }
    U result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if ((exponent & 1) != 0) result *= base;
    return result;
}

template <class F>
uint64_t unary_float(ScalarOp op, uint64_t bits) {
    const F a = number<F>(bits);
    const auto x = static_cast<double>(a);
    switch (op) {
        case ScalarOp::kNeg:
            return bits_of(-a);
        case ScalarOp::kAbs:
            return bits_of(std::fabs(a));
        case ScalarOp::kSign:
            return rounded<F>(sign(x));
        case ScalarOp::kFloor:
            return bits_of(std::floor(a));
        case ScalarOp::kCeil:
            return bits_of(std::ceil(a));
        case ScalarOp::kRound:
            return bits_of(std::nearbyint(a));
        case ScalarOp::kTrunc:
            return bits_of(std::trunc(a));
        case ScalarOp::kSqrt:
            return rounded<F>(std::sqrt(x));
        case ScalarOp::kRsqrt:
            return rounded<F>(rsqrt(x));
        case ScalarOp::kExp:
            return rounded<F>(std::exp(x));
        case ScalarOp::kLog:
            return rounded<F>(std::log(x));
        case ScalarOp::kSin:
            return rounded<F>(std::sin(x));
        case ScalarOp::kCos:
            return rounded<F>(std::cos(x));
        case ScalarOp::kTan:
            return rounded<F>(std::tan(x));
        case ScalarOp::kAsin:
            return rounded<F>(std::asin(x));
        case ScalarOp::kAcos:
            return rounded<F>(std::acos(x));
        case ScalarOp::kAtan:
            return rounded<F>(std::atan(x));
        case ScalarOp::kSinh:
            return rounded<F>(std::sinh(x));
        case ScalarOp::kCosh:
            return rounded<F>(std::cosh(x));
        case ScalarOp::kTanh:
            return rounded<F>(std::tanh(x));
        case ScalarOp::kAsinh:
            return rounded<F>(std::asinh(x));
        case ScalarOp::kAcosh:
            return rounded<F>(std::acosh(x));
        case ScalarOp::kAtanh:
            return rounded<F>(std::atanh(x));
        case ScalarOp::kErf:
            return rounded<F>(std::erf(x));
        case ScalarOp::kIsNan:
            return std::isnan(a);
        case ScalarOp::kIsInf:
            return std::isinf(a);
        case ScalarOp::kToF32:
            return rounded<float>(x);
        case ScalarOp::kToF64:
            return bits_of(x);
        case ScalarOp::kToI32:
            return bits_of(saturate_cast<int32_t>(x));
        case ScalarOp::kToU32:
            return saturate_cast<uint32_t>(x);
        case ScalarOp::kToI64:
            return bits_of(saturate_cast<int64_t>(x));
        case ScalarOp::kToU64:
            return saturate_cast<uint64_t>(x);
        case ScalarOp::kToBool:
            return a != 0;
        case ScalarOp::kRoundF16:
            return rounded<F>(half_to_float(float_to_half(x)));
        case ScalarOp::kRoundBF16:
            return rounded<F>(bfloat16_to_float(float_to_bfloat16(x)));
        default:
            return bits;  // reinterpreted
    }
}

/// I: the type with a sign, U: that without one; has_sign: which of them the operand has.
template <class I, class U>
uint64_t unary_integer(ScalarOp op, bool has_sign, uint64_t bits) {
    const U a = static_cast<U>(bits);
    const I whole = static_cast<I>(a);
    switch (op) {
        case ScalarOp::kNeg:
            return static_cast<U>(0 - a);
        case ScalarOp::kNot:
            return a == 0;
        case ScalarOp::kAbs:
            return has_sign && whole < 0 ? static_cast<U>(0 - a) : a;
        case ScalarOp::kSign:
            return has_sign ? static_cast<U>((whole > 0) - (whole < 0)) : a != 0;
        case ScalarOp::kToF32:
            return bits_of(has_sign ? static_cast<float>(whole) : static_cast<float>(a));
        case ScalarOp::kToF64:
            return bits_of(has_sign ? static_cast<double>(whole) : static_cast<double>(a));
        case ScalarOp::kToI32:
        case ScalarOp::kToU32:
            return static_cast<uint32_t>(a);
        case ScalarOp::kToI64:
        case ScalarOp::kToU64:
            return has_sign ? static_cast<uint64_t>(int64_t{whole}) : uint64_t{a};
        case ScalarOp::kToBool:
            return a != 0;
        case ScalarOp::kBitNot:
            return static_cast<U>(~a);
        case ScalarOp::kBitsToUniform:
            return rounded<float>(uniform_from_bits(static_cast<uint32_t>(a)));
        default:
            return a;  // reinterpreted
    }
}

template <class F>
uint64_t binary_float(ScalarOp op, F a, F b) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
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
            return rounded<F>(std::fmod(x, y));
        case ScalarOp::kPow:
            return rounded<F>(std::pow(x, y));
        case ScalarOp::kAtan2:
            return rounded<F>(std::atan2(x, y));
        case ScalarOp::kMin:
            return rounded<F>(min(x, y));
        case ScalarOp::kMax:
            return rounded<F>(max(x, y));
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

/// As unary_integer().  The smallest number by -1 is itself, with a remainder of 0.
template <class I, class U>
uint64_t binary_integer(ScalarOp op, bool has_sign, U a, U b) {
    const I x = static_cast<I>(a), y = static_cast<I>(b);
    const bool is_less = has_sign ? x < y : a < b;
    const bool negates = has_sign && y == -1;
    constexpr U kBits = 8 * sizeof(U);
    switch (op) {
        case ScalarOp::kAdd:
            return static_cast<U>(a + b);
        case ScalarOp::kSub:
            return static_cast<U>(a - b);
        case ScalarOp::kMul:
            return static_cast<U>(a * b);
        case ScalarOp::kDiv:
            if (b == 0) return 0;
            return negates ? static_cast<U>(0 - a) : has_sign ? static_cast<U>(x / y) : a / b;
        case ScalarOp::kMod:
            if (b == 0 || negates) return 0;
            return has_sign ? static_cast<U>(x % y) : a % b;
        case ScalarOp::kPow:
            return power(a, y);
        case ScalarOp::kMin:
            return is_less ? a : b;
        case ScalarOp::kMax:
            return is_less ? b : a;
        case ScalarOp::kLess:
            return is_less;
        case ScalarOp::kLessEqual:
            return is_less || a == b;
        case ScalarOp::kEqual:
            return a == b;
        case ScalarOp::kNotEqual:
        case ScalarOp::kXor:
            return a != b;
        case ScalarOp::kAnd:
        case ScalarOp::kBitAnd:
            return a & b;
        case ScalarOp::kOr:
        case ScalarOp::kBitOr:
            return a | b;
        case ScalarOp::kBitXor:
            return a ^ b;
        case ScalarOp::kShiftLeft:
            return b < kBits ? static_cast<U>(a << b) : 0;
        case ScalarOp::kShiftRight:
            if (b >= kBits) return 0;
            return has_sign ? static_cast<U>(x >> b) : a >> b;
        default:
            HEARTH_ASSERT(false && "no operation of integers");
            return 0;
    }
}

template <class F>
uint64_t operation_of_floats(ScalarOp op, const std::array<uint64_t, 3>& in) {
    if (is_unary(op)) return unary_float<F>(op, in[0]);
    return binary_float(op, number<F>(in[0]), number<F>(in[1]));
}

template <class I, class U>
uint64_t operation_of_integers(ScalarOp op, bool has_sign, const std::array<uint64_t, 3>& in) {
    if (is_unary(op)) return unary_integer<I, U>(op, has_sign, in[0]);
    return binary_integer<I, U>(op, has_sign, static_cast<U>(in[0]), static_cast<U>(in[1]));
}

}  // namespace

uint64_t bits_of(double value, ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return rounded<float>(value);
        case ScalarType::kF64:
            return bits_of(value);
        case ScalarType::kI64:
            return bits_of(saturate_cast<int64_t>(value));
        case ScalarType::kU64:
            return saturate_cast<uint64_t>(value);
        case ScalarType::kBool:
            return value != 0;
        default:
            return static_cast<uint32_t>(saturate_cast<int64_t>(value));
    }
}

double value_of(uint64_t bits, ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return static_cast<double>(number<float>(bits));
        case ScalarType::kF64:
            return number<double>(bits);
        case ScalarType::kI32:
            return number<int32_t>(bits);
        case ScalarType::kI64:
            return static_cast<double>(number<int64_t>(bits));
        default:
            return static_cast<double>(bits);
    }
}

uint64_t scalar_operation(ScalarOp op, ScalarType operand, std::array<uint64_t, 3> in) {
    if (op == ScalarOp::kSelect) return in[0] != 0 ? in[1] : in[2];
    if (operand == ScalarType::kF32) return operation_of_floats<float>(op, in);
    if (operand == ScalarType::kF64) return operation_of_floats<double>(op, in);
    const bool has_sign = operand == ScalarType::kI32 || operand == ScalarType::kI64;
    return is_wide(operand) ? operation_of_integers<int64_t, uint64_t>(op, has_sign, in)
                            : operation_of_integers<int32_t, uint32_t>(op, has_sign, in);
}

const char* name_of(ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return "f32";
        case ScalarType::kI32:
            return "i32";
        case ScalarType::kU32:
            return "u32";
        case ScalarType::kBool:
            return "bool";
        case ScalarType::kI64:
            return "i64";
        case ScalarType::kU64:
            return "u64";
        case ScalarType::kF64:
            return "f64";
    }
    return "";
}

}  // namespace hearth
