// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The scalar operations, a row for each: the types that it takes and gives, its value, and its bounds.  Type inference,
// verification, constant folding, the interpreter of kernels and the analysis of ranges read these rows.  A printer
// (compiler/print) has a table of what its language offers, and writes all others as their decompositions
// (compiler/kernel/decompositions.hpp).

#pragma once

#include <hearth/op/scalar.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace hearth {

/// The types of an operation's operands, which are all the same, and of its result.
enum class ScalarSignature : uint8_t {
    kNone,          ///< leaves, loops and random bits
    kFloats,        ///< floats, to that type
    kSingles,       ///< f32, to f32
    kNumbers,       ///< anything but bool, to that type
    kIntegers,      ///< integers, to that type
    kConditions,    ///< bool, to bool
    kFloatTest,     ///< floats, to bool
    kOrder,         ///< anything but bool, to bool
    kEquality,      ///< anything, to bool
    kShift,         ///< an integer, by another of any type, to the first one's type
    kSelect,        ///< a bool, then two of any type, to that type
    kConversion,    ///< anything, to `result`
    kFloatBits,     ///< a float as wide as `result`
    kIntegerBits,   ///< an integer as wide as `result`
    kWordFraction,  ///< u32, to f32
};

/// An integer's bits, extended to 64 by its sign or by zeros, and its type.
struct IntegerOperand {
    uint64_t bits = 0;
    bool is_signed = false;
    uint32_t width = 32;

    int64_t value() const { return static_cast<int64_t>(bits); }
    bool is_negative() const { return is_signed && value() < 0; }
};

struct ScalarInstruction {
    ScalarOp op;
    const char* name;
    ScalarSignature signature;
    ScalarType result = ScalarType::kF32;  ///< of conversions
    /// The value for floats, rounded afterwards to the type; nothing where bits are reinterpreted or it takes no floats.
    double (*of_floats)(double a, double b) = nullptr;
    /// The value for integers and bools, of which the result's type takes the lowest bits.
    uint64_t (*of_integers)(IntegerOperand a, IntegerOperand b) = nullptr;
    /// Bounds of a function of floats, whatever its operand.
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    bool rises = false;  ///< a function of floats that is nowhere less than before
    bool is_commutative = false;
};

const ScalarInstruction& instruction_of(ScalarOp op);

/// The type of the value for operands of this type, if it takes them; of kSelect: for values of this type.
ScalarType result_of(const ScalarInstruction& instruction, ScalarType operand);

/// What the operation gives for operands of these types (as many as operand_count(op), or more); nothing if it takes no
/// such operands.
std::optional<ScalarType> type_of_operation(ScalarOp op, std::span<const ScalarType> operands);

}  // namespace hearth
