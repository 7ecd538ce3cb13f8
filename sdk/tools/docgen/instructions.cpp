// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes the page of kernel instructions from their rows.

#include "compiler/kernel/instructions.hpp"

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "pages.hpp"

#include <string>

namespace hearth::docgen {

namespace {

const char* name_of(OperandType type) {
    constexpr const char* kNames[] = {"",
                                      "any",
                                      "i32",
                                      "u32",
                                      "f32",
                                      "bool",
                                      "four f32",
                                      "the same chunk",
                                      "left factor",
                                      "right factor",
                                      "sums"};
    return kNames[static_cast<size_t>(type)];
}

std::string list_of(std::span<const OperandType> operands) {
    std::string text;
    for (const OperandType type : operands)
        if (type != OperandType::kNone)
            text += (text.empty() ? "" : ", ") + std::string(name_of(type));
    return text;
}

std::string chunks_of(const ExpressionInstruction& row) {
    std::string text;
    for (auto chunk = Chunk::kOne; chunk <= Chunk::kHalfSums;
         chunk = static_cast<Chunk>(static_cast<int>(chunk) + 1))
        if (row.gives.has(chunk))
            text += (text.empty() ? "" : ", ") + std::string(hearth::name_of(chunk));
    if (row.gives.has(Chunk::kHalfSums) && row.gives.has(Chunk::kOne) && row.gives.has(Chunk::kTwo))
        return "any";
    return row.type == OperandType::kAny ? text : name_of(row.type);
}

std::string differs(Varies varies) {
    if (varies == kAlike) return "nowhere";
    if (varies == kBySubgroup) return "by subgroup";
    return varies == kAsOperands ? "as its operands" : "by invocation";
}

struct SignatureText {
    ScalarSignature signature;
    const char* takes;
    const char* gives;
};
constexpr SignatureText kSignatures[] = {
    {ScalarSignature::kFloats, "float", "the same"},
    {ScalarSignature::kSingles, "f32", "f32"},
    {ScalarSignature::kNumbers, "float or integer", "the same"},
    {ScalarSignature::kIntegers, "integer", "the same"},
    {ScalarSignature::kConditions, "bool", "bool"},
    {ScalarSignature::kFloatTest, "float", "bool"},
    {ScalarSignature::kOrder, "float or integer", "bool"},
    {ScalarSignature::kEquality, "any", "bool"},
    {ScalarSignature::kShift, "integer, by an integer", "the first one's type"},
    {ScalarSignature::kSelect, "bool, two of a type", "that type"},
    {ScalarSignature::kConversion, "any", nullptr},
    {ScalarSignature::kFloatBits, "a float as wide", nullptr},
    {ScalarSignature::kIntegerBits, "an integer as wide", nullptr},
    {ScalarSignature::kWordFraction, "u32", "f32"},
};

std::string operations_table() {
    std::string text = "| operation | operands | of type | gives |\n|---|---|---|---|\n";
    for (auto op = ScalarOp::kConst; op <= ScalarOp::kBitsToF64;
         op = static_cast<ScalarOp>(static_cast<int>(op) + 1)) {
        const ScalarInstruction& row = instruction_of(op);
        for (const SignatureText& of : kSignatures)
            if (of.signature == row.signature)
                text += "|" + cell("`" + std::string(row.name) + "`") +
                        cell(std::to_string(operand_count(op))) + cell(of.takes) +
                        cell(of.gives != nullptr ? of.gives : hearth::name_of(row.result)) + "\n";
    }
    return text;
}

}  // namespace

std::string instructions_page() {
    std::string text =
        "# Kernel instructions\n\n"
        "Made from the rows of "
        "[kernel/instructions.cpp](../../sdk/src/compiler/kernel/instructions.cpp) and\n"
        "[ir/scalar_instructions.cpp](../../sdk/src/compiler/ir/scalar_instructions.cpp) by "
        "`hearth_docgen`; a test fails\n"
        "when it is stale. [How a kernel is made](../explanation/how_a_kernel_is_made.md) says who "
        "reads them. A body is\n"
        "statements over expressions; a chunk is several numbers that an invocation handles as "
        "one, a fragment a matrix that\n"
        "a subgroup holds together.\n\n"
        "## Expressions\n\n"
        "\"Differs\": among which invocations of a workgroup the value may differ; barriers stand "
        "only where control does not.\n\n"
        "| expression | value | operands | gives | differs |\n|---|---|---|---|---|\n";
    for (const ExpressionInstruction& row : expression_instructions())
        text += "|" + cell(row.name) + cell(row.meaning) + cell(list_of(row.in)) +
                cell(chunks_of(row)) + cell(differs(row.varies)) + "\n";
    text += "\n## Operations\n\nOf one number, or of each element of a chunk.\n\n" +
            operations_table() +
            "\n## Statements\n\n| statement | effect | operands |\n|---|---|---|\n";
    for (const StatementInstruction& row : statement_instructions())
        text += "|" + cell(row.name) + cell(row.meaning) +
                cell(list_of(std::array{row.a, row.b, row.c})) + "\n";
    return text;
}

}  // namespace hearth::docgen
