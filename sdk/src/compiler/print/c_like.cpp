// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/c_like.hpp"

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/decompositions.hpp"
#include "compiler/kernel/instructions.hpp"

#include <hearth/core/assert.hpp>

#include <cstdint>
#include <optional>

namespace hearth {

namespace {

/// Rows that languages with vectors have in common, behind those of their own.
constexpr Spelling kCommonSpellings[] = {
    {ScalarOp::kNeg, kOfAny, "-$a"},
    {ScalarOp::kNot, kOfAny, "!$a"},
    {ScalarOp::kBitNot, kOfAny, "~$a"},
    {ScalarOp::kAbs, kOfAny, "abs($A)"},
    {ScalarOp::kFloor, kOfAny, "floor($A)"},
    {ScalarOp::kCeil, kOfAny, "ceil($A)"},
    {ScalarOp::kTrunc, kOfAny, "trunc($A)"},
    {ScalarOp::kIsNan, kOfAny, "hearth_is_nan($A)"},
    {ScalarOp::kIsInf, kOfAny, "hearth_is_inf($A)"},
    {ScalarOp::kDiv, kOfF32, "$a / $b"},
};

const Spelling* find_spelling(std::span<const Spelling> rows, ScalarOp op, ScalarType type) {
    for (const Spelling& row : rows)
        if (row.op == op && (row.of & set_of(type)) != 0) return &row;
    return nullptr;
}

}  // namespace

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
        case StatementKind::kLoadVector:
            line(declaration(local(s)) + ";");
            return load_elements(s);
        case StatementKind::kStoreVector:
            return store_elements(s);
        case StatementKind::kLoadLanes:
        case StatementKind::kStoreLanes:
        case StatementKind::kMultiplyAdd:
            return fail("vectors of CPUs");
        case StatementKind::kStoreChunk:
        case StatementKind::kStoreElements:
            return store_chunk(s);
        case StatementKind::kSpread:
            return spread(s);
        case StatementKind::kCall:
            return line(function_call(s.function, s.arguments) + ";");
        case StatementKind::kLetCall:
            return line(declaration_of_value(local(s)) + " = " +
                        function_call(s.function, s.arguments) + ";");
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
            return n.chunk == Chunk::kOne ? load(n.bits, expression(n.in[0])) : chunk(id);
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
            return function_call(n.bits, body_.arguments_of(n));
        case ExprKind::kHighProduct:
            return "hearth_high_product(" + list(n.in) + ")";
        case ExprKind::kMultiplyAdd:
            if (is_fragment(n.chunk)) fail("subgroups");
            return "fma(" + list(n.in) + ")";
        case ExprKind::kDot:
            return "dot(" + list(n.in) + ")";
        case ExprKind::kClamp:
            return "clamp(" + list(n.in) + ")";
        default:
            return chunk(id);
    }
}

void CLikePrinter::print_function(const BodyFunction& f, const std::string& prefix) {
    line(prefix + head_of(f) + " {");
    block(f.statements);
    line("}");
}

std::string CLikePrinter::function_call(uint64_t function, std::span<const uint32_t> arguments) {
    const BodyFunction& f = body_.functions[function];
    if (&body_ == &decompositions()) decompositions_.insert(static_cast<uint32_t>(function));
    std::string text;
    for (size_t i = 0; i < arguments.size(); ++i)
        text += (i == 0 ? "" : ", ") + argument(f.parameters[i], arguments[i]);
    return f.name + "(" + text + ")";
}

std::string CLikePrinter::argument(uint32_t /*parameter*/, uint32_t argument) {
    return expression(argument);
}

