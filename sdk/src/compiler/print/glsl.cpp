// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/glsl.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/kernel/decompositions.hpp"
#include "compiler/print/c_like.hpp"
#include "compiler/print/glsl_elements.hpp"
#include "compiler/print/glsl_expressions.hpp"
#include "compiler/print/glsl_regions.hpp"
#include "compiler/shaders/shader_text.hpp"

#include <hearth/core/assert.hpp>

#include <bit>
#include <cmath>

namespace hearth {

namespace {

class GlslPrinter final : CLikePrinter {
  public:
    explicit GlslPrinter(const Body& body, GlslOptions options = {})
        : CLikePrinter(body),
          options_(options),
          converts_(body_requirements(body).matrices),
          is_math_(&body == &decompositions()) {}

    std::string functions() {
        for (const Local& local : body_.locals) {
            const std::string declared = value_type(local.type, local.chunk) + " " + local.name;
            if (local.kind == LocalKind::kShared)
                text_ += "shared " + declared + "[" + std::to_string(local.length) + "];\n";
            if (local.kind == LocalKind::kPrivate) text_ += declared + ";\n";
        }
        std::string text = std::move(text_);
        for (const BodyFunction& f : body_.functions) text += function(f);
        return text;
    }

    std::string function(const BodyFunction& f) {
        text_ = f.has_result ? value_type(f.result, f.result_chunk) : "void";
        text_ += " " + f.name + "(";
        for (size_t i = 0; i < f.parameters.size(); ++i)
            text_ +=
                (i == 0 ? "" : ", ") + type_of(f.parameters[i]) + " " + expression(f.parameters[i]);
        text_ += ") {\n";
        block(f.statements);
        return finished() + "}\n";
    }

    std::string main() { return "void main() {\n" + statements() + "}\n"; }

    std::string statements() {
        block(body_.statements);
        return finished();
    }

  private:
    std::string finished() {
        HEARTH_ASSERT(error_.ok());  // but for vectors of CPUs, GLSL has all of it
        return std::move(text_);
    }

    /// Buffers are passed and assigned as addresses, a uvec2, or as places in regions, a uint.
    /// SwiftShader's compiler crashes on a buffer reference that is chosen by a branch, and on one
    /// that is cast to another type.
    std::string type_of(uint32_t parameter) const {
        const ExprNode& n = node(parameter);
        if (n.kind == ExprKind::kBuffer) return options_.in_region.empty() ? "uvec2" : "uint";
        const bool is_result = body_.locals[n.bits].kind == LocalKind::kResult;
        return (is_result ? "out " : "") + value_type(n.type, n.chunk);
    }

    static std::string value_type(ScalarType type, Chunk chunk) {
        if (chunk == Chunk::kFour && type == ScalarType::kU32) return "uvec4";
        return std::string(chunk == Chunk::kOne ? glsl_type(type) : glsl_chunk_type(chunk));
    }

    void statement(const Statement& s) override {
        switch (s.kind) {
            case StatementKind::kDeclareBuffer:
                return line(type_of(s.a) + " " + expression(s.a) + ";");
            case StatementKind::kLoadVector:
                return line("const " + vector_type(s) + " " + local(s).name + " = " +
                            load_vector(s.buffer, words_of(s), vector_index(s)) + ";");
            case StatementKind::kStoreVector:
                return line(store_vector(s.buffer, words_of(s), vector_index(s),
                                         vector_type(s) + "(" + words(s) + ")"));
            case StatementKind::kStoreChunk:
                return line(store_vector(s.buffer, chunk_view(chunk_of(s.b)), expression(s.a),
                                         expression(s.b)));
            case StatementKind::kSpread:
                return line("hearth_spread(" + list(s.arguments) + ", " + local(s).name + ");");
            case StatementKind::kLoadFragment:
                return transfer_matrix("hearth_matrix_load(", s);
            case StatementKind::kStoreFragment:
                return transfer_matrix("hearth_matrix_store(", s);
            case StatementKind::kStoreElements:
                return line(chunk_of_elements(s));
            case StatementKind::kLetCall:
                return line("const " + declaration(local(s)) + " = " +
                            body_.functions[s.function].name + "(" + list(s.arguments) + ");");
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
            case StatementKind::kCall:
                return line(body_.functions[s.function].name + "(" + list(s.arguments) + ");");
            default:
                return CLikePrinter::statement(s);
        }
    }

