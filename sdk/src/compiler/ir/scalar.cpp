// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds scalar expressions: hash-consing, constant folding and algebraic simplification.

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operation.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/hash.hpp>
#include <hearth/op/scalar.hpp>

#include <algorithm>

namespace hearth {

namespace {

constexpr int kHashBits = 44;  // of a node's hash; the bits above hold its lowest loaded buffer

bool is_integer(ScalarType type) {
    return !is_floating(type) && type != ScalarType::kBool;
}

/// A number for the operation and its type; types of 32 bits have those of earlier versions, on
/// which the order of operands depends.
uint32_t code_of(const ScalarNode& node) {
    const uint32_t type = static_cast<uint32_t>(node.type);
    return static_cast<uint32_t>(node.op) * 4 + type % 4 + type / 4 * 1024;
}

bool folds_integers(ScalarOp op, ScalarType result) {
    return (op >= ScalarOp::kAdd && op <= ScalarOp::kMod) || op == ScalarOp::kMin ||
           op == ScalarOp::kMax || result == ScalarType::kBool;
}

}  // namespace

ScalarOp conversion_to(ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return ScalarOp::kToF32;
        case ScalarType::kI32:
            return ScalarOp::kToI32;
        case ScalarType::kU32:
            return ScalarOp::kToU32;
        case ScalarType::kI64:
            return ScalarOp::kToI64;
        case ScalarType::kU64:
            return ScalarOp::kToU64;
        case ScalarType::kF64:
            return ScalarOp::kToF64;
        case ScalarType::kBool:
            break;
    }
    return ScalarOp::kToBool;
}

ScalarType scalar_type(DType dtype) {
    const bool is_wide = size_bytes(dtype) == 8;
    if (is_floating(dtype)) return is_wide ? ScalarType::kF64 : ScalarType::kF32;
    if (is_unsigned(dtype)) return is_wide ? ScalarType::kU64 : ScalarType::kU32;
    return is_wide ? ScalarType::kI64 : ScalarType::kI32;
}

ScalarType Scalar::type() const {
    return node().type;
}
const ScalarNode& Scalar::node() const {
    return arena->node(id);
}
bool Scalar::is_const() const {
    return node().op == ScalarOp::kConst;
}

double Scalar::const_value() const {
    return value_of(node().value_bits(), type());
}

size_t ScalarArena::NodeHash::operator()(const ScalarNode& n) const {
    return Hash()
        .number(code_of(n))
        .number(n.bits)
        .number((uint64_t{n.a} << 32) | n.b)
        .number(n.c)
        .value();
}

Scalar ScalarArena::intern(const ScalarNode& node) {
    auto [at, is_new] = interned_.try_emplace(node, static_cast<uint32_t>(nodes_.size()));
    if (is_new) {
        nodes_.push_back(node);
        const bool is_leaf = node.op <= ScalarOp::kRowCount;
        Hash hash;
        hash.number(code_of(node))
            .number(node.op == ScalarOp::kConst ? node.value_bits() : node.bits);
        if (!is_leaf) hash.number(hashes_[node.a]).number(hashes_[node.b]).number(hashes_[node.c]);
        // Kernels that differ only in buffers should have equal source, so operands are ordered by
        // the lowest buffer that they load.
        constexpr uint64_t kNoBuffer = (uint64_t{1} << 20) - 1;
        uint64_t first = kNoBuffer;
        if (node.op == ScalarOp::kLoad)
            first = std::min<uint64_t>(node.bits, kNoBuffer);
        else if (!is_leaf)
            // Node 0, which also stands for a missing operand, loads nothing.
            for (uint32_t in : {node.a, node.b, node.c})
                if (in != 0) first = std::min(first, hashes_[in] >> kHashBits);
        hashes_.push_back(first << kHashBits | hash.value() >> (64 - kHashBits));
    }
    return {this, at->second};
}

Scalar ScalarArena::constant(double value, ScalarType type) {
    return constant_of_bits(bits_of(value, type), type);
}

Scalar ScalarArena::constant_of_bits(uint64_t bits, ScalarType type) {
    return intern(
        {ScalarOp::kConst, type, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)});
}

Scalar ScalarArena::symbol(ScalarType type) {
    return intern({ScalarOp::kVariable, type, variables_++});
}

Scalar ScalarArena::rows() {
    return intern({ScalarOp::kRowCount, ScalarType::kI32});
}

Scalar ScalarArena::load(uint32_t value, Scalar element, ScalarType type) {
    return intern({ScalarOp::kLoad, type, value, element.id});
}

Scalar ScalarArena::unary(ScalarOp op, Scalar a) {
    const ScalarNode n = a.node();
    const ScalarType type = result_of(instruction_of(op), n.type);
    if (op == ScalarOp::kNot || op == ScalarOp::kNeg) {
        if (a.is_const())
            return constant_of_bits(scalar_operation(op, n.type, {n.value_bits(), 0, 0}), type);
        if (n.op == op) return {this, n.a};
    }
    return intern({op, type, 0, a.id});
}

Scalar ScalarArena::of_type(Scalar a, ScalarType type) {
    if (a.type() == type) return a;
    HEARTH_ASSERT(notes_misuse_ && "operands of different types");
    if (misuse_.empty())
        misuse_ = std::string("it combines ") + name_of(type) + " and " + name_of(a.type()) +
                  "; convert() gives both one type";
    return convert(a, type);
}