std::string CLikePrinter::spelled(const ExprNode& n) {
    if (is_by_constant(n))
        return operand(n.in[0]) + (n.op == ScalarOp::kDiv ? " / " : " % ") + operand(n.in[1]);
    if (!is_unary(n.op) && n.op != ScalarOp::kSelect)
        if (std::string text = infix(n.op, operand(n.in[0]), operand(n.in[1])); !text.empty())
            return text;
    const ScalarType type = node(n.in[0]).type;
    const Spelling* spelling = find_spelling(spellings(), n.op, type);
    if (spelling == nullptr) spelling = find_spelling(kCommonSpellings, n.op, type);
    if (spelling != nullptr) {
        std::string text;
        for (size_t i = 0; i < spelling->text.size(); ++i) {
            const char c = spelling->text[i];
            if (c != '$') {
                text += c;
                continue;
            }
            const char which = spelling->text[++i];
            if (which == 't')
                text += chunk_type(n.type, n.chunk);
            else
                text += which >= 'a' ? operand(n.in[static_cast<size_t>(which - 'a')])
                                     : expression(n.in[static_cast<size_t>(which - 'A')]);
        }
        return text;
    }
    const std::optional<uint32_t> function = find_decomposition(n.op, type);
    if (!function || n.chunk != Chunk::kOne) {
        fail(std::string("the operation ") + instruction_of(n.op).name + " of " +
             hearth::name_of(type));
        return "0";
    }
    decompositions_.insert(*function);
    return decompositions().functions[*function].name + "(" + list(n.in) + ")";
}

// ------------------------------------------------------------------------ chunks

std::string CLikePrinter::chunk_type(ScalarType /*type*/, Chunk /*chunk*/) const {
    return "";
}
uint32_t CLikePrinter::vector_length(Chunk chunk) {
    return is_fragment(chunk) || chunk == Chunk::kHalves ? 0 : length_of(chunk);
}
std::string CLikePrinter::head_of(const BodyFunction& f) {
    return f.name;
}

std::string CLikePrinter::chunk(uint32_t id) {
    const ExprNode& n = node(id);
    const std::string type = chunk_type(n.type, n.chunk);
    if (type.empty()) {
        fail("chunks of elements");
        return "0";
    }
    switch (n.kind) {
        case ExprKind::kLoad:
            return elements_from(n, operand(n.in[0]));
        case ExprKind::kLoadChunk:
            return elements_from(n, operand(n.in[0]) + " * " + std::to_string(length_of(n.chunk)));
        case ExprKind::kChunkElement:
            return operand(n.in[0]) + "[" + expression(n.in[1]) + "]";
        case ExprKind::kFill:
            return type + "(" + expression(n.in[0]) + ")";
        case ExprKind::kCompose:
            return type + "(" + list(body_.arguments_of(n)) + ")";
        case ExprKind::kScale:
            return operand(n.in[0]) + " * " + operand(n.in[1]);
        default:
            fail(instruction_of(n.kind).name);
            return "0";
    }
}

std::string CLikePrinter::elements_from(const ExprNode& n, const std::string& first) {
    if (n.chunk != Chunk::kFour) fail("chunks of f16");
    std::string elements;
    for (uint32_t i = 0; i < 4; ++i)
        elements +=
            (i == 0 ? "" : ", ") + load(n.bits, i == 0 ? first : first + " + " + std::to_string(i));
    return chunk_type(n.type, n.chunk) + "(" + elements + ")";
}

/// Of a chunk by its number, of a four, or of several numbers.
void CLikePrinter::store_chunk(const Statement& s) {
    const bool is_numbered = s.kind == StatementKind::kStoreChunk;
    const bool is_chunk = is_numbered || s.arguments.size() == 1;
    const uint32_t value = is_numbered ? s.b : s.arguments[0];
    if (chunk_type(ScalarType::kF32, Chunk::kFour).empty()) return fail("chunks of elements");
    if (is_chunk && node(value).chunk != Chunk::kFour) return fail("chunks of f16");
    const std::string first = operand(s.a) + (is_numbered ? " * 4" : "");
    const std::string name = "chunk" + std::to_string(stored_chunks_);
    if (is_chunk) {
        ++stored_chunks_;
        line(declaration_of_value({.name = name, .chunk = Chunk::kFour}) + " = " +
             expression(value) + ";");
    }
    const size_t count = is_chunk ? 4 : s.arguments.size();
    for (size_t i = 0; i < count; ++i)
        line(store(s.buffer, first + " + " + std::to_string(i),
                   is_chunk ? name_of_value(name) + "[" + std::to_string(i) + "]"
                            : operand(s.arguments[i])));
}

void CLikePrinter::spread(const Statement& s) {
    if (s.arguments.size() != 2) return fail("chunks of f16");
    for (uint32_t i = 0; i < 8; ++i)
        line(place_of(s.local) + "[" + std::to_string(i) + "] = " + operand(s.arguments[i / 4]) +
             "[" + std::to_string(i % 4) + "];");
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
