// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/wgsl.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/print/c_like.hpp"
#include "compiler/print/literals.hpp"
#include "compiler/shaders/shader_text.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth {

namespace {

/// Empty: a program for WGSL has no numbers of 64 bits.
std::string_view type_text(ScalarType type) {
    constexpr std::string_view kNames[] = {"f32", "i32", "u32", "bool", "", "", ""};
    return kNames[static_cast<size_t>(type)];
}

std::string literal_text(uint64_t bits, ScalarType type) {
    if (type != ScalarType::kF32) return whole_literal(bits, type, "i32(-2147483648)", "");
    const double value = value_of(bits, type);
    // WGSL has no literals of these, and refuses the largest number as other languages write it.
    if (!(std::abs(value) < 3.4e38))
        return "hearth_of_bits(" +
               std::to_string(std::bit_cast<uint32_t>(static_cast<float>(value))) + "u)";
    const std::string text = decimal_text(value) + "f";
    return text[0] == '-' ? "(" + text + ")" : text;
}

/// True if invocations of a workgroup work together: then it is one of WebGPU's as well.
bool has_workgroups(const Body& body) {
    const BodyRequirements needs = body_requirements(body);
    return needs.barriers || needs.shared_bytes > 0;
}

/// Without a row: what the specification lets be too inexact, or what it lacks.
constexpr Spelling kSpellings[] = {
    {ScalarOp::kNeg, kOfU32, "0u - $a"},
    {ScalarOp::kSign, kOfU32, "min($A, 1u)"},
    {ScalarOp::kSign, kOfI32, "sign($A)"},
    {ScalarOp::kSign, kOfF32, "select(sign($A), $A, hearth_is_nan($A))"},
    {ScalarOp::kRound, kOfAny, "round($A)"},
    {ScalarOp::kSqrt, kOfAny, "sqrt($A)"},
    {ScalarOp::kRsqrt, kOfAny, "1.0f / sqrt($A)"},
    {ScalarOp::kExp, kOfAny, "exp($A)"},
    {ScalarOp::kLog, kOfAny, "log($A)"},
    {ScalarOp::kToF32, kOfAny, "f32($A)"},
    {ScalarOp::kToI32, kOfI32 | kOfU32 | kOfBool, "i32($A)"},
    {ScalarOp::kToU32, kOfI32 | kOfU32 | kOfBool, "u32($A)"},
    {ScalarOp::kToBool, kOfAny, "bool($A)"},
    {ScalarOp::kBitsToF32, kOfAny, "hearth_of_bits(u32($A))"},
    {ScalarOp::kBitsToI32, kOfAny, "bitcast<$t>($A)"},
    {ScalarOp::kBitsToU32, kOfAny, "bitcast<$t>($A)"},
    {ScalarOp::kBitsToUniform, kOfAny, "f32($a >> 8u) * 5.9604644775390625e-8f"},
    {ScalarOp::kDiv, kOfI32, "hearth_div_i32($A, $B)"},
    {ScalarOp::kDiv, kOfU32, "hearth_div_u32($A, $B)"},
    {ScalarOp::kMod, kOfI32, "hearth_mod_i32($A, $B)"},
    {ScalarOp::kMod, kOfU32, "hearth_mod_u32($A, $B)"},
    {ScalarOp::kMin, kOfF32, "hearth_min($A, $B)"},
    {ScalarOp::kMin, kOfAny, "min($A, $B)"},
    {ScalarOp::kMax, kOfF32, "hearth_max($A, $B)"},
    {ScalarOp::kMax, kOfAny, "max($A, $B)"},
    {ScalarOp::kShiftLeft, kOfI32, "hearth_shl_i32($A, i32($B))"},
    {ScalarOp::kShiftLeft, kOfU32, "hearth_shl_u32($A, u32($B))"},
    {ScalarOp::kShiftRight, kOfI32, "hearth_shr_i32($A, i32($B))"},
    {ScalarOp::kShiftRight, kOfU32, "hearth_shr_u32($A, u32($B))"},
    {ScalarOp::kSelect, kOfAny, "select($C, $B, $A)"},
};

class WgslPrinter final : CLikePrinter {
  public:
    explicit WgslPrinter(const Body& body) : CLikePrinter(body) {}

    Result<std::string> print() {
        check_buffers();
        check_workgroup(wgsl_workgroup_size(body_));
        for (const Local& l : body_.locals) {
            if (l.kind == LocalKind::kShared)
                line("var<workgroup> " + place_of(l) + ": " + type_of(l) + ";");
            if (l.kind == LocalKind::kPrivate)
                line("var<private> " + place_of(l) + ": " + type_of(l) + ";");
        }
        if (!body_.functions.empty())
            line("var<private> own_group: i32; var<private> own_invocation: i32;");
        for (const BodyFunction& f : body_.functions) print_function(f);
        main();
        if (!error_.ok()) return unsupported("WGSL: " + error_.message());
        return std::string(prelude_text("kernel.wgsl")) + called_decompositions<WgslPrinter>() +
               text_;
    }

