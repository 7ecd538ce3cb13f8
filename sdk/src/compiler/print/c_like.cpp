// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/c_like.hpp"

#include <hearth/core/assert.hpp>

#include <cstdint>

namespace hearth {

void CLikePrinter::block(const std::vector<Statement>& statements) {
    ++depth_;
    for (const Statement& s : statements) statement(s);
    --depth_;
}

void CLikePrinter::statement(const Statement& s) {
    switch (s.kind) {
        case StatementKind::kLet:
            return line(declaration_of_value(local(s)) + " = " + expression(s.a) + ";");
        case StatementKind::kDeclare:
            return line(declaration(local(s)) + (s.a == 0 ? "" : " = " + expression(s.a)) + ";");
        case StatementKind::kAssign:
            return line(expression(s.a) + " = " + expression(s.b) + ";");
        case StatementKind::kAccumulate:
            return line(expression(s.a) + (s.op == ScalarOp::kMul ? " *= " : " += ") +
                        expression(s.b) + ";");
        case StatementKind::kStore:
            return line(store(s.buffer, expression(s.a), operand(s.b)));
        case StatementKind::kFor:
            line(loop_head(s));
            block(s.body);
            return line("}");
        case StatementKind::kIf: {
            line("if (" + expression(s.a) + ") {");
            const Statement* choice = &s;
            for (;;) {
                block(choice->body);
                if (choice->otherwise.empty()) return line("}");
                const Statement& next = choice->otherwise[0];
                if (choice->otherwise.size() > 1 || next.kind != StatementKind::kIf) break;
                line("} else if (" + expression(next.a) + ") {");
                choice = &next;
            }
            line("} else {");
            block(choice->otherwise);
            return line("}");
        }
        case StatementKind::kBlock:
            line(s.label.empty() ? "{" : "{  // " + s.label);
            block(s.body);
            return line("}");
        case StatementKind::kReturn:
            return line(s.a == 0 ? "return;" : "return " + expression(s.a) + ";");
        case StatementKind::kContinue:
            return line("continue;");
        case StatementKind::kBreak:
            return line("break;");
        case StatementKind::kLoadLanes:
        case StatementKind::kStoreLanes:
        case StatementKind::kMultiplyAdd:
            return fail("vectors of CPUs");
        case StatementKind::kStoreChunk:
        case StatementKind::kStoreElements:
        case StatementKind::kSpread:
            return fail("chunks of elements");
        case StatementKind::kLoadFragment:
        case StatementKind::kStoreFragment:
            return fail("subgroups");
        case StatementKind::kSubgroupBarrier:
            if (body_.subgroup_size == 0) return;  // it orders nothing
            return fail("subgroups");
        default:
            return fail("a statement of GPUs");
    }
}

std::string CLikePrinter::expression(uint32_t id) {
    const ExprNode& n = node(id);
    switch (n.kind) {
        case ExprKind::kConstant:
            return literal(n.bits, n.type);
        case ExprKind::kLocal:
            return place_of(n.bits);
        case ExprKind::kElement:
            return place_of(n.bits) + "[" + expression(n.in[0]) + "]";
        case ExprKind::kBuffer:
            return place_of_buffer(n.bits);
        case ExprKind::kLoad:
            return load(n.bits, expression(n.in[0]));
        case ExprKind::kPhilox:
            return "hearth_philox(" + std::to_string(static_cast<uint32_t>(n.bits)) + "u, " +
                   std::to_string(static_cast<uint32_t>(n.bits >> 32)) + "u, " +
                   random_counter(n.in[0]) + ", " + random_counter(n.in[1]) + ")";
        case ExprKind::kGreater:
            return operand(n.in[0]) + " > " + operand(n.in[1]);
        case ExprKind::kGreaterEqual:
            return operand(n.in[0]) + " >= " + operand(n.in[1]);
        case ExprKind::kOperation:
        case ExprKind::kFitting:
            return operation(n);
        case ExprKind::kNothing:
            HEARTH_ASSERT(false && "no expression");
            return {};
        case ExprKind::kPushedWord:
            fail("words that a dispatch gives");
            return "0";
        case ExprKind::kSubgroup:
        case ExprKind::kSubgroupInvocation:
        case ExprKind::kLength:
        case ExprKind::kConvert:
            fail("subgroups");
            return "0";
        case ExprKind::kCall:
            fail("functions");
            return "0";
        default:
            fail("chunks of elements");
            return "0";
    }
}

std::string CLikePrinter::operand(uint32_t id) {
    switch (node(id).kind) {
        case ExprKind::kOperation:
        case ExprKind::kScale:
        case ExprKind::kGreater:
        case ExprKind::kGreaterEqual:
            return "(" + expression(id) + ")";
        case ExprKind::kReinterpret:
            return operand(node(id).in[0]);
        default:
            return expression(id);
    }
}

std::string CLikePrinter::list(std::span<const uint32_t> expressions) {
    std::string text;
    for (const uint32_t id : expressions)
        if (id != 0) text += (text.empty() ? "" : ", ") + expression(id);
    return text;
}

std::string CLikePrinter::loop_head(const Statement& s) {
    return "for (" + declaration(local(s)) + " = " + expression(s.a) + "; " + expression(s.b) +
           "; " + update(s) + ") {";
}

std::string CLikePrinter::update(const Statement& s) {
    const std::string counter = place_of(s.local);
    if (s.c == 0) return (s.op == ScalarOp::kSub ? "--" : "++") + counter;
    const char* const assignment = s.op == ScalarOp::kMul   ? " *= "
                                   : s.op == ScalarOp::kDiv ? " /= "
                                                            : " += ";
    return counter + assignment + expression(s.c);
}

void CLikePrinter::load_elements(const Statement& s) {
    for (uint32_t i = 0; i < local(s).length; ++i)
        line(place_of(s.local) + "[" + std::to_string(i) +
             "] = " + load(s.buffer, operand(s.a) + " + " + std::to_string(i)) + ";");
}

void CLikePrinter::store_elements(const Statement& s) {
    for (uint32_t i = 0; i < local(s).length; ++i)
        line(store(s.buffer, operand(s.a) + " + " + std::to_string(i),
                   place_of(s.local) + "[" + std::to_string(i) + "]"));
}

std::string CLikePrinter::along_axis(const ExprNode& n, const std::string& linear) {
    if (body_.across == 0) return linear;
    const std::string across = operand(body_.across), down = operand(body_.down);
    if (n.bits == 2) return "(" + linear + " / (" + across + " * " + down + "))";
    if (n.kind == ExprKind::kWorkgroups) return n.bits == 0 ? across : down;
    return n.bits == 0 ? "(" + linear + " % " + across + ")"
                       : "(" + linear + " / " + across + " % " + down + ")";
}

bool CLikePrinter::is_by_constant(const ExprNode& n) const {
    return (n.op == ScalarOp::kDiv || n.op == ScalarOp::kMod) && !is_floating(node(n.in[0]).type) &&
           node(n.in[1]).kind == ExprKind::kConstant && constant_value(node(n.in[1])) > 0;
}

std::string CLikePrinter::place_of_buffer(uint64_t buffer) const {
    return body_.buffers[buffer].name;
}

}  // namespace hearth