    std::string literal(uint64_t bits, ScalarType type) const override {
        return glsl_literal(bits, type);
    }
    std::string place_of(uint64_t index) const override { return body_.locals[index].name; }
    std::string declaration(const Local& l) override {
        // Decompositions correct rounding errors by differences, which must stay as they are written.
        return (is_math_ && l.type == ScalarType::kF32 ? "precise " : "") +
               value_type(l.type, l.chunk) + " " + l.name +
               (l.kind == LocalKind::kArray ? "[" + std::to_string(l.length) + "]" : "");
    }

    /// A buffer's address, or its place in a region.
    std::string place_of_buffer(uint64_t buffer) const override {
        const BodyBuffer& b = body_.buffers[buffer];
        return b.kind == BufferKind::kOperand ? b.name + "a" : b.name;
    }
    bool is_in_region(uint64_t buffer) const {
        if (body_.buffers[buffer].kind != BufferKind::kOperand) return !options_.in_region.empty();
        return buffer < options_.in_region.size() && options_.in_region[buffer];
    }
    /// A buffer whose elements are used.
    std::string elements_of(uint64_t buffer) const {
        const BodyBuffer& b = body_.buffers[buffer];
        if (b.kind == BufferKind::kOperand) return b.name;
        return std::string(held_type(b.held).block) + "(" + b.name + ")";
    }
    /// An element as it lies in memory; in a region, converted to what kernels compute with.
    std::string stored(uint64_t buffer, const std::string& element) const {
        if (is_in_region(buffer))
            return region_load(held_type(body_.buffers[buffer].held).block, place_of_buffer(buffer),
                               element);
        return elements_of(buffer) + ".at[" + element + "]";
    }

    std::string load(uint64_t buffer, const std::string& element) override {
        return load_text(held_type(body_.buffers[buffer].held), stored(buffer, element));
    }
    std::string store(uint64_t buffer, const std::string& element,
                      const std::string& value) override {
        const BodyBuffer& to = body_.buffers[buffer];
        const HeldType& held = held_type(to.held);
        if (is_in_region(buffer))
            return region_store(held.block, place_of_buffer(buffer), element,
                                value_text(held, to.dtype, value));
        return elements_of(buffer) + ".at[" + element + "] = " + store_text(held, to.dtype, value) +
               ";";
    }

    /// Vectors as which an operand's bytes are seen: "b3v" and "F32x4".
    struct VectorView {
        const char* suffix;
        const char* block;
    };
    static constexpr VectorView kFours{"v", "F32x4"}, kWords{"w", "U32x4"}, kPairs{"p", "U32x2"};
    std::string load_vector(uint64_t buffer, VectorView view, const std::string& index) const {
        if (is_in_region(buffer)) return region_load(view.block, place_of_buffer(buffer), index);
        return body_.buffers[buffer].name + view.suffix + ".at[" + index + "]";
    }
    std::string store_vector(uint64_t buffer, VectorView view, const std::string& index,
                             const std::string& value) const {
        if (is_in_region(buffer))
            return region_store(view.block, place_of_buffer(buffer), index, value);
        return load_vector(buffer, view, index) + " = " + value + ";";
    }

    uint32_t word_count(const Statement& s) const {
        return local(s).length * size_bytes(body_.buffers[s.buffer].held) /
               uint32_t{sizeof(uint32_t)};
    }
    std::string vector_type(const Statement& s) const {
        return "uvec" + std::to_string(word_count(s));
    }
    VectorView words_of(const Statement& s) const { return word_count(s) == 2 ? kPairs : kWords; }
    std::string vector_index(const Statement& s) {
        return operand(s.a) + " / " + std::to_string(local(s).length);
    }
    std::string words(const Statement& s) const {
        const BodyBuffer& to = body_.buffers[s.buffer];
        std::string text;
        for (uint32_t i = 0; i < word_count(s); ++i)
            text += (i == 0 ? "" : ", ") + word_of_elements(held_type(to.held), to.dtype,
                                                            local(s).name, static_cast<int>(i));
        return text;
    }

