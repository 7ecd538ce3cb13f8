// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What becomes of expressions when they are made: simplified where the result stays the same bits,
// and only there.

#include <hearth/op/scalar.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace hearth {
namespace {

class Simplify : public testing::Test {
  protected:
    Scalar variable(ScalarType type) { return arena.symbol(type); }
    Scalar number(double value, ScalarType type) { return arena.constant(value, type); }
    static void expect_number(Scalar s, double value, ScalarType type) {
        ASSERT_TRUE(s.is_const());
        EXPECT_EQ(s.type(), type);
        EXPECT_EQ(s.const_value(), value);
    }

    ScalarArena arena;
};

TEST_F(Simplify, IntegersByNeutralNumbers) {
    const Scalar i = variable(ScalarType::kI32);
    EXPECT_EQ((i + 0).id, i.id);
    EXPECT_EQ((0 + i).id, i.id);
    EXPECT_EQ((i - 0).id, i.id);
    EXPECT_EQ((i * 1).id, i.id);
    EXPECT_EQ((i / 1).id, i.id);
    expect_number(i * 0, 0, ScalarType::kI32);
    expect_number(i % 1, 0, ScalarType::kI32);
    expect_number(0 / i, 0, ScalarType::kI32);
    expect_number(0 % i, 0, ScalarType::kI32);
    for (const Scalar kept : {i + 1, i - 1, i * 2, i / 2, i % 3, 0 - i, 1 / i, 1 % i}) {
        EXPECT_FALSE(kept.is_const());
        EXPECT_NE(kept.id, i.id);
    }
}

TEST_F(Simplify, NothingUnsignedIsBelowZero) {
    expect_number(variable(ScalarType::kU32) < 0, 0, ScalarType::kBool);
    EXPECT_FALSE((variable(ScalarType::kU32) < 1).is_const());
    EXPECT_FALSE((variable(ScalarType::kI32) < 0).is_const());
}

TEST_F(Simplify, FloatsKeepNaNAndTheSignOfZero) {
    const Scalar x = variable(ScalarType::kF32);
    EXPECT_EQ((x * 1).id, x.id);
    EXPECT_EQ((x / 1).id, x.id);
    for (const Scalar kept : {x + 0, x - 0, x * 0, x % 1, 0 / x, x * 2, x / 2}) {
        EXPECT_FALSE(kept.is_const());
        EXPECT_NE(kept.id, x.id);
    }
}

TEST_F(Simplify, IntegersThatAreKnown) {
    const auto i32 = [&](double v) { return number(v, ScalarType::kI32); };
    expect_number(i32(7) / 2, 3, ScalarType::kI32);
    expect_number(i32(7) % 4, 3, ScalarType::kI32);
    expect_number(i32(-7) * 2, -14, ScalarType::kI32);
    // Which way a quotient of negative numbers rounds is left to the kernel, and so is one by zero.
    EXPECT_FALSE((i32(-7) / 2).is_const());
    EXPECT_FALSE((i32(7) % i32(-2)).is_const());
    EXPECT_FALSE((i32(7) / 0).is_const());
}

TEST_F(Simplify, ConstantsWrapAroundAsKernelsDo) {
    // Above 2^53, where a double does not hold each integer, and above 2^63.
    for (const auto& [a, b] : {std::pair{0x9e3779b9u, 0x85ebca6bu}, {0xffffffffu, 0xffffffffu}})
        expect_number(number(a, ScalarType::kU32) * number(b, ScalarType::kU32), uint32_t{a * b},
                      ScalarType::kU32);
    const Scalar least = number(-0x1p31, ScalarType::kI32);
    expect_number(-least, -0x1p31, ScalarType::kI32);
    expect_number(least - 1, 0x7fffffff, ScalarType::kI32);
}

TEST_F(Simplify, OppositesOfOpposites) {
    const Scalar x = variable(ScalarType::kF32), flag = variable(ScalarType::kBool);
    const auto negated = [&](Scalar s) { return arena.unary(ScalarOp::kNot, s); };
    EXPECT_EQ((-(-x)).id, x.id);
    EXPECT_EQ(negated(negated(flag)).id, flag.id);
    EXPECT_NE((-x).id, x.id);
    EXPECT_NE(negated(flag).id, flag.id);
    expect_number(-number(2, ScalarType::kF32), -2, ScalarType::kF32);
    expect_number(negated(arena.boolean(true)), 0, ScalarType::kBool);
    expect_number(negated(arena.boolean(false)), 1, ScalarType::kBool);
}

TEST_F(Simplify, BoolsThatWentThroughIntegers) {
    const Scalar flag = variable(ScalarType::kBool), x = variable(ScalarType::kF32);
    const auto there_and_back = [&](Scalar s) {
        return arena.convert(arena.convert(s, ScalarType::kI32), ScalarType::kBool);
    };
    EXPECT_EQ(there_and_back(flag).id, flag.id);
    // 0.5 as an integer is 0, which is false.
    EXPECT_EQ(there_and_back(x).type(), ScalarType::kBool);
    EXPECT_NE(there_and_back(x).id, arena.convert(x, ScalarType::kBool).id);
    EXPECT_EQ((arena.convert(flag, ScalarType::kI32) != 0).id, flag.id);
    EXPECT_NE((arena.convert(flag, ScalarType::kI32) != 1).id, flag.id);
}

TEST_F(Simplify, NumbersThatATypeDoesNotHoldBecomeItsNearest) {
    const auto as = [&](double value, ScalarType to) {
        return arena.convert(number(value, ScalarType::kF32), to);
    };
    expect_number(as(1e20, ScalarType::kI32), INT32_MAX, ScalarType::kI32);
    expect_number(as(-1e20, ScalarType::kI32), INT32_MIN, ScalarType::kI32);
    expect_number(as(1e20, ScalarType::kU32), UINT32_MAX, ScalarType::kU32);
    expect_number(as(-1, ScalarType::kU32), 0, ScalarType::kU32);
    // What is not zero is true, however small.
    expect_number(as(0.5, ScalarType::kBool), 1, ScalarType::kBool);
    // Integers keep their bits.
    expect_number(arena.convert(number(-1, ScalarType::kI32), ScalarType::kU32), UINT32_MAX,
                  ScalarType::kU32);
}

TEST_F(Simplify, ConversionsToTheSameType) {
    for (const ScalarType type : {ScalarType::kF32, ScalarType::kI32, ScalarType::kU32}) {
        const Scalar x = variable(type);
        EXPECT_EQ(arena.convert(x, type).id, x.id);
        EXPECT_EQ(arena.reinterpret(x, type).id, x.id);
    }
    const Scalar i = variable(ScalarType::kI32);
    EXPECT_EQ(arena.reinterpret(i, ScalarType::kF32).node().op, ScalarOp::kBitsToF32);
    EXPECT_EQ(arena.convert(i, ScalarType::kF32).node().op, ScalarOp::kToF32);
}

}  // namespace
}  // namespace hearth
