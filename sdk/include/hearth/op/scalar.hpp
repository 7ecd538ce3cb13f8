// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scalar expressions: the computation of one thread of a generated kernel.
//
// Expressions are hash-consed (equal expressions are one node) and simplified while they are built,
// so that equal computations reached by different paths are emitted once.  Children precede
// parents.  The same source that builds these also runs on doubles: see at.hpp.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth {

enum class ScalarType : uint8_t { kF32, kI32, kU32, kBool, kI64, kU64, kF64 };

constexpr bool is_floating(ScalarType type) {
    return type == ScalarType::kF32 || type == ScalarType::kF64;
}
constexpr bool is_unsigned(ScalarType type) {
    return type == ScalarType::kU32 || type == ScalarType::kU64;
}
/// Of 64 bits.
constexpr bool is_wide(ScalarType type) {
    return type >= ScalarType::kI64;
}

/// The type in which a kernel computes with elements of `dtype`.
ScalarType scalar_type(DType dtype);

enum class ScalarOp : uint8_t {
    // leaves
    kConst,     ///< bits: the value's low 32 bits; a: the high ones
    kVariable,  ///< bits: its number; named by the emitter (coordinates, counters, accumulators)
    kRowCount,  ///< the batch size, i32
    kLoad,      ///< bits: value of the graph; a: element index
    // unary (a)
    kNeg,
    kNot,
    kAbs,
    kSign,
    kFloor,
    kCeil,
    kRound,
    kTrunc,
    kSqrt,
    kRsqrt,
    kExp,
    kLog,
    kSin,
    kCos,
    kTan,
    kAsin,
    kAcos,
    kAtan,
    kSinh,
    kCosh,
    kTanh,
    kAsinh,
    kAcosh,
    kAtanh,
    kErf,
    kIsNan,
    kIsInf,
    kToF32,
    kToI32,
    kToU32,
    kToBool,
    kRoundF16,  ///< to the nearest f16 value
    kRoundBF16,
    kBitNot,
    kBitsToF32,  ///< reinterprets the bits of an integer as a float, or of a float as an integer
    kBitsToI32,
    kBitsToU32,
    kBitsToUniform,
    // binary (a, b)
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMod,
    kPow,
    kAtan2,
    kMin,
    kMax,
    kLess,
    kLessEqual,
    kEqual,
    kNotEqual,
    kAnd,
    kOr,
    kXor,
    kBitAnd,
    kBitOr,
    kBitXor,
    kShiftLeft,
    kShiftRight,
    // ternary (a, b, c)
    kSelect,  ///< a ? b : c
    kPhilox,  ///< 32 random bits of key (bits: index into `keys`), step a, element b
    // loops: bits = loop counter's variable, a = extent, b = body
    kLoopSum,
    kLoopProd,
    kLoopMax,
    kLoopMin,
    kLoopArgMax,
    kLoopArgMin,
    // unary (a), behind the others: hashes, by which operands are ordered, depend on the numbers
    kToI64,
    kToU64,
    kToF64,
    kBitsToI64,
    kBitsToU64,
    kBitsToF64,
};

constexpr bool is_unary(ScalarOp op) {
    return (op >= ScalarOp::kNeg && op <= ScalarOp::kBitsToUniform) || op >= ScalarOp::kToI64;
}

struct ScalarNode {
    ScalarOp op = ScalarOp::kConst;
    ScalarType type = ScalarType::kF32;
    uint32_t bits = 0;
    uint32_t a = 0, b = 0, c = 0;
    /// Of a kConst.
    uint64_t value_bits() const { return uint64_t{a} << 32 | bits; }
    friend bool operator==(const ScalarNode&, const ScalarNode&) = default;
};

class ScalarArena;

/// A handle to an expression.
struct Scalar {
    ScalarArena* arena = nullptr;
    uint32_t id = 0;

    ScalarType type() const;
    const ScalarNode& node() const;
    bool is_const() const;
    /// The constant as a double (bool: 0 or 1).  Integers of 64 bits are rounded.
    double const_value() const;
};

