// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/kernel/instructions.hpp"

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operation.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/host_tensor.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace hearth {

namespace {

using Takes = OperandType;
using In = OperandElements;

float f32(uint64_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

uint64_t rounded_to_half(uint64_t bits) {
    return scalar_operation(ScalarOp::kRoundF16, ScalarType::kF32, {bits, 0, 0});
}
uint64_t clamped(const ExprNode& /*n*/, uint32_t /*i*/, const In& in) {
    const auto at = [&](size_t operand) { return static_cast<int32_t>(in(operand)); };
    return static_cast<uint32_t>(std::min(std::max(at(0), at(1)), at(2)));
}

uint64_t dot_product(const ExprNode& /*n*/, uint32_t /*i*/, const In& in) {
    uint32_t sum = 0;
    for (size_t i = 0; i < length_of(Chunk::kFour); ++i)
        sum = multiply_add(in(0, i), in(1, i), sum);
    return sum;
}

uint64_t reinterpreted(const ExprNode& n, uint32_t i, const In& in) {
    if (n.chunk == Chunk::kHalves) return half_of(in(0, i / 2), i % 2);
    return bits_of_half(in(0, 2 * i)) | bits_of_half(in(0, 2 * i + 1)) << 16;
}

uint64_t joined(const ExprNode& /*n*/, uint32_t i, const In& in) {
    return rounded_to_half(in(i / 4, i % 4));
}

constexpr Chunks kFills{Chunk::kFour, Chunk::kHalves, Chunk::kThree, Chunk::kTwo,
                        Chunk::kLeft, Chunk::kRight,  Chunk::kSums,  Chunk::kHalfSums};
constexpr Chunks kFragments{Chunk::kLeft, Chunk::kRight, Chunk::kSums, Chunk::kHalfSums};
constexpr uint32_t kMemory = 3, kPhilox = 80;

/// A number that the dispatch, or the invocation's place in it, decides.
constexpr ExpressionInstruction place(ExprKind kind, const char* name, const char* meaning,
                                      Varies varies) {
    return {
        .kind = kind, .name = name, .meaning = meaning, .type = Takes::kIndex, .varies = varies};
}

/// In the order of ExprKind.
constexpr ExpressionInstruction kExpressions[] = {
    {.kind = ExprKind::kNothing, .name = "nothing", .meaning = "no expression", .size = 0},
    {.kind = ExprKind::kConstant,
     .name = "constant",
     .meaning = "the number with these bits",
     .varies = kAlike,
     .size = 0},
    place(ExprKind::kRowCount, "row count", "the live row count", kAlike),
    place(ExprKind::kPushedWord, "pushed word", "a word that the dispatch gives its kernel",
          kAlike),
    place(ExprKind::kInvocation, "invocation", "the invocation's index in its workgroup",
          kByInvocation),
    place(ExprKind::kWorkgroup, "workgroup", "the workgroup's index along an axis of the grid",
          kAlike),
    place(ExprKind::kWorkgroups, "workgroups", "the number of workgroups along an axis of the grid",
          kAlike),
    place(ExprKind::kSubgroup, "subgroup", "the subgroup's index in its workgroup", kBySubgroup),
    place(ExprKind::kSubgroupInvocation, "subgroup invocation",
          "the invocation's index in its subgroup", kByInvocation),
    {.kind = ExprKind::kLocal,
     .name = "local",
     .meaning = "a local's value",
     .gives = Chunks::any(),
     .varies = kAsOperands,
     .size = 0},
    {.kind = ExprKind::kElement,
     .name = "element",
     .meaning = "an element of a local that is an array or a vector",
     .in = {Takes::kIndex},
     .gives = Chunks::any(),
     .varies = kAsOperands},
    {.kind = ExprKind::kBuffer,
     .name = "buffer",
     .meaning = "a buffer, as an argument, or as what a buffer variable is set to",
     .size = 0},
    {.kind = ExprKind::kLoad,
     .name = "load",
     .meaning = "an element of a buffer, or the chunk that begins there; of words, four",
     .in = {Takes::kIndex},
     .gives = {Chunk::kOne, Chunk::kFour, Chunk::kHalves},
     .size = kMemory,
     .is_for_each = false},
    {.kind = ExprKind::kCall,
     .name = "call",
     .meaning = "a function's result",
     .gives = Chunks::any()},
    {.kind = ExprKind::kPhilox,
     .name = "random bits",
     .meaning = "32 random bits of a key, a step and an element",
     .in = {Takes::kAny, Takes::kAny},
     .type = Takes::kWord,
     .varies = kAsOperands,
     .evaluate = [](const ExprNode& n, uint32_t, const In& in) -> uint64_t {
         return philox_bits(n.bits, static_cast<uint32_t>(in(0)), static_cast<uint32_t>(in(1)));
     },
     .size = kPhilox,
     .is_for_each = false},
    {.kind = ExprKind::kOperation,
     .name = "operation",
     .meaning = "a scalar operation as it is written, neither simplified nor reordered",
     .gives = {Chunk::kOne, Chunk::kTwo, Chunk::kThree, Chunk::kFour, Chunk::kHalves},
     .varies = kAsOperands},
    {.kind = ExprKind::kFitting,
     .name = "fitting operation",
     .meaning =
         "a conversion of a float that fits, or a power of a positive base, by the target's own "
         "instruction",
     .varies = kAsOperands},
    {.kind = ExprKind::kGreater,
     .name = "greater",
     .meaning = "whether the first number is greater",
     .varies = kAsOperands},
    {.kind = ExprKind::kGreaterEqual,
     .name = "greater or equal",
     .meaning = "whether the first number is greater, or the same",
     .varies = kAsOperands},
    {.kind = ExprKind::kClamp,
     .name = "clamp",
     .meaning = "the first integer, at least the second one and at most the third one",
     .in = {Takes::kIndex, Takes::kIndex, Takes::kIndex},
     .type = Takes::kIndex,
     .varies = kAsOperands,
     .evaluate = clamped},
    {.kind = ExprKind::kHighProduct,
     .name = "high product",
     .meaning = "the upper word of the product of two words",
     .in = {Takes::kWord, Takes::kWord},
     .type = Takes::kWord,
     .varies = kAsOperands,
     .evaluate = [](const ExprNode&, uint32_t, const In& in) { return in(0) * in(1) >> 32; }},
    {.kind = ExprKind::kChunkElement,
     .name = "chunk element",
     .meaning = "an element of a chunk or of a fragment",
     .in = {Takes::kAny, Takes::kIndex},
     .size = 0},
    {.kind = ExprKind::kVector,
     .name = "vector",
     .meaning = "all four elements of a local that is a vector",
     .gives = {Chunk::kFour},
     .size = 0},
    {.kind = ExprKind::kFill,
     .name = "fill",
     .meaning = "a chunk or fragment with each element the same; of halves only zeros",
     .in = {Takes::kFloat},
     .gives = kFills,
     .evaluate = [](const ExprNode&, uint32_t, const In& in) { return in(0); }},
    {.kind = ExprKind::kPart,
     .name = "part",
     .meaning = "four of eight halves",
     .in = {Takes::kAny},
     .gives = {Chunk::kFour},
     .evaluate = [](const ExprNode& n, uint32_t i, const In& in) { return in(0, 4 * n.bits + i); },
     .size = 0},
    {.kind = ExprKind::kJoin,
     .name = "join",
     .meaning = "eight halves of two fours, rounded",
     .in = {Takes::kFour, Takes::kFour},
     .gives = {Chunk::kHalves},
     .evaluate = joined,
     .size = 0},
    {.kind = ExprKind::kLoadChunk,
     .name = "load chunk",
     .meaning = "a chunk of a buffer, by its number among chunks as long",
     .in = {Takes::kIndex},
     .gives = {Chunk::kFour, Chunk::kHalves},
     .size = kMemory,
     .is_for_each = false},
    {.kind = ExprKind::kCompose,
     .name = "compose",
     .meaning = "a chunk of these numbers",
     .gives = {Chunk::kThree, Chunk::kFour}},
    {.kind = ExprKind::kScale,
     .name = "scale",
     .meaning = "a chunk, each element times a number",
     .in = {Takes::kSameFloats, Takes::kFloat},
     .gives = {Chunk::kThree, Chunk::kFour},
     .evaluate = [](const ExprNode&, uint32_t i, const In& in) -> uint64_t {
         return std::bit_cast<uint32_t>(in.number(0, i) * in.number(1));
     }},
    {.kind = ExprKind::kMultiplyAdd,
     .name = "multiply add",
     .meaning = "a * b + c with one rounding: of numbers, of threes and fours by element, or of "
                "fragments as a matrix product",
     .in = {Takes::kSameFloats, Takes::kSameFloats, Takes::kSameFloats},
     .gives = {Chunk::kOne, Chunk::kThree, Chunk::kFour, Chunk::kSums},
     .evaluate = [](const ExprNode&, uint32_t i, const In& in) -> uint64_t {
         return multiply_add(in(0, i), in(1, i), in(2, i));
     }},
    {.kind = ExprKind::kDot,
     .name = "dot",
     .meaning = "the sum of the products of two fours' elements",
     .in = {Takes::kFour, Takes::kFour},
     .type = Takes::kFloat,
     .evaluate = dot_product},
    {.kind = ExprKind::kDotHalves,
     .name = "dot halves",
     .meaning = "c + a0 * b0 + a1 * b1 in f32, of the two f16 that the words a and b hold; devices "
                "choose the order, and may round each sum up or down",
     .in = {Takes::kWord, Takes::kWord, Takes::kFloat},
     .type = Takes::kFloat,
     .evaluate = [](const ExprNode&, uint32_t, const In& in) -> uint64_t {
         const uint32_t first = multiply_add(half_of(in(0), 0), half_of(in(1), 0), in(2));
         return multiply_add(half_of(in(0), 1), half_of(in(1), 1), first);
     }},
    {.kind = ExprKind::kTwoHalves,
     .name = "two halves",
     .meaning = "the two f16 that a word holds",
     .in = {Takes::kWord},
     .gives = {Chunk::kTwo},
     .evaluate = [](const ExprNode&, uint32_t i, const In& in) { return half_of(in(0), i); }},
    {.kind = ExprKind::kPack,
     .name = "pack",
     .meaning = "the elements of an array of eight floats, rounded to f16",
     .gives = {Chunk::kHalves}},
    {.kind = ExprKind::kReinterpret,
     .name = "reinterpret",
     .meaning = "four words as the eight f16 that they hold, or the other way round",
     .in = {Takes::kAny},
     .gives = {Chunk::kFour, Chunk::kHalves},
     .evaluate = reinterpreted},
    {.kind = ExprKind::kLength,
     .name = "length",
     .meaning = "how many elements of a fragment each invocation has",
     .in = {Takes::kAny},
     .type = Takes::kIndex,
     .varies = kAlike},
    {.kind = ExprKind::kConvert,
     .name = "convert",
     .meaning = "a fragment as another one of as many elements, rounded, or of the same numbers",
     .in = {Takes::kAny},
     .gives = kFragments},
};

/// In the order of StatementKind.
constexpr StatementInstruction kStatements[] = {
    {StatementKind::kLet, "let", "a local is this value", Takes::kAny, Takes::kNone, Takes::kNone,
     0},
    {StatementKind::kDeclare, "declare",
     "a variable, an array or lanes come to be, with a first value if there is one", Takes::kNone,
     Takes::kNone, Takes::kNone, 0},
    {StatementKind::kDeclareBuffer, "declare buffer", "a buffer variable comes to be"},
    {StatementKind::kAssign, "assign", "a place, or a buffer variable, gets a value"},
    {StatementKind::kAccumulate, "accumulate",
     "a place gets what an operation makes of it and a value"},
    {StatementKind::kLoadVector, "load vector",
     "a local is elements of a buffer from an aligned one on", Takes::kIndex, Takes::kNone,
     Takes::kNone, kMemory},
    {StatementKind::kStore, "store", "an element of a buffer gets a value", Takes::kIndex,
     Takes::kAny, Takes::kNone, kMemory},
    {StatementKind::kStoreVector, "store vector",
     "elements of a buffer from an aligned one on get those of an array", Takes::kIndex,
     Takes::kNone, Takes::kNone, kMemory},
    {StatementKind::kLoadLanes, "load lanes", "lanes are elements of an array or a buffer",
     Takes::kIndex},
    {StatementKind::kStoreLanes, "store lanes", "elements of an array get a local's lanes",
     Takes::kIndex},
    {StatementKind::kMultiplyAdd, "multiply and add",
     "products of lanes, or of a number and lanes, are added to lanes"},
    {StatementKind::kStoreChunk, "store chunk",
     "a chunk of a buffer, by its number among chunks as long, gets a value", Takes::kIndex,
     Takes::kAny, Takes::kNone, kMemory},
    {StatementKind::kStoreElements, "store elements",
     "elements of a buffer from an aligned one on get 4 or 8 numbers, or a four", Takes::kIndex,
     Takes::kNone, Takes::kNone, kMemory},
    {StatementKind::kSpread, "spread",
     "an array of eight floats gets the elements of two fours, or of eight halves"},
    {StatementKind::kLoadFragment, "load fragment",
     "a fragment gets a matrix in a buffer or in shared memory, from element b on, c elements a "
     "line",
     Takes::kAny, Takes::kIndex, Takes::kIndex, kMemory},
    {StatementKind::kStoreFragment, "store fragment",
     "a matrix in a buffer or in shared memory gets a fragment's elements", Takes::kAny,
     Takes::kIndex, Takes::kIndex, kMemory},
    {StatementKind::kFor, "for", "statements are repeated with a counter while a condition holds"},
    {StatementKind::kIf, "if", "statements are done if a condition holds, others if not",
     Takes::kCondition},
    {StatementKind::kBarrier, "barrier",
     "all invocations of the workgroup come here, and see what others wrote to shared memory"},
    {StatementKind::kSubgroupBarrier, "subgroup barrier",
     "the same of the subgroup; where a body has no subgroup size, only an obstacle to moving "
     "loads"},
    {StatementKind::kCall, "call", "a function is called", Takes::kNone, Takes::kNone, Takes::kNone,
     0},
    {StatementKind::kLetCall, "let call", "a local is a function's result", Takes::kNone,
     Takes::kNone, Takes::kNone, 0},
    {StatementKind::kReturn, "return", "the function ends, with its result if it has one"},
    {StatementKind::kContinue, "continue", "the innermost loop goes on with its next turn"},
    {StatementKind::kBreak, "break", "the innermost loop ends"},
    {StatementKind::kBlock, "block", "statements in a scope of their own", Takes::kNone,
     Takes::kNone, Takes::kNone, 0},
};

template <class Rows>
constexpr bool are_in_order(const Rows& rows, size_t count) {
    for (size_t i = 0; i < std::size(rows); ++i)
        if (static_cast<size_t>(rows[i].kind) != i) return false;
    return std::size(rows) == count;
}
static_assert(are_in_order(kExpressions, static_cast<size_t>(ExprKind::kConvert) + 1));
static_assert(are_in_order(kStatements, static_cast<size_t>(StatementKind::kBlock) + 1));

}  // namespace

float OperandElements::number(size_t operand, size_t element) const {
    return f32((*this)(operand, element));
}

const ExpressionInstruction& instruction_of(ExprKind kind) {
    return kExpressions[static_cast<size_t>(kind)];
}
const StatementInstruction& instruction_of(StatementKind kind) {
    return kStatements[static_cast<size_t>(kind)];
}
std::span<const ExpressionInstruction> expression_instructions() {
    return kExpressions;
}
std::span<const StatementInstruction> statement_instructions() {
    return kStatements;
}

const char* name_of(Chunk chunk) {
    constexpr const char* kNames[] = {"a number",     "four", "eight halves",
                                      "three",        "two",  "left factor",
                                      "right factor", "sums", "half sums"};
    return kNames[static_cast<size_t>(chunk)];
}

uint64_t bits_of_half(uint64_t number) {
    return float_to_half(static_cast<double>(f32(number)));
}
uint64_t half_of(uint64_t word, uint32_t which) {
    const auto bits = static_cast<uint16_t>(word >> (16 * which));
    return std::bit_cast<uint32_t>(static_cast<float>(half_to_float(bits)));
}

uint32_t multiply_add(uint64_t a, uint64_t b, uint64_t sum) {
    return std::bit_cast<uint32_t>(std::fma(f32(a), f32(b), f32(sum)));
}

}  // namespace hearth