  private:
    friend CLikePrinter;

    void main() {
        const std::string size = std::to_string(wgsl_workgroup_size(body_));
        const std::string threads = std::to_string(body_.threads);
        line("@compute @workgroup_size(" + size + ")");
        line(
            "fn main(@builtin(workgroup_id) group: vec3<u32>, "
            "@builtin(local_invocation_index) lane: u32) {");
        ++depth_;
        if (has_workgroups(body_)) {
            line("let group_index = i32(group.x);");
            line("let invocation = i32(lane);");
        } else {
            line("let id = i32(group.x * " + size + "u + lane);");
            line("let group_index = id / " + threads + ";");
            line("let invocation = id % " + threads + ";");
        }
        line("if (group_index >= run.workgroups) { return; }");
        // Tint proves that all invocations come to a barrier, and takes such variables to differ.
        if (!body_.functions.empty()) line("own_group = group_index; own_invocation = invocation;");
        is_main_ = true;
        for (const Statement& s : body_.statements) statement(s);
        --depth_;
        line("}");
    }

    /// All operands lie in one array of words, each from a word on that the pipeline knows.
    void check_buffers() {
        for (size_t i = 0; i < body_.buffers.size(); ++i) {
            const BodyBuffer& b = body_.buffers[i];
            if (size_bytes(b.held) != 4) fail("elements of " + std::string(name_of(b.held)));
            if (b.kind == BufferKind::kOperand) line("override at_" + std::to_string(i) + ": u32;");
        }
    }

    /// Limits that every device of WebGPU has.
    void check_workgroup(uint32_t size) {
        constexpr uint32_t kMostInvocations = 256, kMostBytes = 16384;
        if (size > kMostInvocations)
            fail("a workgroup of " + std::to_string(size) + " invocations, at most " +
                 std::to_string(kMostInvocations));
        const uint32_t bytes = body_requirements(body_).shared_bytes;
        if (bytes > kMostBytes)
            fail("shared arrays of " + std::to_string(bytes) + " bytes, at most " +
                 std::to_string(kMostBytes));
    }

    // ------------------------------------------------------------------------ functions

    std::string head_of(const BodyFunction& f) override {
        std::string text;
        for (const uint32_t p : f.parameters) {
            const ExprNode& n = node(p);
            const bool is_buffer = n.kind == ExprKind::kBuffer;
            const std::string type = is_buffer ? "u32" : chunk_type(n.type, n.chunk);
            text += (text.empty() ? "" : ", ") +
                    (is_buffer ? place_of_buffer(n.bits) : place_of(body_.locals[n.bits])) + ": " +
                    (is_result(n) ? "ptr<function, " + type + ">" : type);
        }
        return "fn " + f.name + "(" + text + ")" +
               (f.has_result ? " -> " + chunk_type(f.result, f.result_chunk) : "");
    }
    bool is_result(const ExprNode& n) const {
        return n.kind == ExprKind::kLocal && body_.locals[n.bits].kind == LocalKind::kResult;
    }
    std::string argument(uint32_t parameter, uint32_t argument) override {
        return (is_result(node(parameter)) ? "&" : "") + expression(argument);
    }

    // ------------------------------------------------------------------------ statements

    /// Not a word of WGSL's, and none of this printer's.
    static std::string place_of(const Local& l) { return l.name + "_"; }
    std::string place_of(uint64_t index) const override { return place_of(body_.locals[index]); }
    std::string name_of_value(const std::string& name) const override { return name + "_"; }
    std::string place_of_buffer(uint64_t buffer) const override {
        const BodyBuffer& b = body_.buffers[buffer];
        return b.kind == BufferKind::kOperand ? "at_" + std::to_string(buffer) : b.name + "_";
    }

    std::string chunk_type(ScalarType type, Chunk chunk) const override {
        const uint32_t length = vector_length(chunk);
        const std::string of(type_text(type));
        if (length < 2) return length == 0 ? "" : of;
        return "vec" + std::to_string(length) + "<" + of + ">";
    }
    std::string type_of(const Local& l) {
        const std::string type = chunk_type(l.type, l.chunk);
        if (type.empty()) fail("chunks of f16");
        switch (l.kind) {
            case LocalKind::kArray:
            case LocalKind::kVector:
            case LocalKind::kShared:
                return "array<" + type + ", " + std::to_string(l.length) + ">";
            case LocalKind::kLanes:
                if (l.length != 4) fail("lanes that are not 4");
                return "vec4<" + type + ">";
            default:
                return type;
        }
    }