    std::string expression(uint32_t id) override {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kRowCount:
                return "rows";
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
            case ExprKind::kDotHalves:
                return dot_halves(expression(n.in[0]), expression(n.in[1]), expression(n.in[2]));
            case ExprKind::kTwoHalves:
                return "unpackHalf2x16(" + expression(n.in[0]) + ")";
            case ExprKind::kPack:
                return "hearth_pack(" + body_.locals[n.bits].name + ")";
            case ExprKind::kReinterpret:
                return expression(n.in[0]);  // both are a uvec4
            case ExprKind::kLength:
                return expression(n.in[0]) + ".length()";
            case ExprKind::kConvert:
                return n.chunk == Chunk::kLeft
                           ? expression(n.in[0])  // the same type
                           : value_type(n.type, n.chunk) + "(" + expression(n.in[0]) + ")";
            case ExprKind::kElement:
                return element(n);
            case ExprKind::kChunkElement:
                return expression(n.in[0]) + "[" + expression(n.in[1]) + "]";
            case ExprKind::kVector:
            case ExprKind::kFill:
            case ExprKind::kPart:
            case ExprKind::kJoin:
            case ExprKind::kGather:
                return chunk(n);
            case ExprKind::kLoadChunk:
                return load_vector(n.bits, chunk_view(n.chunk), expression(n.in[0]));
            case ExprKind::kCompose:
                return std::string(glsl_chunk_type(n.chunk)) + "(" + list(body_.arguments_of(n)) +
                       ")";
            case ExprKind::kScale:
                return operand(n.in[0]) + " * " + operand(n.in[1]);
            case ExprKind::kMultiplyAdd:
                return (is_fragment(n.chunk) ? "hearth_multiply_add(" : "fma(") + list(n.in) + ")";
            case ExprKind::kDot:
                return "dot(" + list(n.in) + ")";
            case ExprKind::kClamp:
                return "clamp(" + list(n.in) + ")";
            case ExprKind::kLoad:
                return n.chunk != Chunk::kOne ? chunk(n) : CLikePrinter::expression(id);
            case ExprKind::kCall:
                return body_.functions[n.bits].name + "(" + list(body_.arguments_of(n)) + ")";
            default:
                return CLikePrinter::expression(id);
        }
    }

    static std::string dot_halves(const std::string& a, const std::string& b,
                                  const std::string& sum) {
        const auto term = [&](const char* half) {
            return "unpackHalf2x16(" + a + ")" + half + ", unpackHalf2x16(" + b + ")" + half;
        };
        return "fma(" + term(".y") + ", fma(" + term(".x") + ", " + sum + "))";
    }

    Chunk chunk_of(uint32_t id) const { return node(id).chunk; }

    static VectorView chunk_view(Chunk chunk) { return chunk == Chunk::kHalves ? kWords : kFours; }

    /// function: the beginning of a call that takes a fragment and its place in memory.
    void transfer_matrix(const std::string& function, const Statement& s) {
        const ExprNode& memory = node(s.arguments[0]);
        const auto call = [&](const std::string& array, const std::string& first) {
            line(function + expression(s.a) + ", " + array + ", " + first + ", " + expression(s.c) +
                 (s.by_columns ? ", true);" : ", false);"));
        };
        if (memory.kind != ExprKind::kBuffer)
            return call(expression(s.arguments[0]), expression(s.b));
        if (!is_in_region(memory.bits))
            return call(elements_of(memory.bits) + ".at", expression(s.b));
        const RegionView view = region_view(held_type(body_.buffers[memory.bits].held));
        const std::string place = place_of_buffer(memory.bits);
        const std::string first = region_index(view, place, expression(s.b));
        line("if ((" + place + " & 1u) != 0u)");
        call(region_array(view.block, true), first);
        line("else");
        call(region_array(view.block, false), first);
    }

    /// Elements from a on.
    std::string chunk_of_elements(const Statement& s) {
        const BodyBuffer& to = body_.buffers[s.buffer];
        const bool is_half = to.held == DType::kF16, are_eight = s.arguments.size() == 8;
        const auto stored_as = [&](const std::string& value) {
            return store_vector(s.buffer,
                                !is_half    ? kFours
                                : are_eight ? kWords
                                            : kPairs,
                                operand(s.a) + (are_eight ? " / 8" : " / 4"), value);
        };
        if (s.arguments.size() == 1) {
            const std::string four = expression(s.arguments[0]);
            return stored_as(is_half ? "hearth_halves(" + four + ")" : four);
        }
        if (!is_half) return stored_as("vec4(" + list(s.arguments) + ")");
        std::string pairs;
        for (size_t i = 0; i < s.arguments.size(); i += 2)
            pairs += (i == 0 ? "packHalf2x16(vec2(hearth_round_f16("
                             : ", packHalf2x16(vec2(hearth_round_f16(") +
                     expression(s.arguments[i]) + "), hearth_round_f16(" +
                     expression(s.arguments[i + 1]) + ")))";
        return stored_as((are_eight ? "uvec4(" : "uvec2(") + pairs + ")");
    }

