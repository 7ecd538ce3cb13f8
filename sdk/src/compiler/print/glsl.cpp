// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/glsl.hpp"

#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/instructions.hpp"
#include "compiler/print/c_like.hpp"
#include "compiler/print/literals.hpp"
#include "compiler/shaders/shader_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hearth {

namespace {

/// Without a row: what Vulkan lets be too inexact, or what GLSL lacks.
constexpr Spelling kSpellings[] = {
    {ScalarOp::kAbs, kOfUnsigned, "$a"},
    {ScalarOp::kSign, kOfF32, "hearth_sign($A)"},
    {ScalarOp::kSign, kOfU32, "min($A, 1u)"},
    {ScalarOp::kSign, kOfU64, "min($A, 1ul)"},
    {ScalarOp::kSign, kOfSigned, "sign($A)"},
    {ScalarOp::kRound, kOfAny, "roundEven($A)"},
    {ScalarOp::kSqrt, kOfAny, "sqrt($A)"},
    {ScalarOp::kRsqrt, kOfAny, "inversesqrt($A)"},
    {ScalarOp::kExp, kOfAny, "exp($A)"},
    {ScalarOp::kLog, kOfAny, "log($A)"},
    {ScalarOp::kIsNan, kOfAny, "isnan($A)"},
    {ScalarOp::kIsInf, kOfAny, "isinf($A)"},
    {ScalarOp::kToF32, kOfAny, "float($A)"},
    {ScalarOp::kToI32, kOfIntegers | kOfBool, "int($A)"},
    {ScalarOp::kToU32, kOfIntegers | kOfBool, "uint($A)"},
    {ScalarOp::kToI64, kOfIntegers | kOfBool, "int64_t($A)"},
    {ScalarOp::kToU64, kOfIntegers | kOfBool, "uint64_t($A)"},
    {ScalarOp::kToBool, kOfAny, "bool($A)"},
    {ScalarOp::kRoundF16, kOfF32, "hearth_round_f16($A)"},
    {ScalarOp::kBitsToF32, kOfI32, "intBitsToFloat($A)"},
    {ScalarOp::kBitsToF32, kOfU32, "uintBitsToFloat($A)"},
    {ScalarOp::kBitsToI32, kOfAny, "floatBitsToInt($A)"},
    {ScalarOp::kBitsToU32, kOfAny, "floatBitsToUint($A)"},
    {ScalarOp::kBitsToUniform, kOfAny, "float($a >> 8) * 5.9604644775390625e-8"},
    {ScalarOp::kDiv, kOfIntegers, "$a / $b"},
    {ScalarOp::kMod, kOfIntegers, "$a % $b"},
    {ScalarOp::kMin, kOfF32, "hearth_min($A, $B)"},
    {ScalarOp::kMin, kOfIntegers, "min($A, $B)"},
    {ScalarOp::kMax, kOfF32, "hearth_max($A, $B)"},
    {ScalarOp::kMax, kOfIntegers, "max($A, $B)"},
    {ScalarOp::kShiftLeft, kOfAny, "$a << $b"},
    {ScalarOp::kShiftRight, kOfAny, "$a >> $b"},
    {ScalarOp::kSelect, kOfAny, "$a ? $b : $c"},
};

class GlslPrinter final : CLikePrinter {
  public:
    explicit GlslPrinter(const Body& body, GlslOptions options = {})
        : CLikePrinter(body), options_(options), is_math_(&body == &decompositions()) {}

    std::string functions() {
        for (const Local& l : body_.locals) {
            if (l.kind == LocalKind::kShared)
                line("shared " + declaration(l) + "[" + std::to_string(l.length) + "];");
            if (l.kind == LocalKind::kPrivate) line(declaration(l) + ";");
        }
        for (const BodyFunction& f : body_.functions) print_function(f);
        return finished();
    }

    std::string function(const BodyFunction& f) {
        print_function(f);
        return finished();
    }

