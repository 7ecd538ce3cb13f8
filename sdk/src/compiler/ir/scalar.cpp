// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds scalar expressions: hash-consing, constant folding and algebraic simplification.

#include "compiler/ir/scalar_operation.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>
#include <hearth/core/hash.hpp>
#include <hearth/op/scalar.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace hearth {

namespace {

constexpr int kHashBits = 44;  // of a node's hash; the bits above hold its lowest loaded buffer

bool is_commutative(ScalarOp op) {
    switch (op) {
        case ScalarOp::kAdd:
        case ScalarOp::kMul:
        case ScalarOp::kEqual:
        case ScalarOp::kNotEqual:
        case ScalarOp::kAnd:
        case ScalarOp::kOr:
        case ScalarOp::kXor:
        case ScalarOp::kBitAnd:
        case ScalarOp::kBitOr:
        case ScalarOp::kBitXor:
            return true;
        default:
            return false;
    }
}

bool is_comparison(ScalarOp op) {
    return op >= ScalarOp::kLess && op <= ScalarOp::kNotEqual;
}
bool is_logic(ScalarOp op) {
    return op >= ScalarOp::kAnd && op <= ScalarOp::kXor;
}

bool is_integer(ScalarType type) {
    return type == ScalarType::kI32 || type == ScalarType::kU32;
}

ScalarType unary_type(ScalarOp op, ScalarType a) {
    switch (op) {
        case ScalarOp::kNot:
        case ScalarOp::kIsNan:
        case ScalarOp::kIsInf:
        case ScalarOp::kToBool:
            return ScalarType::kBool;
        case ScalarOp::kToF32:
        case ScalarOp::kBitsToF32:
        case ScalarOp::kBitsToUniform:
            return ScalarType::kF32;
        case ScalarOp::kToI32:
        case ScalarOp::kBitsToI32:
            return ScalarType::kI32;
        case ScalarOp::kToU32:
        case ScalarOp::kBitsToU32:
            return ScalarType::kU32;
        default:
            return a;
    }
}

ScalarOp conversion_to(ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return ScalarOp::kToF32;
        case ScalarType::kI32:
            return ScalarOp::kToI32;
        case ScalarType::kU32:
            return ScalarOp::kToU32;
        case ScalarType::kBool:
            break;
    }
    return ScalarOp::kToBool;
}

bool folds_integers(ScalarOp op) {
    return (op >= ScalarOp::kAdd && op <= ScalarOp::kMod) || op == ScalarOp::kMin ||
           op == ScalarOp::kMax || is_comparison(op) || is_logic(op);
}

}  // namespace

ScalarType scalar_type(DType dtype) {
    if (is_floating(dtype)) return ScalarType::kF32;
    return is_unsigned(dtype) ? ScalarType::kU32 : ScalarType::kI32;
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
    const uint32_t bits = node().bits;
    switch (type()) {
        case ScalarType::kF32:
            return static_cast<double>(std::bit_cast<float>(bits));
        case ScalarType::kI32:
            return std::bit_cast<int32_t>(bits);
        default:
            return bits;
    }
}

size_t ScalarArena::NodeHash::operator()(const ScalarNode& n) const {
    return Hash()
        .number(static_cast<uint32_t>(n.op) * 4 + static_cast<uint32_t>(n.type))
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
        hash.number(static_cast<uint32_t>(node.op) * 4 + static_cast<uint32_t>(node.type))
            .number(node.bits);
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
    uint32_t bits = 0;
    switch (type) {
        case ScalarType::kF32:
            bits = std::bit_cast<uint32_t>(static_cast<float>(value));
            break;
        case ScalarType::kI32:
        case ScalarType::kU32:
            bits = static_cast<uint32_t>(saturate_cast<int64_t>(value));
            break;
        case ScalarType::kBool:
            bits = value != 0;
            break;
    }
    return intern({ScalarOp::kConst, type, bits});
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
    const ScalarType type = unary_type(op, n.type);
    if (op == ScalarOp::kNot || op == ScalarOp::kNeg) {
        if (a.is_const())
            return intern({ScalarOp::kConst, type, scalar_operation(op, n.type, {n.bits, 0, 0})});
        if (n.op == op) return {this, n.a};
    }
    return intern({op, type, 0, a.id});
}

Scalar ScalarArena::binary(ScalarOp op, Scalar a, Scalar b) {
    HEARTH_ASSERT(a.type() == b.type() || op == ScalarOp::kShiftLeft ||
                  op == ScalarOp::kShiftRight);
    const ScalarType type = is_comparison(op) || is_logic(op) ? ScalarType::kBool : a.type();
    if (a.is_const() && b.is_const() && a.type() != ScalarType::kF32 && folds_integers(op) &&
        ((op != ScalarOp::kDiv && op != ScalarOp::kMod) ||
         (a.const_value() >= 0 && b.const_value() > 0)))
        return intern({ScalarOp::kConst, type,
                       scalar_operation(op, a.type(), {a.node().bits, b.node().bits, 0})});
    // C++ leaves the evaluation order of `f(a) * g(b)` unspecified, so the order of creation must
    // not matter: constants come second, other operands are ordered by structure.
    if (is_commutative(op) && (a.is_const() || (!b.is_const() && hashes_[b.id] < hashes_[a.id])))
        std::swap(a, b);
    if (b.is_const()) {
        const double v = b.const_value();
        // For floats x + 0 would turn -0.0 into 0.0, and x * 0 would lose NaN.
        if (is_integer(a.type())) {
            if (v == 0 && (op == ScalarOp::kAdd || op == ScalarOp::kSub)) return a;
            if (v == 0 && op == ScalarOp::kMul) return b;
            if (v == 1 && op == ScalarOp::kMod) return constant(0, type);
            if (v == 0 && op == ScalarOp::kLess && a.type() == ScalarType::kU32)
                return constant(0, type);
        }
        if (v == 1 && (op == ScalarOp::kMul || op == ScalarOp::kDiv)) return a;
        if (a.type() == ScalarType::kBool) {
            if (op == ScalarOp::kAnd) return v != 0 ? a : b;
            if (op == ScalarOp::kOr) return v != 0 ? b : a;
        }
        // A bool that was stored as i32 needs no second conversion.
        if (op == ScalarOp::kNotEqual && v == 0 && a.node().op == ScalarOp::kToI32) {
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
    HEARTH_ASSERT(condition.type() == ScalarType::kBool && yes.type() == no.type());
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
        return intern(
            {ScalarOp::kConst, type, scalar_operation(op, a.type(), {a.node().bits, 0, 0})});
    if (type == ScalarType::kBool) return binary(ScalarOp::kNotEqual, a, constant(0, a.type()));
    return unary(op, a);
}

Scalar ScalarArena::reinterpret(Scalar a, ScalarType type) {
    HEARTH_ASSERT(type != ScalarType::kBool && a.type() != ScalarType::kBool);
    if (a.type() == type) return a;
    const bool is_float = a.type() == ScalarType::kF32;
    switch (type) {
        case ScalarType::kI32:
            return unary(is_float ? ScalarOp::kBitsToI32 : ScalarOp::kToI32, a);
        case ScalarType::kU32:
            return unary(is_float ? ScalarOp::kBitsToU32 : ScalarOp::kToU32, a);
        default:
            return unary(ScalarOp::kBitsToF32, a);
    }
}

}  // namespace hearth
