// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/msl.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/print/c_like.hpp"
#include "compiler/print/literals.hpp"
#include "compiler/shaders/shader_text.hpp"

#include <cmath>
#include <utility>

namespace hearth {

namespace {

std::string_view type_text(ScalarType type) {
    constexpr std::string_view kNames[] = {"float", "int", "uint", "bool", "long", "ulong", ""};
    return kNames[static_cast<size_t>(type)];
}

/// An element as it lies in memory.
std::string_view held_text(DType held) {
    constexpr std::pair<DType, std::string_view> kNames[] = {
        {DType::kF32, "float"}, {DType::kF16, "half"},   {DType::kBF16, "ushort"},
        {DType::kI8, "char"},   {DType::kU8, "uchar"},   {DType::kBool, "uchar"},
        {DType::kI16, "short"}, {DType::kU16, "ushort"}, {DType::kI32, "int"},
        {DType::kU32, "uint"},  {DType::kI64, "long"},   {DType::kU64, "ulong"}};
    for (const auto& [dtype, name] : kNames)
        if (dtype == held) return name;
    return "";
}

/// Without a row: what Metal has too inexactly, or not at all.
constexpr Spelling kSpellings[] = {
    {ScalarOp::kAbs, kOfUnsigned, "$a"},
    {ScalarOp::kSign, kOfAny, "hearth_sign($A)"},
    {ScalarOp::kRound, kOfAny, "rint($A)"},
    {ScalarOp::kSqrt, kOfAny, "precise::sqrt($A)"},
    {ScalarOp::kRsqrt, kOfAny, "precise::rsqrt($A)"},
    {ScalarOp::kExp, kOfAny, "precise::exp($A)"},
    {ScalarOp::kLog, kOfAny, "precise::log($A)"},
    {ScalarOp::kToF32, kOfAny, "float($A)"},
    {ScalarOp::kToI32, kOfIntegers | kOfBool, "int($A)"},
    {ScalarOp::kToU32, kOfIntegers | kOfBool, "uint($A)"},
    {ScalarOp::kToI64, kOfIntegers | kOfBool, "long($A)"},
    {ScalarOp::kToU64, kOfIntegers | kOfBool, "ulong($A)"},
    {ScalarOp::kToBool, kOfAny, "bool($A)"},
    {ScalarOp::kRoundF16, kOfF32, "float(half($A))"},
    {ScalarOp::kBitsToF32, kOfAny, "as_type<$t>($A)"},
    {ScalarOp::kBitsToI32, kOfAny, "as_type<$t>($A)"},
    {ScalarOp::kBitsToU32, kOfAny, "as_type<$t>($A)"},
    {ScalarOp::kBitsToUniform, kOfAny, "float($a >> 8) * 5.9604644775390625e-8f"},
    {ScalarOp::kDiv, kOfIntegers, "hearth_div($A, $B)"},
    {ScalarOp::kMod, kOfIntegers, "hearth_mod($A, $B)"},
    {ScalarOp::kMin, kOfAny, "hearth_min($A, $B)"},
    {ScalarOp::kMax, kOfAny, "hearth_max($A, $B)"},
    {ScalarOp::kShiftLeft, kOfAny, "hearth_shift_left($A, $B)"},
    {ScalarOp::kShiftRight, kOfAny, "hearth_shift_right($A, $B)"},
    {ScalarOp::kSelect, kOfAny, "$a ? $b : $c"},
};

/// Functions of a kernel are members of a struct with all that they share, since MSL has no variables of a thread or a
/// threadgroup beyond a function.
class MslPrinter final : CLikePrinter {
  public:
    explicit MslPrinter(const Body& body) : CLikePrinter(body) {}

    Result<std::string> print(std::string_view name) {
        if (body_requirements(body_).matrices) fail("matrices of a subgroup");
        const std::string type = std::string(name) + "_invocation";
        line("struct " + type + " {");
        ++depth_;
        std::string parameters, arguments, declarations;
        members(parameters, arguments, declarations);
        for (const BodyFunction& f : body_.functions) print_function(f);
        line("void main() {");
        block(body_.statements);
        line("}");
        --depth_;
        line("};");
        line("kernel void " + std::string(name) + "(" + parameters +
             "uint3 group [[threadgroup_position_in_grid]], "
             "uint lane [[thread_index_in_threadgroup]]) {");
        text_ += declarations;
        line("    " + type + " own{" + arguments + "};");
        line("    if (own.group_index < own.workgroups) own.main();");
        line("}");
        if (!error_.ok()) return unsupported("MSL: " + error_.message());
        return std::string(prelude_text("kernel.metal")) +
               called_decompositions<MslPrinter>("inline ") + text_;
    }

  private:
    friend CLikePrinter;

    /// Members of the struct, the kernel's parameters, what it gives the members, and its shared arrays.
    void members(std::string& parameters, std::string& arguments, std::string& declarations) {
        size_t operands = 0;
        for (const BodyBuffer& b : body_.buffers) {
            if (b.kind != BufferKind::kOperand) continue;
            line(pointer_to(b) + b.name + ";");
            parameters +=
                pointer_to(b) + b.name + " [[buffer(" + std::to_string(operands++) + ")]], ";
            arguments += b.name + ", ";
        }
        line("int rows, workgroups, group_index, invocation;");
        parameters += "constant Run& run [[buffer(" + std::to_string(operands) + ")]], ";
        arguments += "run.rows, run.workgroups, int(group[0]), int(lane)";
        for (const Local& l : body_.locals) {
            if (l.kind != LocalKind::kShared) continue;
            const std::string type = "threadgroup " + chunk_type(l.type, l.chunk);
            line(type + "* " + l.name + "_;");
            declarations += "    " + type + " " + l.name + "_[" + std::to_string(l.length) + "];\n";
            arguments += ", " + l.name + "_";
        }
        for (const Local& l : body_.locals)
            if (l.kind == LocalKind::kPrivate) line(declaration(l) + ";");
    }