    std::string statements() {
        block(body_.statements);
        return finished();
    }

  private:
    std::string finished() {
        HEARTH_ASSERT(error_.ok());  // all but vectors of CPUs can be written
        return std::move(text_);
    }

    std::string head_of(const BodyFunction& f) override {
        std::string text;
        for (const uint32_t p : f.parameters) {
            const ExprNode& n = node(p);
            const bool is_buffer = n.kind == ExprKind::kBuffer;
            const bool is_result = !is_buffer && body_.locals[n.bits].kind == LocalKind::kResult;
            text += (text.empty() ? "" : ", ") + std::string(is_result ? "out " : "") +
                    (is_buffer ? "buffer" : chunk_type(n.type, n.chunk)) + " " + expression(p);
        }
        return (f.has_result ? chunk_type(f.result, f.result_chunk) : "void") + " " + f.name + "(" +
               text + ")";
    }

    std::string chunk_type(ScalarType type, Chunk chunk) const override {
        if (chunk == Chunk::kOne) return std::string(glsl_type(type));
        if (chunk == Chunk::kFour && type == ScalarType::kU32) return "uvec4";
        constexpr const char* kNames[] = {"",         "vec4",        "uvec4",        "vec3",
                                          "vec2",     "left_factor", "right_factor", "sums",
                                          "half_sums"};
        return kNames[static_cast<size_t>(chunk)];
    }
    std::string literal(uint64_t bits, ScalarType type) const override {
        return glsl_literal(bits, type);
    }
    std::string place_of(uint64_t index) const override { return body_.locals[index].name; }
    std::string declaration(const Local& l) override {
        const bool is_array = l.kind == LocalKind::kArray || l.kind == LocalKind::kVector;
        // Decompositions correct rounding errors by differences, which must stay as they are written.
        return (is_math_ && l.type == ScalarType::kF32 ? "precise " : "") +
               chunk_type(l.type, l.chunk) + " " + l.name +
               (is_array ? "[" + std::to_string(l.length) + "]" : "");
    }

    std::string stored(uint64_t buffer, const std::string& element) const {
        return place_of_buffer(buffer) + ".at[" + element + "]";
    }
    std::string load(uint64_t buffer, const std::string& element) override {
        return glsl_loaded(body_.buffers[buffer].held, stored(buffer, element));
    }
    std::string store(uint64_t buffer, const std::string& element,
                      const std::string& value) override {
        const auto [dtype, held] =
            std::pair(body_.buffers[buffer].dtype, body_.buffers[buffer].held);
        std::string text = value;
        if (dtype == DType::kF16) text = "hearth_round_f16(" + value + ")";
        if (dtype == DType::kBF16) text = "hearth_round_bf16(" + value + ")";
        if (held == DType::kBF16) text = "floatBitsToUint(" + text + ") >> 16";
        if (size_bytes(held) >= 4 && is_integer(dtype) && size_bytes(dtype) < 4)
            text =
                "bitfieldExtract(" + value + ", 0, " + std::to_string(8 * size_bytes(dtype)) + ")";
        if (size_bytes(held) < 4) text = std::string(glsl_held_type(held)) + "(" + text + ")";
        return stored(buffer, element) + " = " + text + ";";
    }