    std::string declaration(const Local& l) override {
        return "var " + place_of(l) + ": " + type_of(l);
    }
    std::string declaration_of_value(const Local& l) override { return "let " + place_of(l); }

    std::string update(const Statement& s) override {
        return place_of(s.local) +
               (s.op == ScalarOp::kDiv   ? " /= "
                : s.op == ScalarOp::kMul ? " *= "
                : s.op == ScalarOp::kSub ? " -= "
                                         : " += ") +
               (s.c == 0 ? "1" : expression(s.c));
    }

    template <class Text>
    std::string four(Text text) {
        return "vec4<f32>(" + text("0") + ", " + text("1") + ", " + text("2") + ", " + text("3") +
               ")";
    }

    void statement(const Statement& s) override {
        switch (s.kind) {
            case StatementKind::kDeclare:
                if (local(s).kind != LocalKind::kLanes) break;
                return line(declaration(local(s)) + " = " + call("vec4<f32>", expression(s.a)) +
                            ";");
            case StatementKind::kDeclareBuffer:
                return line("var " + expression(s.a) + ": u32;");
            case StatementKind::kLoadLanes:
                return line(declaration(local(s)) + " = " + four([&](const char* lane) {
                                const std::string at = operand(s.a) + " + " + lane;
                                return s.b == 0 ? load(s.buffer, at)
                                                : expression(s.b) + "[" + at + "]";
                            }) +
                            ";");
            case StatementKind::kStoreLanes:
                for (const char* lane : {"0", "1", "2", "3"})
                    line(expression(s.b) + "[" + operand(s.a) + " + " + lane +
                         "] = " + place_of(s.local) + "[" + lane + "];");
                return;
            case StatementKind::kMultiplyAdd:
                return line(place_of(s.local) + " += " + operand(s.a) + " * " + operand(s.b) + ";");
            case StatementKind::kBarrier:
                return line("workgroupBarrier();");
            default:
                break;
        }
        CLikePrinter::statement(s);
    }

    std::string place_in(uint64_t buffer, const std::string& element) const {
        return "memory[" + place_of_buffer(buffer) + " + u32(" + element + ")]";
    }
    std::string load(uint64_t buffer, const std::string& element) override {
        const ScalarType type = scalar_type(body_.buffers[buffer].dtype);
        const std::string word = place_in(buffer, element);
        if (type == ScalarType::kBool) return "(" + word + " != 0u)";
        return type == ScalarType::kU32
                   ? word
                   : call("bitcast<" + std::string(type_text(type)) + ">", word);
    }
    std::string literal(uint64_t bits, ScalarType type) const override {
        return literal_text(bits, type);
    }
    std::string store(uint64_t buffer, const std::string& element,
                      const std::string& value) override {
        const BodyBuffer& to = body_.buffers[buffer];
        if (is_floating(to.dtype) ? to.dtype != DType::kF32
                                  : to.dtype != DType::kBool && size_bytes(to.dtype) < 4)
            fail("elements of " + std::string(name_of(to.dtype)));
        return place_in(buffer, element) + " = " +
               (scalar_type(to.dtype) == ScalarType::kBool ? "select(0u, 1u, " + value + ")"
                                                           : call("bitcast<u32>", value)) +
               ";";
    }

    // ------------------------------------------------------------------------ expressions

    std::string expression(uint32_t id) override {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kRowCount:
                return "run.rows";
            case ExprKind::kInvocation:
                return is_main_ ? "invocation" : "own_invocation";
            case ExprKind::kWorkgroup:
                return along_axis(n, is_main_ ? "group_index" : "own_group");
            case ExprKind::kWorkgroups:
                return along_axis(n, "run.workgroups");
            case ExprKind::kDotHalves:
                return "hearth_dot_halves(" + list(n.in) + ")";
            case ExprKind::kTwoHalves:
                return call("unpack2x16float", expression(n.in[0]));
            case ExprKind::kLocal:
                return is_result(n) ? "(*" + place_of(n.bits) + ")" : place_of(n.bits);
            default:
                return CLikePrinter::expression(id);
        }
    }

    std::string random_counter(uint32_t id) override { return call("u32", expression(id)); }

    std::span<const Spelling> spellings() const override { return kSpellings; }

    std::string operation(const ExprNode& n) override {
        if (n.kind == ExprKind::kFitting)
            return n.op == ScalarOp::kPow ? call("pow", list(n.in))
                                          : call(type_text(n.type), expression(n.in[0]));
        return spelled(n);
    }

    bool is_main_ = false;
};

}  // namespace

uint32_t wgsl_workgroup_size(const Body& body) {
    return has_workgroups(body) ? body.threads : kWgslWorkgroup;
}

Result<std::string> print_wgsl(const Body& body) {
    return WgslPrinter(body).print();
}

}  // namespace hearth