class ScalarArena {
  public:
    Scalar constant(double value, ScalarType type);
    /// A constant with these bits.
    Scalar constant_of_bits(uint64_t bits, ScalarType type);
    Scalar index(int64_t value) { return constant(static_cast<double>(value), ScalarType::kI32); }
    Scalar boolean(bool value) { return constant(value ? 1 : 0, ScalarType::kBool); }
    /// A new variable (kVariable), different from all others.
    Scalar symbol(ScalarType type);
    Scalar rows();
    Scalar load(uint32_t value, Scalar element, ScalarType type);
    Scalar unary(ScalarOp op, Scalar a);
    Scalar binary(ScalarOp op, Scalar a, Scalar b);
    Scalar select(Scalar condition, Scalar yes, Scalar no);
    Scalar philox(uint64_t key, Scalar step, Scalar element);
    Scalar loop(ScalarOp op, Scalar counter, Scalar extent, Scalar body);
    Scalar convert(Scalar a, ScalarType type);
    /// Reinterprets the bits as another type of this size.
    Scalar reinterpret(Scalar a, ScalarType type);

    /// From now on operands of different types are noted as misuse() instead of being a broken
    /// invariant; the second one is converted.
    void note_misuse() { notes_misuse_ = true; }
    /// The first one; empty if there was none.
    const std::string& misuse() const { return misuse_; }

    const ScalarNode& node(uint32_t id) const { return nodes_[id]; }
    size_t size() const { return nodes_.size(); }
    uint64_t key(uint32_t index) const { return keys_[index]; }

  private:
    Scalar intern(const ScalarNode& node);
    Scalar of_type(Scalar a, ScalarType type);
    struct NodeHash {
        size_t operator()(const ScalarNode& n) const;
    };
    std::vector<ScalarNode> nodes_;
    std::vector<uint64_t> hashes_;  ///< structural, independent of the order of creation
    std::vector<uint64_t> keys_;
    std::unordered_map<ScalarNode, uint32_t, NodeHash> interned_;
    uint32_t variables_ = 0;
    bool notes_misuse_ = false;
    std::string misuse_;
};

// Operators.  Literals take the other operand's type.
#define HEARTH_SCALAR_BINARY(name, scalar_op)           \
    inline Scalar name(Scalar a, Scalar b) {            \
        return a.arena->binary(scalar_op, a, b);        \
    }                                                   \
    inline Scalar name(Scalar a, double b) {            \
        return name(a, a.arena->constant(b, a.type())); \
    }                                                   \
    inline Scalar name(double a, Scalar b) {            \
        return name(b.arena->constant(a, b.type()), b); \
    }

HEARTH_SCALAR_BINARY(operator+, ScalarOp::kAdd)
HEARTH_SCALAR_BINARY(operator-, ScalarOp::kSub)
HEARTH_SCALAR_BINARY(operator*, ScalarOp::kMul)
HEARTH_SCALAR_BINARY(operator/, ScalarOp::kDiv)
HEARTH_SCALAR_BINARY(operator%, ScalarOp::kMod)
HEARTH_SCALAR_BINARY(operator<, ScalarOp::kLess)
HEARTH_SCALAR_BINARY(operator<=, ScalarOp::kLessEqual)
HEARTH_SCALAR_BINARY(operator==, ScalarOp::kEqual)
HEARTH_SCALAR_BINARY(operator!=, ScalarOp::kNotEqual)
HEARTH_SCALAR_BINARY(pow, ScalarOp::kPow)
HEARTH_SCALAR_BINARY(atan2, ScalarOp::kAtan2)
HEARTH_SCALAR_BINARY(fmod, ScalarOp::kMod)
HEARTH_SCALAR_BINARY(min, ScalarOp::kMin)
HEARTH_SCALAR_BINARY(max, ScalarOp::kMax)
#undef HEARTH_SCALAR_BINARY
inline Scalar operator>(Scalar a, Scalar b) {
    return b < a;
}
inline Scalar operator>(Scalar a, double b) {
    return b < a;
}
inline Scalar operator>=(Scalar a, Scalar b) {
    return b <= a;
}
inline Scalar operator>=(Scalar a, double b) {
    return b <= a;
}
inline Scalar operator-(Scalar a) {
    return a.arena->unary(ScalarOp::kNeg, a);
}

#define HEARTH_SCALAR_UNARY(name, scalar_op) \
    inline Scalar name(Scalar a) {           \
        return a.arena->unary(scalar_op, a); \
    }