    /// A chunk that is made of something else.
    std::string chunk(const ExprNode& n) {
        const std::string type(glsl_chunk_type(n.chunk));
        switch (n.kind) {
            case ExprKind::kLoad:
                return chunk_load(n);
            case ExprKind::kFill: {
                const std::string value = expression(n.in[0]);
                if (n.chunk == Chunk::kHalves || n.type == ScalarType::kU32) return "uvec4(0)";
                return type + "(" + value + ")";
            }
            case ExprKind::kPart:
                return "hearth_four(" + expression(n.in[0]) + (n.bits == 0 ? ".xy)" : ".zw)");
            case ExprKind::kJoin:
                return "hearth_pack(" + expression(n.in[0]) + ", " + expression(n.in[1]) + ")";
            case ExprKind::kVector: {
                const std::string& name = body_.locals[n.bits].name;
                return "vec4(unpackHalf2x16(" + name + ".x), unpackHalf2x16(" + name + ".y))";
            }
            default:
                return gather(n);
        }
    }

    std::string chunk_load(const ExprNode& n) {
        const std::string at = operand(n.in[0]);
        if (n.chunk == Chunk::kHalf) {
            const std::string half = stored(n.bits, expression(n.in[0]));
            return is_in_region(n.bits) ? "float16_t(" + half + ")" : half;
        }
        if (n.chunk == Chunk::kHalves) return load_vector(n.bits, kWords, at + " / 8");
        if (n.type == ScalarType::kU32) return load_vector(n.bits, kWords, at + " / 4");
        if (body_.buffers[n.bits].held == DType::kF16)
            return "hearth_four(" + load_vector(n.bits, kPairs, at + " / 4") + ")";
        return load_vector(n.bits, kFours, at + " / 4");
    }

    std::string gather(const ExprNode& n) {
        const std::string function = body_.functions[n.bits].name;
        const std::string first = operand(n.in[0]);
        const auto element = [&](uint32_t i) {
            return function + "(" + first + (i == 0 ? "" : " + " + std::to_string(i)) + ")";
        };
        std::string elements;
        for (uint32_t i = 0; i < length_of(n.chunk); i += n.chunk == Chunk::kHalves ? 2 : 1) {
            if (i > 0) elements += ", ";
            elements += n.chunk == Chunk::kHalves
                            ? "packHalf2x16(vec2(" + element(i) + ", " + element(i + 1) + "))"
                            : element(i);
        }
        return std::string(glsl_chunk_type(n.chunk)) + "(" + elements + ")";
    }

    std::string element(const ExprNode& n) {
        const Local& array = body_.locals[n.bits];
        if (array.kind != LocalKind::kVector) return array.name + "[" + expression(n.in[0]) + "]";
        const std::string text =
            element_of_words(held_type(array.held), array.name, operand(n.in[0]));
        return array.type == ScalarType::kF32
                   ? text
                   : std::string(glsl_type(array.type)) + "(" + text + ")";
    }

    std::string operation(const ExprNode& n) override {
        if (n.chunk == Chunk::kFour && n.op == ScalarOp::kRoundF16)
            return "hearth_rounded(" + expression(n.in[0]) + ")";
        GlslOperation operation{n.op, node(n.in[0]).type, n.kind == ExprKind::kFitting};
        if (converts_) operation.round_f16 = "hearth_convert_f16";
        operation.divides_exactly = options_.divides_exactly;
        operation.asks_for_nan = options_.asks_for_nan;
        std::vector<std::string> operands;
        for (size_t i = 0; i < static_cast<size_t>(operand_count(n.op)); ++i) {
            operands.push_back(operand(n.in[i]));
            if (i < operation.is_number.size())
                operation.is_number[i] = node(n.in[i]).kind == ExprKind::kConstant &&
                                         !std::isnan(constant_value(node(n.in[i])));
        }
        return glsl_operation(operation, operands);
    }

    const GlslOptions options_;
    /// Devices with matrix cores round to nearest even by one instruction, as the matrices do.
    const bool converts_;
    const bool is_math_;
};

}  // namespace

std::string print_glsl_functions(const Body& body, GlslOptions options) {
    return GlslPrinter(body, options).functions();
}

std::string print_glsl_statements(const Body& body) {
    return GlslPrinter(body).statements();
}

const std::string& print_glsl_math() {
    static const std::string text = [] {
        const auto is_elsewhere = [](std::string_view name) {
            return name.ends_with("64") || name == "hearth_round_f16" ||
                   name == "hearth_round_bf16" || name == "hearth_divide";
        };
        std::string all(shader_text("common/math.glsl"));
        for (const BodyFunction& f : decompositions().functions)
            if (!is_elsewhere(f.name)) all += GlslPrinter(decompositions()).function(f);
        return all;
    }();
    return text;
}

std::string print_glsl(const Body& body, GlslOptions options) {
    return print_glsl_functions(body, options) + GlslPrinter(body, options).main();
}

}  // namespace hearth
