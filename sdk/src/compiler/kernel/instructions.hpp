// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The instructions of kernel bodies, a row for each kind of expression and of statement: what it takes, gives and means.
// Verification (verify.cpp), the interpreter (compiler/reference/run_kernel.cpp), the estimate of a kernel's size and
// docs/reference/kernel_instructions.md read these rows; the operations of kOperation have rows of their own
// (compiler/ir/scalar_instructions.hpp).

#pragma once

#include "compiler/kernel/body.hpp"

#include <initializer_list>
#include <span>

namespace hearth {

/// The type and chunk of an operand.
enum class OperandType : uint8_t {
    kNone,        ///< there is none
    kAny,         ///< any value; the instruction's own rule says which
    kIndex,       ///< i32
    kWord,        ///< u32
    kFloat,       ///< f32
    kCondition,   ///< bool
    kFour,        ///< four f32
    kSameFloats,  ///< f32, a chunk as the result
    kLeft,        ///< fragments
    kRight,
    kSums,
};

/// Among which invocations of a workgroup something may differ: `|` says among all of either.
using Varies = uint32_t;
constexpr Varies kAlike = 0, kBySubgroup = 1, kByInvocation = 3, kAsOperands = 4;

/// A set of chunks.
class Chunks {
  public:
    constexpr Chunks(std::initializer_list<Chunk> chunks) {
        for (const Chunk chunk : chunks) bits_ |= 1u << static_cast<uint32_t>(chunk);
    }
    static constexpr Chunks any() { return Chunks(~0u); }
    constexpr bool has(Chunk chunk) const {
        return (bits_ >> static_cast<uint32_t>(chunk) & 1) != 0;
    }

  private:
    constexpr explicit Chunks(uint32_t bits) : bits_(bits) {}
    uint32_t bits_ = 0;
};

/// Elements of the operands of an expression, as one invocation has them.
class OperandElements {
  public:
    using Values = std::vector<uint64_t>;  ///< per invocation
    OperandElements(const std::array<std::vector<Values>, 3>& operands, size_t invocation)
        : operands_(operands), invocation_(invocation) {}
    uint64_t operator()(size_t operand, size_t element = 0) const {
        return operands_[operand][element][invocation_];
    }
    float number(size_t operand, size_t element = 0) const;

  private:
    const std::array<std::vector<Values>, 3>& operands_;
    size_t invocation_;
};

struct ExpressionInstruction {
    ExprKind kind;
    const char* name;
    const char* meaning;
    std::array<OperandType, 3> in{};
    Chunks gives{Chunk::kOne};
    OperandType type = OperandType::kAny;  ///< of the result: kIndex, kWord, kFloat or kAny
    Varies varies = kByInvocation;  ///< the result, beside what the operands say with kAsOperands
    /// The bits of element `i` of the result, where operands alone decide it.
    uint64_t (*evaluate)(const ExprNode& n, uint32_t i, const OperandElements& in) = nullptr;
    uint32_t size = 1;        ///< instructions of a GPU
    bool is_for_each = true;  ///< so many for each element
};

struct StatementInstruction {
    StatementKind kind;
    const char* name;
    const char* meaning;
    OperandType a = OperandType::kNone, b = OperandType::kNone, c = OperandType::kNone;
    uint32_t size = 1;  ///< instructions of a GPU beside its operands'
};

const ExpressionInstruction& instruction_of(ExprKind kind);
const StatementInstruction& instruction_of(StatementKind kind);
std::span<const ExpressionInstruction> expression_instructions();
std::span<const StatementInstruction> statement_instructions();

/// "a four", "sums", ...
const char* name_of(Chunk chunk);

/// The bits, as f32, of one of the two f16 of a word; and those, as f16, of an f32.
uint64_t half_of(uint64_t word, uint32_t which);
uint64_t bits_of_half(uint64_t number);
/// a * b + sum with one rounding, of the bits of f32.
uint32_t multiply_add(uint64_t a, uint64_t b, uint64_t sum);

}  // namespace hearth
