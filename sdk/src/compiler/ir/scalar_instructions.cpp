// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ir/scalar_instructions.hpp"

#include <hearth/core/convert.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/op/at.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>

namespace hearth {

namespace {

using Op = ScalarOp;
using Takes = ScalarSignature;
using Type = ScalarType;
using Integer = IntegerOperand;

/// A function of one float that the standard library has for doubles.
template <double (*F)(double)>
double of_one(double a, double /*b*/) {
    return F(a);
}
template <double (*F)(double, double)>
double of_two(double a, double b) {
    return F(a, b);
}

uint64_t integer_power(Integer base, Integer exponent) {
    uint64_t left = exponent.bits, factor = base.bits, result = 1;
    if (exponent.is_negative()) {
        if (base.bits == 1) return 1;
        return base.value() != -1 ? 0 : (left & 1) == 0 ? 1 : base.bits;
    }
    for (; left > 0; left >>= 1, factor *= factor)
        if ((left & 1) != 0) result *= factor;
    return result;
}

bool is_less(Integer a, Integer b) {
    return a.is_signed ? a.value() < b.value() : a.bits < b.bits;
}

/// The smallest number by -1 is itself, with a remainder of 0.
uint64_t quotient(Integer a, Integer b) {
    if (b.bits == 0) return 0;
    if (b.is_signed && b.value() == -1) return 0 - a.bits;
    return a.is_signed ? static_cast<uint64_t>(a.value() / b.value()) : a.bits / b.bits;
}
uint64_t remainder_of(Integer a, Integer b) {
    if (b.bits == 0 || (b.is_signed && b.value() == -1)) return 0;
    return a.is_signed ? static_cast<uint64_t>(a.value() % b.value()) : a.bits % b.bits;
}

uint64_t shifted_left(Integer a, Integer b) {
    return b.bits < a.width ? a.bits << b.bits : 0;
}
uint64_t shifted_right(Integer a, Integer b) {
    if (b.bits >= a.width) return 0;
    return a.is_signed ? static_cast<uint64_t>(a.value() >> b.bits) : a.bits >> b.bits;
}

double rounded_to_half(double a) {
    return static_cast<double>(half_to_float(float_to_half(a)));
}
double rounded_to_bfloat16(double a) {
    return static_cast<double>(bfloat16_to_float(float_to_bfloat16(a)));
}

constexpr auto kItself = [](double a, double /*b*/) { return a; };
constexpr auto kBitsItself = [](Integer a, Integer /*b*/) { return a.bits; };
constexpr auto kIsNotZero = [](Integer a, Integer /*b*/) -> uint64_t { return a.bits != 0; };

constexpr ScalarInstruction conversion(Op op, const char* name, Type to) {
    return {op, name, Takes::kConversion, to, kItself, kBitsItself};
}
/// of_integers: also of floats' bits, which stay as they are.
constexpr ScalarInstruction bits(Op op, const char* name, Takes signature, Type to) {
    return {op, name, signature, to, nullptr, kBitsItself};
}
constexpr ScalarInstruction none(Op op, const char* name) {
    return {.op = op, .name = name, .signature = Takes::kNone};
}
template <double (*F)(double)>
constexpr ScalarInstruction function(Op op, const char* name) {
    return {.op = op, .name = name, .signature = Takes::kFloats, .of_floats = of_one<F>};
}
template <double (*F)(double)>
constexpr ScalarInstruction bounded(Op op, const char* name, double least, double most) {
    ScalarInstruction row = function<F>(op, name);
    row.least = least;
    row.most = most;
    return row;
}
template <double (*F)(double)>
constexpr ScalarInstruction rising(Op op, const char* name) {
    ScalarInstruction row = function<F>(op, name);
    row.rises = true;
    return row;
}
constexpr ScalarInstruction rounding(Op op, const char* name, double (*to)(double, double)) {
    return {.op = op, .name = name, .signature = Takes::kSingles, .of_floats = to};
}

/// In the order of ScalarOp.
constexpr ScalarInstruction kInstructions[] = {
    none(Op::kConst, "constant"),
    none(Op::kVariable, "variable"),
    none(Op::kRowCount, "rows"),
    none(Op::kLoad, "load"),
    {.op = Op::kNeg,
     .name = "neg",
     .signature = Takes::kNumbers,
     .of_floats = [](double a, double) { return -a; },
     .of_integers = [](Integer a, Integer) { return 0 - a.bits; }},
    {.op = Op::kNot,
     .name = "not",
     .signature = Takes::kConditions,
     .of_integers = [](Integer a, Integer) -> uint64_t { return a.bits == 0; }},
    {.op = Op::kAbs,
     .name = "abs",
     .signature = Takes::kNumbers,
     .of_floats = of_one<std::fabs>,
     .of_integers = [](Integer a, Integer) { return a.is_negative() ? 0 - a.bits : a.bits; }},
    {.op = Op::kSign,
     .name = "sign",
     .signature = Takes::kNumbers,
     .of_floats = of_one<sign>,
     .of_integers = [](Integer a,
                       Integer) { return a.is_negative() ? ~uint64_t{0} : a.bits != 0; }},
    rising<std::floor>(Op::kFloor, "floor"),
    rising<std::ceil>(Op::kCeil, "ceil"),
    rising<std::nearbyint>(Op::kRound, "round"),
    rising<std::trunc>(Op::kTrunc, "trunc"),
    function<std::sqrt>(Op::kSqrt, "sqrt"),
    function<rsqrt>(Op::kRsqrt, "rsqrt"),
    function<std::exp>(Op::kExp, "exp"),
    function<std::log>(Op::kLog, "log"),
    bounded<std::sin>(Op::kSin, "sin", -1, 1),
    bounded<std::cos>(Op::kCos, "cos", -1, 1),
    function<std::tan>(Op::kTan, "tan"),
    function<std::asin>(Op::kAsin, "asin"),
    function<std::acos>(Op::kAcos, "acos"),
    function<std::atan>(Op::kAtan, "atan"),
    function<std::sinh>(Op::kSinh, "sinh"),
    function<std::cosh>(Op::kCosh, "cosh"),
    bounded<std::tanh>(Op::kTanh, "tanh", -1, 1),
    function<std::asinh>(Op::kAsinh, "asinh"),
    function<std::acosh>(Op::kAcosh, "acosh"),
    function<std::atanh>(Op::kAtanh, "atanh"),
    bounded<std::erf>(Op::kErf, "erf", -1, 1),
    {.op = Op::kIsNan,
     .name = "is_nan",
     .signature = Takes::kFloatTest,
     .of_floats = [](double a, double) -> double { return std::isnan(a); }},
    {.op = Op::kIsInf,
     .name = "is_inf",
     .signature = Takes::kFloatTest,
     .of_floats = [](double a, double) -> double { return std::isinf(a); }},
    conversion(Op::kToF32, "to_f32", Type::kF32),
    conversion(Op::kToI32, "to_i32", Type::kI32),
    conversion(Op::kToU32, "to_u32", Type::kU32),
    {Op::kToBool, "to_bool", Takes::kConversion, Type::kBool, kItself, kIsNotZero},
    rounding(Op::kRoundF16, "round_f16", of_one<rounded_to_half>),
    rounding(Op::kRoundBF16, "round_bf16", of_one<rounded_to_bfloat16>),
    {.op = Op::kBitNot,
     .name = "bit_not",
     .signature = Takes::kIntegers,
     .of_integers = [](Integer a, Integer) { return ~a.bits; }},
    bits(Op::kBitsToF32, "bits_to_f32", Takes::kIntegerBits, Type::kF32),
    bits(Op::kBitsToI32, "bits_to_i32", Takes::kFloatBits, Type::kI32),
    bits(Op::kBitsToU32, "bits_to_u32", Takes::kFloatBits, Type::kU32),
    {.op = Op::kBitsToUniform,
     .name = "bits_to_uniform",
     .signature = Takes::kWordFraction,
     .of_integers = [](Integer a, Integer) -> uint64_t {
         return std::bit_cast<uint32_t>(
             static_cast<float>(uniform_from_bits(static_cast<uint32_t>(a.bits))));
     },
     .least = 0,
     .most = 1},
    {.op = Op::kAdd,
     .name = "add",
     .signature = Takes::kNumbers,
     .of_floats = [](double a, double b) { return a + b; },
     .of_integers = [](Integer a, Integer b) { return a.bits + b.bits; },
     .is_commutative = true},
    {.op = Op::kSub,
     .name = "sub",
     .signature = Takes::kNumbers,
     .of_floats = [](double a, double b) { return a - b; },
     .of_integers = [](Integer a, Integer b) { return a.bits - b.bits; }},
    {.op = Op::kMul,
     .name = "mul",
     .signature = Takes::kNumbers,
     .of_floats = [](double a, double b) { return a * b; },
     .of_integers = [](Integer a, Integer b) { return a.bits * b.bits; },
     .is_commutative = true},
    {.op = Op::kDiv,
     .name = "div",
     .signature = Takes::kNumbers,
     .of_floats = [](double a, double b) { return a / b; },
     .of_integers = quotient},
    {.op = Op::kMod,
     .name = "mod",
     .signature = Takes::kNumbers,
     .of_floats = of_two<std::fmod>,
     .of_integers = remainder_of},
    {.op = Op::kPow,
     .name = "pow",
     .signature = Takes::kNumbers,
     .of_floats = of_two<std::pow>,
     .of_integers = integer_power},
    {.op = Op::kAtan2,
     .name = "atan2",
     .signature = Takes::kFloats,
     .of_floats = of_two<std::atan2>},
    {.op = Op::kMin,
     .name = "min",
     .signature = Takes::kNumbers,
     .of_floats = of_two<min>,
     .of_integers = [](Integer a, Integer b) { return is_less(a, b) ? a.bits : b.bits; }},
    {.op = Op::kMax,
     .name = "max",
     .signature = Takes::kNumbers,
     .of_floats = of_two<max>,
     .of_integers = [](Integer a, Integer b) { return is_less(a, b) ? b.bits : a.bits; }},
    {.op = Op::kLess,
     .name = "less",
     .signature = Takes::kOrder,
     .of_floats = [](double a, double b) -> double { return a < b; },
     .of_integers = [](Integer a, Integer b) -> uint64_t { return is_less(a, b); }},
    {.op = Op::kLessEqual,
     .name = "less_equal",
     .signature = Takes::kOrder,
     .of_floats = [](double a, double b) -> double { return a <= b; },
     .of_integers = [](Integer a, Integer b) -> uint64_t { return !is_less(b, a); }},
    {.op = Op::kEqual,
     .name = "equal",
     .signature = Takes::kEquality,
     .of_floats = [](double a, double b) -> double { return a == b; },
     .of_integers = [](Integer a, Integer b) -> uint64_t { return a.bits == b.bits; },
     .is_commutative = true},
    {.op = Op::kNotEqual,
     .name = "not_equal",
     .signature = Takes::kEquality,
     .of_floats = [](double a, double b) -> double { return a != b; },
     .of_integers = [](Integer a, Integer b) -> uint64_t { return a.bits != b.bits; },
     .is_commutative = true},
    {.op = Op::kAnd,
     .name = "and",
     .signature = Takes::kConditions,
     .of_integers = [](Integer a, Integer b) { return a.bits & b.bits; },
     .is_commutative = true},
    {.op = Op::kOr,
     .name = "or",
     .signature = Takes::kConditions,
     .of_integers = [](Integer a, Integer b) { return a.bits | b.bits; },
     .is_commutative = true},
    {.op = Op::kXor,
     .name = "xor",
     .signature = Takes::kConditions,
     .of_integers = [](Integer a, Integer b) -> uint64_t { return a.bits != b.bits; },
     .is_commutative = true},
    {.op = Op::kBitAnd,
     .name = "bit_and",
     .signature = Takes::kIntegers,
     .of_integers = [](Integer a, Integer b) { return a.bits & b.bits; },
     .is_commutative = true},
    {.op = Op::kBitOr,
     .name = "bit_or",
     .signature = Takes::kIntegers,
     .of_integers = [](Integer a, Integer b) { return a.bits | b.bits; },
     .is_commutative = true},
    {.op = Op::kBitXor,
     .name = "bit_xor",
     .signature = Takes::kIntegers,
     .of_integers = [](Integer a, Integer b) { return a.bits ^ b.bits; },
     .is_commutative = true},
    {.op = Op::kShiftLeft,
     .name = "shift_left",
     .signature = Takes::kShift,
     .of_integers = shifted_left},
    {.op = Op::kShiftRight,
     .name = "shift_right",
     .signature = Takes::kShift,
     .of_integers = shifted_right},
    {.op = Op::kSelect, .name = "select", .signature = Takes::kSelect},
    none(Op::kPhilox, "philox"),
    none(Op::kLoopSum, "loop_sum"),
    none(Op::kLoopProd, "loop_prod"),
    none(Op::kLoopMax, "loop_max"),
    none(Op::kLoopMin, "loop_min"),
    none(Op::kLoopArgMax, "loop_arg_max"),
    none(Op::kLoopArgMin, "loop_arg_min"),
    conversion(Op::kToI64, "to_i64", Type::kI64),
    conversion(Op::kToU64, "to_u64", Type::kU64),
    conversion(Op::kToF64, "to_f64", Type::kF64),
    bits(Op::kBitsToI64, "bits_to_i64", Takes::kFloatBits, Type::kI64),
    bits(Op::kBitsToU64, "bits_to_u64", Takes::kFloatBits, Type::kU64),
    bits(Op::kBitsToF64, "bits_to_f64", Takes::kIntegerBits, Type::kF64),
};

constexpr bool is_in_order() {
    for (size_t i = 0; i < std::size(kInstructions); ++i)
        if (kInstructions[i].op != static_cast<ScalarOp>(i)) return false;
    return std::size(kInstructions) == static_cast<size_t>(Op::kBitsToF64) + 1;
}
static_assert(is_in_order());

bool are_alike(std::span<const ScalarType> types) {
    return std::adjacent_find(types.begin(), types.end(), std::not_equal_to<>()) == types.end();
}

/// Whether all operands have this type, and it is one that the signature takes.
bool takes(Takes signature, ScalarType type, ScalarType result) {
    const bool is_float = is_floating(type), is_bool = type == ScalarType::kBool;
    const bool is_integer = !is_float && !is_bool;
    switch (signature) {
        case Takes::kFloats:
        case Takes::kFloatTest:
            return is_float;
        case Takes::kSingles:
            return type == ScalarType::kF32;
        case Takes::kNumbers:
        case Takes::kOrder:
            return !is_bool;
        case Takes::kIntegers:
        case Takes::kShift:
            return is_integer;
        case Takes::kConditions:
            return is_bool;
        case Takes::kEquality:
        case Takes::kConversion:
            return true;
        case Takes::kFloatBits:
            return is_float && is_wide(type) == is_wide(result);
        case Takes::kIntegerBits:
            return is_integer && is_wide(type) == is_wide(result);
        case Takes::kWordFraction:
            return type == ScalarType::kU32;
        case Takes::kNone:
        case Takes::kSelect:
            break;
    }
    return false;
}

}  // namespace

const ScalarInstruction& instruction_of(ScalarOp op) {
    return kInstructions[static_cast<size_t>(op)];
}

ScalarType result_of(const ScalarInstruction& instruction, ScalarType operand) {
    switch (instruction.signature) {
        case Takes::kFloatTest:
        case Takes::kOrder:
        case Takes::kEquality:
            return ScalarType::kBool;
        case Takes::kConversion:
        case Takes::kFloatBits:
        case Takes::kIntegerBits:
        case Takes::kWordFraction:
            return instruction.result;
        default:
            return operand;
    }
}

std::optional<ScalarType> type_of_operation(ScalarOp op, std::span<const ScalarType> operands) {
    const ScalarInstruction& row = instruction_of(op);
    const ScalarType first = operands[0];
    if (row.signature == Takes::kSelect)
        return first == ScalarType::kBool && operands[1] == operands[2] ? std::optional(operands[1])
                                                                        : std::nullopt;
    if (!takes(row.signature, first, row.result)) return std::nullopt;
    if (row.signature == Takes::kShift) {
        if (!takes(Takes::kIntegers, operands[1], row.result)) return std::nullopt;
    } else if (!is_unary(op) && !are_alike(operands.first(2))) {
        return std::nullopt;
    }
    return result_of(row, first);
}

}  // namespace hearth