    /// Whether the value is a fragment, or f16 as they lie in memory.
    bool is_packed(uint32_t id) const {
        const Chunk chunk = node(id).chunk;
        return is_fragment(chunk) || chunk == Chunk::kHalves;
    }
    /// A call of an instruction, without spaces in its name.
    static std::string instruction(std::string text, const std::string& operands) {
        std::ranges::replace(text, ' ', '_');
        return text + "(" + operands + ")";
    }
    std::string instruction(const ExprNode& n) {
        const std::string name = instruction_of(n.kind).name;
        switch (n.kind) {
            case ExprKind::kLoad:
            case ExprKind::kLoadChunk:
                return instruction(name, place_of_buffer(n.bits) + ", " + list(n.in));
            case ExprKind::kPack:
                return instruction(name, place_of(n.bits));
            case ExprKind::kPart:
                return instruction(name, list(n.in) + ", " + std::to_string(n.bits));
            default:
                return instruction(name, list(n.in));
        }
    }
    void instruction(const Statement& s) {
        const uint32_t operands[] = {s.a, s.b, s.c};
        const bool has_buffer =
            s.kind == StatementKind::kStoreChunk || s.kind == StatementKind::kStoreElements;
        std::string text = has_buffer                         ? place_of_buffer(s.buffer)
                           : s.kind == StatementKind::kSpread ? place_of(s.local)
                                                              : "";
        for (const std::string& more : {list(operands), list(s.arguments)})
            if (!more.empty()) text += (text.empty() ? "" : ", ") + more;
        line(instruction(instruction_of(s.kind).name, text + (s.by_columns ? ", by columns" : "")) +
             ";");
    }

    void statement(const Statement& s) override {
        switch (s.kind) {
            case StatementKind::kDeclareBuffer:
                return line("buffer " + expression(s.a) + ";");
            case StatementKind::kLoadFragment:
            case StatementKind::kStoreFragment:
                return instruction(s);
            case StatementKind::kStoreChunk:
                if (is_packed(s.b)) return instruction(s);
                break;
            case StatementKind::kStoreElements:
            case StatementKind::kSpread:
                if (is_packed(s.arguments[0])) return instruction(s);
                break;
            case StatementKind::kFor:
                line((is_math_        ? ""
                      : s.is_unrolled ? "[[unroll]] "
                      : s.is_rolled   ? "[[dont_unroll]] "
                                      : "") +
                     loop_head(s));
                block(s.body);
                return line("}");
            case StatementKind::kBarrier:
                return line("barrier();");
            case StatementKind::kSubgroupBarrier:
                return line("subgroupBarrier();");
            default:
                break;
        }
        CLikePrinter::statement(s);
    }

    std::string expression(uint32_t id) override {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kRowCount:
                return "rows";
            case ExprKind::kPushedWord:
                return "word" + std::to_string(n.bits);
            case ExprKind::kInvocation:
                return "int(gl_LocalInvocationID.x)";
            case ExprKind::kWorkgroup:
                return std::string("int(gl_WorkGroupID.") + "xyz"[n.bits] + ")";
            case ExprKind::kWorkgroups:
                return std::string("int(gl_NumWorkGroups.") + "xyz"[n.bits] + ")";
            case ExprKind::kSubgroup:
                return "int(gl_SubgroupID)";
            case ExprKind::kSubgroupInvocation:
                return "int(gl_SubgroupInvocationID)";
            case ExprKind::kTwoHalves:
                return "unpackHalf2x16(" + expression(n.in[0]) + ")";
            case ExprKind::kVector: {
                const std::string name = place_of(n.bits);
                return "vec4(" + name + "[0], " + name + "[1], " + name + "[2], " + name + "[3])";
            }
            case ExprKind::kLength:
            case ExprKind::kPart:
            case ExprKind::kPack:
            case ExprKind::kJoin:
            case ExprKind::kConvert:
            case ExprKind::kReinterpret:
            case ExprKind::kDotHalves:
                return instruction(n);
            case ExprKind::kLoad:
            case ExprKind::kLoadChunk:
            case ExprKind::kFill:
            case ExprKind::kMultiplyAdd:
                if (is_packed(id)) return instruction(n);
                break;
            default:
                break;
        }
        return CLikePrinter::expression(id);
    }

    std::span<const Spelling> spellings() const override { return kSpellings; }