    std::string pointer_to(const BodyBuffer& b) {
        if (held_text(b.held).empty()) fail("elements of f64");
        return "device " + std::string(held_text(b.held)) + "* ";
    }

    std::string head_of(const BodyFunction& f) override {
        std::string text;
        for (const uint32_t p : f.parameters) {
            const ExprNode& n = node(p);
            text += (text.empty() ? "" : ", ") +
                    (n.kind == ExprKind::kBuffer ? pointer_to(body_.buffers[n.bits])
                     : body_.locals[n.bits].kind == LocalKind::kResult
                         ? "thread " + chunk_type(n.type, n.chunk) + "& "
                         : chunk_type(n.type, n.chunk) + " ") +
                    expression(p);
        }
        return (f.has_result ? chunk_type(f.result, f.result_chunk) : "void") + " " + f.name + "(" +
               text + ")";
    }

    std::string place_of(uint64_t index) const override { return body_.locals[index].name + "_"; }
    std::string name_of_value(const std::string& name) const override { return name + "_"; }
    std::string literal(uint64_t bits, ScalarType type) const override {
        if (!is_floating(type)) return whole_literal(bits, type, "int(0x80000000u)", "l");
        const double value = value_of(bits, type);
        if (std::isnan(value)) return "as_type<float>(0x7fc00000u)";
        if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
        const std::string text = decimal_text(value) + "f";
        return text[0] == '-' ? "(" + text + ")" : text;
    }

    std::string chunk_type(ScalarType type, Chunk chunk) const override {
        const uint32_t length = vector_length(chunk);
        if (length == 0) return "";
        return std::string(type_text(type)) + (length == 1 ? "" : std::to_string(length));
    }
    std::string declaration(const Local& l) override {
        const std::string type = chunk_type(l.type, l.chunk);
        if (type.empty()) fail(l.type == ScalarType::kF64 ? "elements of f64" : "chunks of f16");
        const bool is_array = l.kind == LocalKind::kArray || l.kind == LocalKind::kVector;
        return type + " " + l.name + "_" + (is_array ? "[" + std::to_string(l.length) + "]" : "");
    }

    void statement(const Statement& s) override {
        switch (s.kind) {
            case StatementKind::kDeclareBuffer:
                return line(pointer_to(body_.buffers[node(s.a).bits]) + expression(s.a) + ";");
            case StatementKind::kBarrier:
                return line("threadgroup_barrier(mem_flags::mem_threadgroup);");
            default:
                return CLikePrinter::statement(s);
        }
    }

    std::string load(uint64_t buffer, const std::string& element) override {
        const BodyBuffer& b = body_.buffers[buffer];
        const std::string at = b.name + "[" + element + "]";
        if (b.held == DType::kBF16) return "as_type<float>(uint(" + at + ") << 16)";
        const std::string_view type = type_text(scalar_type(b.dtype));
        return held_text(b.held) == type ? at : std::string(type) + "(" + at + ")";
    }
    std::string store(uint64_t buffer, const std::string& element,
                      const std::string& value) override {
        const BodyBuffer& b = body_.buffers[buffer];
        const std::string place = b.name + "[" + element + "] = ";
        if (b.dtype == DType::kBF16) {
            decompositions_.insert(*find_decomposition(ScalarOp::kRoundBF16, ScalarType::kF32));
            const std::string rounded = "hearth_round_bf16(" + value + ")";
            return place +
                   (b.held == DType::kBF16 ? "ushort(as_type<uint>(" + rounded + ") >> 16)"
                                           : rounded) +
                   ";";
        }
        // Narrow types may be held in wider ones.
        const std::string narrow =
            b.held == b.dtype ? value : std::string(held_text(b.dtype)) + "(" + value + ")";
        return place + std::string(held_text(b.held)) + "(" + narrow + ");";
    }

    std::string expression(uint32_t id) override {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kRowCount:
                return "rows";
            case ExprKind::kInvocation:
                return "invocation";
            case ExprKind::kWorkgroup:
                return along_axis(n, "group_index");
            case ExprKind::kWorkgroups:
                return along_axis(n, "workgroups");
            case ExprKind::kDotHalves:
                return "hearth_dot_halves(" + list(n.in) + ")";
            case ExprKind::kTwoHalves:
                return "hearth_two_halves(" + list(n.in) + ")";
            case ExprKind::kHighProduct:
                return "mulhi(" + list(n.in) + ")";
            default:
                return CLikePrinter::expression(id);
        }
    }

    std::span<const Spelling> spellings() const override { return kSpellings; }

    std::string operation(const ExprNode& n) override {
        if (n.kind == ExprKind::kFitting && n.op == ScalarOp::kPow)
            return "precise::pow(" + list(n.in) + ")";
        if (n.kind == ExprKind::kFitting)
            return std::string(type_text(n.type)) + "(" + expression(n.in[0]) + ")";
        return spelled(n);
    }
};

}  // namespace

Result<std::string> print_msl(const Body& body, std::string_view name) {
    return MslPrinter(body).print(name);
}

}  // namespace hearth
