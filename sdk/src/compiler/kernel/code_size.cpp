// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/kernel/code_size.hpp"

#include "compiler/kernel/decompositions.hpp"
#include "compiler/kernel/instructions.hpp"

#include <algorithm>
#include <optional>

namespace hearth {

namespace {

// Instructions of what is no single one on any GPU.
constexpr uint64_t kLibraryFunction = 24, kDivision = 8, kRounding = 8;
// Mesa's compiler writes out loops of up to 32 turns with as much code as this in all.
constexpr int64_t kMostTurns = 32;
constexpr uint64_t kMostUnrolled = 800;

class CodeSize {
  public:
    explicit CodeSize(const Body& body) : body_(body) {
        for (const BodyFunction& function : body.functions)
            functions_.push_back(of(function.statements));
    }

    uint64_t of(const std::vector<Statement>& statements) const {
        uint64_t sum = 0;
        for (const Statement& s : statements) sum += of(s);
        return sum;
    }

  private:
    uint64_t of(const Statement& s) const {
        uint64_t operands = expression(s.a) + expression(s.b) + expression(s.c);
        for (const uint32_t argument : s.arguments) operands += expression(argument);
        const uint64_t inner = of(s.body) + of(s.otherwise);
        switch (s.kind) {
            case StatementKind::kFor: {
                const std::optional<int64_t> turns = turns_of(s);
                const uint64_t once = operands + inner + 1;
                if (!turns || s.is_rolled) return once;
                const uint64_t all = static_cast<uint64_t>(*turns) * inner;
                const bool is_short = *turns <= kMostTurns && all <= kMostUnrolled;
                return s.is_unrolled || is_short ? all : once;
            }
            case StatementKind::kCall:
            case StatementKind::kLetCall:
                return operands + functions_[s.function];
            default:
                return operands + inner + instruction_of(s.kind).size;
        }
    }

    /// Turns of a loop from one number to another.
    std::optional<int64_t> turns_of(const Statement& s) const {
        const ExprNode& condition = body_.expressions[s.b];
        const bool is_less =
            condition.kind == ExprKind::kOperation && condition.op == ScalarOp::kLess;
        const auto number = [&](uint32_t id) -> std::optional<int64_t> {
            const ExprNode& node = body_.expressions[id];
            if (node.kind != ExprKind::kConstant) return std::nullopt;
            return static_cast<int64_t>(constant_value(node));
        };
        const auto first = number(s.a), end = is_less ? number(condition.in[1]) : std::nullopt;
        const auto step = s.c == 0 ? std::optional<int64_t>(1) : number(s.c);
        if (s.op != ScalarOp::kAdd || !first || !end || !step || *step < 1) return std::nullopt;
        return std::max<int64_t>(0, (*end - *first + *step - 1) / *step);
    }

    /// Operations of an expression and of what it is made of.
    uint64_t expression(uint32_t id) const {
        if (id == 0) return 0;
        const ExprNode& node = body_.expressions[id];
        uint64_t sum = 0;
        if (has_arguments(node.kind))
            for (const uint32_t argument : body_.arguments_of(node)) sum += expression(argument);
        else
            for (const uint32_t in : node.in) sum += expression(in);
        return sum + operation(node);
    }

    uint64_t operation(const ExprNode& node) const {
        switch (node.kind) {
            case ExprKind::kCall:
                return functions_[node.bits];
            case ExprKind::kOperation:
                if (node.op == ScalarOp::kDiv && node.type == ScalarType::kF32)
                    return kDivision * lanes(node);
                if (node.op == ScalarOp::kRoundF16 || node.op == ScalarOp::kRoundBF16)
                    return kRounding * lanes(node);
                if (is_library_function(node.op, body_.expressions[node.in[0]].type))
                    return kLibraryFunction * lanes(node);
                return lanes(node);
            default:
                break;
        }
        const ExpressionInstruction& row = instruction_of(node.kind);
        return row.size == 0 ? 0 : row.size * (row.is_for_each ? lanes(node) : 1);
    }

    /// Elements that an invocation computes one by one.
    uint64_t lanes(const ExprNode& node) const {
        if (!is_fragment(node.chunk)) return length_of(node.chunk);
        return body_.subgroup_size == 0
                   ? 1
                   : std::max<uint64_t>(1, body_.matrix.m * body_.matrix.n / body_.subgroup_size);
    }

    const Body& body_;
    std::vector<uint64_t> functions_;
};

}  // namespace

uint64_t estimate_instructions(const Body& body) {
    return CodeSize(body).of(body.statements);
}

}  // namespace hearth