Scalar ScalarArena::binary(ScalarOp op, Scalar a, Scalar b) {
    if (op != ScalarOp::kShiftLeft && op != ScalarOp::kShiftRight) b = of_type(b, a.type());
    const ScalarInstruction& instruction = instruction_of(op);
    const ScalarType type = result_of(instruction, a.type());
    if (a.is_const() && b.is_const() && !is_floating(a.type()) && folds_integers(op, type) &&
        ((op != ScalarOp::kDiv && op != ScalarOp::kMod) ||
         (a.const_value() >= 0 && b.const_value() > 0)))
        return constant_of_bits(
            scalar_operation(op, a.type(), {a.node().value_bits(), b.node().value_bits(), 0}),
            type);
    // C++ leaves the evaluation order of `f(a) * g(b)` unspecified, so the order of creation must
    // not matter: constants come second, other operands are ordered by structure.
    if (instruction.is_commutative &&
        (a.is_const() || (!b.is_const() && hashes_[b.id] < hashes_[a.id])))
        std::swap(a, b);
    if (b.is_const()) {
        const double v = b.const_value();
        // For floats x + 0 would turn -0.0 into 0.0, and x * 0 would lose NaN.
        if (is_integer(a.type())) {
            if (v == 0 && (op == ScalarOp::kAdd || op == ScalarOp::kSub)) return a;
            if (v == 0 && op == ScalarOp::kMul) return b;
            if (v == 1 && op == ScalarOp::kMod) return constant(0, type);
            if (v == 0 && op == ScalarOp::kLess && is_unsigned(a.type())) return constant(0, type);
        }
        if (v == 1 && (op == ScalarOp::kMul || op == ScalarOp::kDiv)) return a;
        if (a.type() == ScalarType::kBool) {
            if (op == ScalarOp::kAnd) return v != 0 ? a : b;
            if (op == ScalarOp::kOr) return v != 0 ? b : a;
        }
        // A bool that was stored as i32 needs no second conversion.
        if (op == ScalarOp::kNotEqual && v == 0 &&
            (a.node().op == ScalarOp::kToI32 || a.node().op == ScalarOp::kToI64)) {
            const Scalar inner{this, a.node().a};
            if (inner.type() == ScalarType::kBool) return inner;
        }
    }
    if (is_integer(a.type()) && a.is_const() && a.const_value() == 0 &&
        (op == ScalarOp::kDiv || op == ScalarOp::kMod))
        return a;
    return intern({op, type, 0, a.id, b.id});
}

Scalar ScalarArena::select(Scalar condition, Scalar yes, Scalar no) {
    condition = of_type(condition, ScalarType::kBool);
    no = of_type(no, yes.type());
    if (condition.is_const()) return condition.const_value() != 0 ? yes : no;
    if (yes.id == no.id) return yes;
    return intern({ScalarOp::kSelect, yes.type(), 0, condition.id, yes.id, no.id});
}

Scalar ScalarArena::philox(uint64_t key, Scalar step, Scalar element) {
    uint32_t index = 0;
    while (index < keys_.size() && keys_[index] != key) ++index;
    if (index == keys_.size()) keys_.push_back(key);
    return intern({ScalarOp::kPhilox, ScalarType::kU32, index, step.id, element.id});
}

Scalar ScalarArena::loop(ScalarOp op, Scalar counter, Scalar extent, Scalar body) {
    const bool is_arg = op == ScalarOp::kLoopArgMax || op == ScalarOp::kLoopArgMin;
    return intern({op, is_arg ? ScalarType::kI32 : body.type(), counter.node().bits, extent.id,
                   body.id, counter.id});
}

Scalar ScalarArena::convert(Scalar a, ScalarType type) {
    if (a.type() == type) return a;
    const ScalarOp op = conversion_to(type);
    if (a.is_const())
        return constant_of_bits(scalar_operation(op, a.type(), {a.node().value_bits(), 0, 0}),
                                type);
    if (type == ScalarType::kBool) return binary(ScalarOp::kNotEqual, a, constant(0, a.type()));
    return unary(op, a);
}

Scalar ScalarArena::reinterpret(Scalar a, ScalarType type) {
    HEARTH_ASSERT(type != ScalarType::kBool && a.type() != ScalarType::kBool);
    if (a.type() == type) return a;
    HEARTH_ASSERT(is_wide(a.type()) == is_wide(type));
    const bool is_float = is_floating(a.type());
    switch (type) {
        case ScalarType::kI32:
            return unary(is_float ? ScalarOp::kBitsToI32 : ScalarOp::kToI32, a);
        case ScalarType::kU32:
            return unary(is_float ? ScalarOp::kBitsToU32 : ScalarOp::kToU32, a);
        case ScalarType::kI64:
            return unary(is_float ? ScalarOp::kBitsToI64 : ScalarOp::kToI64, a);
        case ScalarType::kU64:
            return unary(is_float ? ScalarOp::kBitsToU64 : ScalarOp::kToU64, a);
        case ScalarType::kF64:
            return unary(ScalarOp::kBitsToF64, a);
        default:
            return unary(ScalarOp::kBitsToF32, a);
    }
}

}  // namespace hearth