    std::string operation(const ExprNode& n) override {
        if (n.kind == ExprKind::kFitting)
            return (n.op == ScalarOp::kPow ? "pow" : std::string(glsl_type(n.type))) + "(" +
                   list(n.in) + ")";
        const bool is_float = node(n.in[0]).type == ScalarType::kF32;
        if (is_float && options_.divides_exactly && n.op == ScalarOp::kDiv)
            return "hearth_divide(" + list(n.in) + ")";
        if (is_float && (n.op == ScalarOp::kMax || n.op == ScalarOp::kMin))
            for (const size_t number : {1u, 0u})
                if (is_number(n.in[number])) return extreme(n, n.in[1 - number], n.in[number]);
        return spelled(n);
    }
    bool is_number(uint32_t id) const {
        return node(id).kind == ExprKind::kConstant && !std::isnan(constant_value(node(id)));
    }
    /// The larger or smaller of a float and a number.  A comparison leaves NaN as it is.
    std::string extreme(const ExprNode& n, uint32_t value, uint32_t number) {
        const bool is_max = n.op == ScalarOp::kMax;
        const std::string a = operand(value), b = operand(number);
        if (options_.asks_for_nan)
            return "isnan(" + a + ") ? " + a + " : " + (is_max ? "max(" : "min(") + a + ", " + b +
                   ")";
        return a + (is_max ? " < " : " > ") + b + " ? " + b + " : " + a;
    }

    const GlslOptions options_;
    const bool is_math_;
};

}  // namespace

std::string print_glsl_functions(const Body& body, GlslOptions options) {
    return GlslPrinter(body, options).functions();
}

std::string print_glsl_statements(const Body& body) {
    return GlslPrinter(body).statements();
}

std::string print_glsl(const Body& body, GlslOptions options) {
    return print_glsl_functions(body, options) + "void main() {\n" +
           GlslPrinter(body, options).statements() + "}\n";
}

const std::string& print_glsl_math(bool has_int64) {
    const auto print = [](bool with_int64) {
        std::string all(shader_text("common/math.glsl"));
        for (const BodyFunction& f : decompositions().functions)
            if (with_int64 || !f.name.ends_with("64"))
                all += GlslPrinter(decompositions()).function(f);
        return all;
    };
    static const std::array<std::string, 2> texts{print(false), print(true)};
    return texts[has_int64 ? 1 : 0];
}

std::string_view glsl_type(ScalarType type) {
    constexpr std::string_view kNames[] = {"float",   "int",      "uint",  "bool",
                                           "int64_t", "uint64_t", "double"};
    return kNames[static_cast<size_t>(type)];
}

std::string_view glsl_held_type(DType held) {
    switch (held) {
        case DType::kF16:
            return "float16_t";
        case DType::kBF16:
        case DType::kU16:
            return "uint16_t";
        case DType::kI16:
            return "int16_t";
        case DType::kI8:
            return "int8_t";
        case DType::kU8:
        case DType::kBool:
            return "uint8_t";
        default:
            return glsl_type(scalar_type(held));
    }
}

std::string glsl_loaded(DType held, const std::string& stored) {
    if (size_bytes(held) >= 4) return stored;
    if (held == DType::kF16) return "float(" + stored + ")";
    if (held == DType::kBF16) return "uintBitsToFloat(uint(" + stored + ") << 16)";
    return (is_unsigned(held) ? "uint(" : "int(") + stored + ")";
}

std::string glsl_literal(double value, ScalarType type) {
    return glsl_literal(bits_of(value, type), type);
}

std::string glsl_literal(uint64_t bits, ScalarType type) {
    if (!is_floating(type)) return whole_literal(bits, type, "int(0x80000000u)", "l");
    const double value = value_of(bits, type);
    if (std::isnan(value)) return "uintBitsToFloat(0x7fc00000u)";
    if (std::isinf(value))
        return value > 0 ? "uintBitsToFloat(0x7f800000u)" : "uintBitsToFloat(0xff800000u)";
    const std::string text = decimal_text(value);
    return text[0] == '-' ? "(" + text + ")" : text;
}

}  // namespace hearth