HEARTH_SCALAR_UNARY(abs, ScalarOp::kAbs)
HEARTH_SCALAR_UNARY(sign, ScalarOp::kSign)
HEARTH_SCALAR_UNARY(floor, ScalarOp::kFloor)
HEARTH_SCALAR_UNARY(ceil, ScalarOp::kCeil)
HEARTH_SCALAR_UNARY(round_even, ScalarOp::kRound)
HEARTH_SCALAR_UNARY(trunc, ScalarOp::kTrunc)
HEARTH_SCALAR_UNARY(sqrt, ScalarOp::kSqrt)
HEARTH_SCALAR_UNARY(rsqrt, ScalarOp::kRsqrt)
HEARTH_SCALAR_UNARY(exp, ScalarOp::kExp)
HEARTH_SCALAR_UNARY(log, ScalarOp::kLog)
HEARTH_SCALAR_UNARY(sin, ScalarOp::kSin)
HEARTH_SCALAR_UNARY(cos, ScalarOp::kCos)
HEARTH_SCALAR_UNARY(tan, ScalarOp::kTan)
HEARTH_SCALAR_UNARY(asin, ScalarOp::kAsin)
HEARTH_SCALAR_UNARY(acos, ScalarOp::kAcos)
HEARTH_SCALAR_UNARY(atan, ScalarOp::kAtan)
HEARTH_SCALAR_UNARY(sinh, ScalarOp::kSinh)
HEARTH_SCALAR_UNARY(cosh, ScalarOp::kCosh)
HEARTH_SCALAR_UNARY(tanh, ScalarOp::kTanh)
HEARTH_SCALAR_UNARY(asinh, ScalarOp::kAsinh)
HEARTH_SCALAR_UNARY(acosh, ScalarOp::kAcosh)
HEARTH_SCALAR_UNARY(atanh, ScalarOp::kAtanh)
HEARTH_SCALAR_UNARY(erf, ScalarOp::kErf)
HEARTH_SCALAR_UNARY(round_f16, ScalarOp::kRoundF16)
HEARTH_SCALAR_UNARY(round_bf16, ScalarOp::kRoundBF16)
HEARTH_SCALAR_UNARY(is_nan, ScalarOp::kIsNan)
HEARTH_SCALAR_UNARY(is_inf, ScalarOp::kIsInf)
HEARTH_SCALAR_UNARY(bit_not, ScalarOp::kBitNot)
HEARTH_SCALAR_UNARY(logical_not, ScalarOp::kNot)
#undef HEARTH_SCALAR_UNARY

#define HEARTH_SCALAR_BITWISE(name, scalar_op)   \
    inline Scalar name(Scalar a, Scalar b) {     \
        return a.arena->binary(scalar_op, a, b); \
    }
HEARTH_SCALAR_BITWISE(logical_and, ScalarOp::kAnd)
HEARTH_SCALAR_BITWISE(logical_or, ScalarOp::kOr)
HEARTH_SCALAR_BITWISE(logical_xor, ScalarOp::kXor)
HEARTH_SCALAR_BITWISE(bit_and, ScalarOp::kBitAnd)
HEARTH_SCALAR_BITWISE(bit_or, ScalarOp::kBitOr)
HEARTH_SCALAR_BITWISE(bit_xor, ScalarOp::kBitXor)
HEARTH_SCALAR_BITWISE(shift_left, ScalarOp::kShiftLeft)
HEARTH_SCALAR_BITWISE(shift_right, ScalarOp::kShiftRight)
#undef HEARTH_SCALAR_BITWISE

/// Shifts of a u32 are logical already; the rules build those of other types from a logical one.
inline Scalar shift_right_logical(Scalar a, Scalar amount) {
    return shift_right(a, amount);
}
inline Scalar reinterpret(Scalar a, ScalarType type) {
    return a.arena->reinterpret(a, type);
}

/// `condition ? yes : no`; a literal takes the other branch's type.
inline Scalar select(Scalar condition, Scalar yes, Scalar no) {
    return condition.arena->select(condition, yes, no);
}
inline Scalar select(Scalar condition, Scalar yes, double no) {
    return select(condition, yes, yes.arena->constant(no, yes.type()));
}
inline Scalar select(Scalar condition, double yes, Scalar no) {
    return select(condition, no.arena->constant(yes, no.type()), no);
}

}  // namespace hearth
