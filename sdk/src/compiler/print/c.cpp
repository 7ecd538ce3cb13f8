// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/c.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/print/c_like.hpp"
#include "compiler/print/literals.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace hearth {

namespace {

std::string_view type_text(ScalarType type) {
    constexpr std::string_view kNames[] = {"float",   "int32_t",  "uint32_t", "bool",
                                           "int64_t", "uint64_t", "double"};
    return kNames[static_cast<size_t>(type)];
}

std::string literal_text(uint64_t bits, ScalarType type) {
    if (!is_floating(type)) return whole_literal(bits, type, "INT32_MIN", "ll");
    const double value = value_of(bits, type);
    if (std::isnan(value)) return "hearth_f32_of_bits(0x7fc00000u)";
    if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
    const std::string text = decimal_text(value, type) + (type == ScalarType::kF32 ? "f" : "");
    return text[0] == '-' ? "(" + text + ")" : text;
}

std::string cast(ScalarType type, const std::string& a) {
    return call("(" + std::string(type_text(type)) + ")", a);
}

/// A function of the prelude: those of f32 have no ending.
std::string of_type(std::string_view function, ScalarType type) {
    constexpr std::string_view kEndings[] = {"", "_i32", "_u32", "", "_i64", "_u64", "_f64"};
    return std::string(function).append(kEndings[static_cast<size_t>(type)]);
}

/// a: in parentheses where it has to be.
std::string unary_text(ScalarOp op, ScalarType type, const std::string& a) {
    const bool is_float = is_floating(type), is_double = type == ScalarType::kF64;
    const bool has_sign = !is_unsigned(type);
    if (const std::string_view name = c_function(op, is_double); !name.empty())
        return call(name, a);
    switch (op) {
        case ScalarOp::kNeg:
            return is_float ? "-" + a : "0 - " + a;
        case ScalarOp::kNot:
            return "!" + a;
        case ScalarOp::kAbs:
            if (is_float) return call(is_double ? "fabs" : "fabsf", a);
            return has_sign ? call(of_type("hearth_abs", type), a) : a;
        case ScalarOp::kSign:
            return has_sign ? call(of_type("hearth_sign", type), a)
                            : call(of_type("hearth_min", type), a, "1u");
        case ScalarOp::kRsqrt:
            return is_double ? "1.0 / " + call("sqrt", a) : "1.0f / " + call("sqrtf", a);
        case ScalarOp::kIsNan:
            return call("isnan", a) + " != 0";
        case ScalarOp::kIsInf:
            return call("isinf", a) + " != 0";
        case ScalarOp::kToF32:
            return cast(ScalarType::kF32, a);
        case ScalarOp::kToI32:
            return is_float ? call(is_double ? "hearth_i32_of_f64" : "hearth_to_i32", a)
                            : cast(ScalarType::kI32, a);
        case ScalarOp::kToU32:
            return is_float ? call(is_double ? "hearth_u32_of_f64" : "hearth_to_u32", a)
                            : cast(ScalarType::kU32, a);
        case ScalarOp::kToI64:
            return is_float ? call("hearth_i64_of_f64", a) : cast(ScalarType::kI64, a);
        case ScalarOp::kToU64:
            return is_float ? call("hearth_u64_of_f64", a) : cast(ScalarType::kU64, a);
        case ScalarOp::kToF64:
            return cast(ScalarType::kF64, a);
        case ScalarOp::kToBool:
            return a + " != 0";
        case ScalarOp::kRoundF16:
            return call("hearth_round_f16", a);
        case ScalarOp::kBitNot:
            return "~" + a;
        case ScalarOp::kBitsToF32:
            return call("hearth_f32_of_bits", has_sign ? cast(ScalarType::kU32, a) : a);
        case ScalarOp::kBitsToI32:
            return is_float ? cast(ScalarType::kI32, call("hearth_bits_of_f32", a))
                            : cast(ScalarType::kI32, a);
        case ScalarOp::kBitsToU32:
            return is_float ? call("hearth_bits_of_f32", a) : cast(ScalarType::kU32, a);
        case ScalarOp::kBitsToF64:
            return call("hearth_f64_of_bits", cast(ScalarType::kU64, a));
        case ScalarOp::kBitsToI64:
            return cast(ScalarType::kI64, call("hearth_bits_of_f64", a));
        case ScalarOp::kBitsToU64:
            return call("hearth_bits_of_f64", a);
        case ScalarOp::kBitsToUniform:
            return "(float)(" + a + " >> 8) * 5.9604644775390625e-8f";
        default:
            HEARTH_ASSERT(false && "no unary operator");
            return {};
    }
}

std::string binary_text(ScalarOp op, ScalarType type, const std::string& a, const std::string& b) {
    const bool is_float = is_floating(type), is_double = type == ScalarType::kF64;
    const auto typed = [&](const char* function) { return call(of_type(function, type), a, b); };
    if (std::string text = infix(op, a, b); !text.empty()) return text;
    if (const std::string_view name = c_function(op, is_double); !name.empty())
        return call(name, a, b);
    switch (op) {
        case ScalarOp::kDiv:
            return is_float ? a + " / " + b : typed("hearth_div");
        case ScalarOp::kMod:
            return is_float ? call(is_double ? "fmod" : "fmodf", a, b) : typed("hearth_mod");
        case ScalarOp::kPow:
            return is_float ? call(is_double ? "pow" : "powf", a, b) : typed("hearth_pow");
        case ScalarOp::kMin:
            return typed("hearth_min");
        case ScalarOp::kMax:
            return typed("hearth_max");
        case ScalarOp::kShiftLeft:
            return typed("hearth_shl");
        case ScalarOp::kShiftRight:
            return typed("hearth_shr");
        default:
            HEARTH_ASSERT(false && "no binary operator");
            return {};
    }
}

/// Invocations of a workgroup become the turns of a loop.  Where they meet at barriers, there is one loop from
/// each barrier to the next, and what an invocation keeps from one to the next is an array of all of them.
class CPrinter final : CLikePrinter {
  public:
    CPrinter(const Body& body, std::string_view name)
        : CLikePrinter(body),
          name_(name),
          is_spread_(body.locals.size()),
          is_place_(body.locals.size()),
          is_of_data_(body.locals.size()),
          is_spread_buffer_(body.buffers.size()) {
        for (const BodyFunction& f : body.functions) meets_.push_back(has_barrier(f.statements));
        for (const BodyFunction& f : body.functions) find_places(f.statements);
        find_places(body.statements);
    }

    Result<std::string> print() {
        group_type();
        for (size_t i = 0; i < body_.functions.size(); ++i) function(i);
        kernel();
        if (!error_.ok()) return unsupported("kernel " + name_ + " in C: " + error_.message());
        return std::move(text_);
    }

  private:
    // ------------------------------------------------------------------------ places

    /// Where elements lie is as wide as a pointer: sums of 32 bits may begin anew (-fwrapv), so a compiler would not
    /// know that a loop's places are side by side.  What is computed of data keeps its 32 bits.
    void find_places(const std::vector<Statement>& statements) {
        for (const Statement& s : statements) {
            if (s.kind == StatementKind::kLet || s.kind == StatementKind::kFor)
                is_place_[s.local] = is_place(s.a) && (s.c == 0 || is_place(s.c));
            if (s.kind == StatementKind::kLet) is_of_data_[s.local] = is_of_data(s.a);
            find_places(s.body);
            find_places(s.otherwise);
        }
    }
    bool is_place(uint32_t id) const {
        const ExprNode& n = node(id);
        if (n.type != ScalarType::kI32) return false;
        switch (n.kind) {
            case ExprKind::kConstant:
            case ExprKind::kRowCount:
            case ExprKind::kInvocation:
            case ExprKind::kWorkgroup:
            case ExprKind::kWorkgroups:
                return true;
            case ExprKind::kLocal:
                return is_place_[n.bits];
            case ExprKind::kOperation:
                switch (n.op) {
                    case ScalarOp::kAdd:
                    case ScalarOp::kSub:
                    case ScalarOp::kMul:
                    case ScalarOp::kDiv:
                    case ScalarOp::kMod:
                    case ScalarOp::kMin:
                    case ScalarOp::kMax:
                        return is_place(n.in[0]) && is_place(n.in[1]);
                    default:
                        return false;
                }
            default:
                return false;
        }
    }
    /// Whether what is in memory decides the value, as far as that is known.
    bool is_of_data(uint32_t id) const {
        const ExprNode& n = node(id);
        if (n.kind == ExprKind::kLoad || n.kind == ExprKind::kElement) return true;
        if (n.kind == ExprKind::kLocal) return is_of_data_[n.bits];
        return !has_arguments(n.kind) && std::ranges::any_of(n.in, [this](uint32_t operand) {
            return operand != 0 && is_of_data(operand);
        });
    }
    /// The operand in 32 bits, whether it is a place or not.
    std::string narrow(uint32_t id) {
        const bool is_wide = node(id).kind != ExprKind::kConstant && is_place(id);
        return (is_wide ? "(int32_t)" : "") + operand(id);
    }

    // ------------------------------------------------------------------------ barriers

    /// The function with barriers that a statement calls, or null.
    const ExprNode* meeting_call(const Statement& s) const {
        if (s.kind != StatementKind::kLet && s.kind != StatementKind::kAssign) return nullptr;
        const ExprNode& value = node(s.kind == StatementKind::kLet ? s.a : s.b);
        return value.kind == ExprKind::kCall && meets_[value.bits] ? &value : nullptr;
    }
    bool has_barrier(const Statement& s) const {
        return s.kind == StatementKind::kBarrier || meeting_call(s) != nullptr ||
               (s.kind == StatementKind::kCall && meets_[s.function]) || has_barrier(s.body) ||
               has_barrier(s.otherwise);
    }
    bool has_barrier(const std::vector<Statement>& statements) const {
        return std::any_of(statements.begin(), statements.end(),
                           [&](const Statement& s) { return has_barrier(s); });
    }

    static bool has_return(std::span<const Statement> statements) {
        return std::any_of(statements.begin(), statements.end(), [](const Statement& s) {
            return s.kind == StatementKind::kReturn || has_return(s.body) ||
                   has_return(s.otherwise);
        });
    }

    /// Whether a break or continue is for a loop around these statements.  If invocations meet in that loop, all of them
    /// leave it together.
    static bool leaves_loop(std::span<const Statement> statements) {
        return std::any_of(statements.begin(), statements.end(), [](const Statement& s) {
            return s.kind == StatementKind::kBreak || s.kind == StatementKind::kContinue ||
                   (s.kind != StatementKind::kFor &&
                    (leaves_loop(s.body) || leaves_loop(s.otherwise)));
        });
    }

    void for_each_invocation() {
        line("for (invocation = 0; invocation < " + std::to_string(body_.threads) +
             "; ++invocation) {");
        ++depth_;
    }
    void end_each_invocation() {
        --depth_;
        line("}");
        line("invocation = 0;");
    }

    /// Statements that all invocations come to, with barriers among them.  is_last: none come behind.
    void together(std::span<const Statement> statements, bool is_last) {
        size_t last_barrier = is_last ? 0 : statements.size();
        for (size_t i = 0; is_last && i < statements.size(); ++i)
            if (has_barrier(statements[i])) last_barrier = i;
        // Who returns before a barrier does so with all others: verify_body() has seen to that.
        const auto is_met = [&](size_t i) {
            return has_barrier(statements[i]) || leaves_loop(statements.subspan(i, 1)) ||
                   (i < last_barrier && has_return(statements.subspan(i, 1)));
        };
        for (size_t i = 0; i < statements.size();) {
            if (is_met(i)) {
                meet(statements[i], is_last && i >= last_barrier);
                ++i;
                continue;
            }
            size_t end = i;
            while (end < statements.size() && !is_met(end)) spread(statements[end++]);
            stands_alone_ = in_loop_ = false;
            for_each_invocation();
            for (; i < end; ++i) statement(statements[i]);
            end_each_invocation();
        }
    }

    void all_of(const std::vector<Statement>& statements) {
        ends_early_ = false;
        together(statements, true);
        if (ends_early_) text_ += "end:;\n";
    }

    LocalKind local_kind_of(const Statement& s) const {
        return s.kind == StatementKind::kDeclare ? local(s).kind : LocalKind::kValue;
    }

    /// What the statement declares is kept for all invocations.
    void spread(const Statement& s) {
        if (s.kind == StatementKind::kDeclareBuffer) {
            const uint64_t buffer = node(s.a).bits;
            is_spread_buffer_[buffer] = true;
            return line(pointer_to(body_.buffers[buffer]) + body_.buffers[buffer].name +
                        all_invocations_ + ";");
        }
        if (s.kind == StatementKind::kLoadLanes || local_kind_of(s) == LocalKind::kLanes)
            return fail("lanes beside barriers");
        const bool declares = s.kind == StatementKind::kLet || s.kind == StatementKind::kDeclare ||
                              s.kind == StatementKind::kLoadVector;
        if (!declares) return;
        is_spread_[s.local] = true;
        const Local& l = local(s);
        line(type_of(l) + " " + name_of(l) + all_invocations_ +
             (is_array(l) ? "[" + std::to_string(l.length) + "]" : "") + ";");
    }

    void meet(const Statement& s, bool is_last) {
        switch (s.kind) {
            case StatementKind::kBarrier:
                return;  // the loop before it has ended
            case StatementKind::kLet:
                spread(s);
                return meet_in(*meeting_call(s), place_of(s.local));
            case StatementKind::kAssign:
                return meet_in(*meeting_call(s), expression(s.a));
            case StatementKind::kCall:
                return meet_in(s.function, s.arguments, {});
            case StatementKind::kReturn:
                if (s.a != 0) {
                    for_each_invocation();
                    line("results[invocation] = " + expression(s.a) + ";");
                    end_each_invocation();
                }
                ends_early_ = true;
                return line("goto end;");
            case StatementKind::kBreak:
                return line("break;");
            case StatementKind::kContinue:
                return line("continue;");
            case StatementKind::kFor:
                line(loop_head(s));
                ++depth_;
                together(s.body, false);
                --depth_;
                return line("}");
            case StatementKind::kBlock:
                line("{");
                ++depth_;
                together(s.body, is_last);
                --depth_;
                return line("}");
            case StatementKind::kIf:
                line("if (" + expression(s.a) + ") {");
                ++depth_;
                together(s.body, is_last);
                --depth_;
                if (s.otherwise.empty()) return line("}");
                line("} else {");
                ++depth_;
                together(s.otherwise, is_last);
                --depth_;
                return line("}");
            default:
                HEARTH_ASSERT(false && "no statement with barriers");
        }
    }

    void meet_in(const ExprNode& call, const std::string& place) {
        meet_in(call.bits, body_.arguments_of(call), place);
    }
    /// Calls a function with barriers for all invocations.  place: of its results, or none.
    void meet_in(uint64_t called, std::span<const uint32_t> arguments, const std::string& place) {
        const BodyFunction& f = body_.functions[called];
        line("{");
        ++depth_;
        std::string list = "group";
        for (size_t i = 0; i < f.parameters.size(); ++i) {
            const std::string argument = "argument" + std::to_string(i);
            line(type_of(f.parameters[i]) + argument + all_invocations_ + ";");
            list += ", " + argument;
        }
        if (f.has_result) {
            line(std::string(type_text(f.result)) + " results" + all_invocations_ + ";");
            list += ", results";
        }
        for_each_invocation();
        for (size_t i = 0; i < f.parameters.size(); ++i)
            line("argument" + std::to_string(i) + "[invocation] = " + expression(arguments[i]) +
                 ";");
        end_each_invocation();
        line(name_ + "_" + f.name + "(" + list + ");");
        if (!place.empty()) {
            for_each_invocation();
            line(place + " = results[invocation];");
            end_each_invocation();
        }
        --depth_;
        line("}");
    }

    // ------------------------------------------------------------------------ the whole

    /// What GLSL has as globals: what an invocation knows of its workgroup, and shared memory.
    void group_type() {
        line("typedef struct {");
        ++depth_;
        line("int32_t rows, workgroup, workgroups;");
        for (const BodyBuffer& b : body_.buffers)
            if (b.kind == BufferKind::kOperand) line(pointer_to(b) + b.name + ";");
        for (const Local& l : body_.locals) {
            if (l.kind == LocalKind::kShared)
                line(type_of(l) + " " + name_of(l) + "[" + std::to_string(l.length) + "];");
            if (l.kind == LocalKind::kPrivate)
                line(type_of(l) + " " + name_of(l) + all_invocations_ + ";");
        }
        --depth_;
        line("} " + name_ + "_group;");
    }

    void function(size_t index) {
        const BodyFunction& f = body_.functions[index];
        const bool meets = meets_[index];
        std::string head = "HEARTH_FUNCTION " +
                           std::string(f.has_result && !meets ? type_text(f.result) : "void") +
                           " " + name_ + "_" + f.name + "(" + name_ + "_group* group" +
                           (meets ? "" : ", int32_t invocation");
        for (const uint32_t id : f.parameters) {
            const ExprNode& n = node(id);
            const bool is_buffer = n.kind == ExprKind::kBuffer;
            if (n.chunk != Chunk::kOne) fail("chunks of elements");
            if (meets && is_result(id)) fail("a function with barriers that sets a parameter");
            if (is_buffer)
                is_spread_buffer_[n.bits] = meets;
            else
                is_spread_[n.bits] = meets;
            head += ", " + type_of(id) + (meets ? "const* " : "") +
                    (is_buffer ? body_.buffers[n.bits].name : name_of(body_.locals[n.bits]));
        }
        if (meets && f.has_result) head += ", " + std::string(type_text(f.result)) + "* results";
        line(head + ") {");
        ++depth_;
        if (meets) {
            line("int32_t invocation = 0;");
            all_of(f.statements);
        } else {
            line("(void)group, (void)invocation;");
            stands_alone_ = true;
            for (const Statement& s : f.statements) statement(s);
        }
        --depth_;
        line("}");
    }

    void kernel() {
        const bool meets = has_barrier(body_.statements);
        if (!meets) {
            line("HEARTH_FUNCTION void " + name_ + "_invocation(" + name_ +
                 "_group* group, int32_t invocation) {");
            ++depth_;
            line("(void)group, (void)invocation;");
            // Read once, as what is stored may lie anywhere.
            for (const BodyBuffer& b : body_.buffers)
                if (b.kind == BufferKind::kOperand)
                    line(pointer_to(b) + "const " + b.name + " = group->" + b.name + ";");
            stands_alone_ = has_own_operands_ = true;
            for (const Statement& s : body_.statements) statement(s);
            has_own_operands_ = false;
            --depth_;
            line("}");
        }
        line("void " + name_ +
             "(void* const* operands, int32_t rows, int32_t first, int32_t end, int32_t "
             "workgroups) {");
        ++depth_;
        line(name_ + "_group whole, *const group = &whole;");
        line("group->rows = rows;");
        line("group->workgroups = workgroups;");
        size_t operand = 0;
        for (const BodyBuffer& b : body_.buffers)
            if (b.kind == BufferKind::kOperand)
                line("group->" + b.name + " = operands[" + std::to_string(operand++) + "];");
        line("for (group->workgroup = first; group->workgroup < end; ++group->workgroup) {");
        ++depth_;
        if (meets) {
            line("int32_t invocation = 0;");
            all_of(body_.statements);
        } else {
            line("for (int32_t invocation = 0; invocation < " + std::to_string(body_.threads) +
                 "; ++invocation)");
            line("    " + name_ + "_invocation(group, invocation);");
        }
        --depth_;
        line("}");
        --depth_;
        line("}");
    }

    // ------------------------------------------------------------------------ statements

    /// A statement that an invocation executes by itself.
    void statement(const Statement& s) override {
        switch (s.kind) {
            case StatementKind::kDeclare:
                if (local(s).kind == LocalKind::kLanes)
                    return line(declaration(local(s)) + " = " +
                                call("hearth_fill_" + lanes_text(local(s)), expression(s.a)) + ";");
                if (is_spread_[s.local] && s.a == 0) return;
                break;
            case StatementKind::kAccumulate:
                if (node(s.a).chunk == Chunk::kOne) break;
                if (s.op != ScalarOp::kAdd) fail("operations of chunks");
                return line(expression(s.a) + " = " +
                            call("hearth_add_four", expression(s.a), expression(s.b)) + ";");
            case StatementKind::kStoreChunk: {
                const uint32_t numbers[] = {s.b};
                if (node(s.b).chunk != Chunk::kFour) fail("chunks of more than four elements");
                return store_chunk(s, numbers, "4 * " + operand(s.a));
            }
            case StatementKind::kStoreElements:
                return store_chunk(s, s.arguments, operand(s.a));
            case StatementKind::kDeclareBuffer:
                if (is_spread_buffer_[node(s.a).bits]) return;
                return line(pointer_to(body_.buffers[node(s.a).bits]) + expression(s.a) + ";");
            case StatementKind::kLoadVector:
                if (!is_spread_[s.local]) line(declaration(local(s)) + ";");
                return load_elements(s);
            case StatementKind::kLoadLanes:
                return line(declaration(local(s)) + " = hearth_load_" + lanes_text(local(s)) + "(" +
                            (s.b == 0 ? place_of_buffer(s.buffer) : expression(s.b)) + " + " +
                            operand(s.a) + ");");
            case StatementKind::kStoreLanes:
                return line("hearth_store_" + lanes_text(local(s)) + "(" + expression(s.b) + " + " +
                            operand(s.a) + ", " + place_of(s.local) + ");");
            case StatementKind::kMultiplyAdd: {
                const ExprNode& a = node(s.a);
                const bool has_lanes =
                    a.kind == ExprKind::kLocal && body_.locals[a.bits].kind == LocalKind::kLanes;
                const std::string type = lanes_text(local(s)), sum = place_of(s.local);
                const std::string factor =
                    has_lanes ? expression(s.a) : call("hearth_fill_" + type, expression(s.a));
                return line(sum + " = hearth_multiply_add_" + type + "(" + factor + ", " +
                            expression(s.b) + ", " + sum + ");");
            }
            case StatementKind::kFor: {
                const bool was_in_loop = std::exchange(in_loop_, true);
                CLikePrinter::statement(s);
                in_loop_ = was_in_loop;
                return;
            }
            case StatementKind::kCall:
                return line(called(s.function, s.arguments) + ";");
            case StatementKind::kLetCall:
                return line(declaration_of_value(local(s)) + " = " +
                            called(s.function, s.arguments) + ";");
            case StatementKind::kReturn:
                return leave(s);
            case StatementKind::kBarrier:
                HEARTH_ASSERT(false && "barriers are where all invocations come together");
                return;
            default:
                break;
        }
        CLikePrinter::statement(s);
    }

    void leave(const Statement& s) {
        if (stands_alone_) return CLikePrinter::statement(s);
        if (in_loop_) return fail("a return out of a loop beside barriers");
        if (s.a != 0) line("results[invocation] = " + expression(s.a) + ";");
        line("continue;");  // with the next invocation
    }

    static bool are_words(ScalarType type, Chunk chunk) {
        return chunk == Chunk::kHalves || (chunk == Chunk::kFour && type == ScalarType::kU32);
    }
    /// Of one value, or of an element of an array.
    std::string type_of(const Local& l) {
        if (l.chunk == Chunk::kOne) return std::string(type_text(l.type));
        if (are_words(l.type, l.chunk)) return "hearth_words";
        if (is_fragment(l.chunk) || length_of(l.chunk) > 4)
            fail("chunks of more than four elements");
        return "hearth_four";
    }
    static bool is_array(const Local& l) {
        return l.kind == LocalKind::kArray || l.kind == LocalKind::kVector;
    }
    /// Not a word of C's, and none of this printer's.
    static std::string name_of(const Local& l) { return l.name + "_"; }
    static std::string lanes_text(const Local& l) { return "f32x" + std::to_string(l.length); }
    size_t index_of(const Local& l) const { return static_cast<size_t>(&l - body_.locals.data()); }
    /// What is kept for all invocations has been declared before them.
    std::string declaration(const Local& l) override {
        if (l.kind == LocalKind::kLanes) return "hearth_" + lanes_text(l) + " " + name_of(l);
        const size_t index = index_of(l);
        if (is_spread_[index]) return place_of(index);
        return (is_place_[index] ? "ptrdiff_t" : type_of(l)) + " " + name_of(l) +
               (is_array(l) ? "[" + std::to_string(l.length) + "]" : "");
    }
    std::string declaration_of_value(const Local& l) override {
        return (is_spread_[index_of(l)] ? "" : "const ") + declaration(l);
    }
    std::string literal(uint64_t bits, ScalarType type) const override {
        return literal_text(bits, type);
    }
    std::string place_of(uint64_t index) const override {
        const Local& l = body_.locals[index];
        switch (l.kind) {
            case LocalKind::kShared:
                return "group->" + name_of(l);
            case LocalKind::kPrivate:
                return "group->" + name_of(l) + "[invocation]";
            case LocalKind::kResult:
                return "(*" + name_of(l) + ")";
            default:
                return name_of(l) + (is_spread_[index] ? "[invocation]" : "");
        }
    }
    std::string type_of(uint32_t parameter) const {
        const ExprNode& n = node(parameter);
        return n.kind == ExprKind::kBuffer
                   ? pointer_to(body_.buffers[n.bits])
                   : std::string(type_text(n.type)) + (is_result(parameter) ? "* " : " ");
    }
    bool is_result(uint32_t parameter) const {
        const ExprNode& n = node(parameter);
        return n.kind == ExprKind::kLocal && body_.locals[n.bits].kind == LocalKind::kResult;
    }
    static std::string pointer_to(const BodyBuffer& b) {
        return std::string(c_held_type(b.held)) + "* ";
    }
    std::string place_of_buffer(uint64_t index) const override {
        const BodyBuffer& b = body_.buffers[index];
        return (b.kind == BufferKind::kOperand && !has_own_operands_ ? "group->" : "") + b.name +
               (is_spread_buffer_[index] ? "[invocation]" : "");
    }

    std::string load(uint64_t buffer, const std::string& element) override {
        const BodyBuffer& from = body_.buffers[buffer];
        const std::string stored = place_of_buffer(buffer) + "[" + element + "]";
        if (from.held == DType::kF16) return call("hearth_of_f16", stored);
        if (from.held == DType::kBF16) return call("hearth_of_bf16", stored);
        const ScalarType type = scalar_type(from.dtype);
        return size_bytes(from.held) >= 4 && type != ScalarType::kBool ? stored
                                                                       : cast(type, stored);
    }

    std::string store(uint64_t buffer, const std::string& element,
                      const std::string& value) override {
        const BodyBuffer& to = body_.buffers[buffer];
        std::string stored = value;
        if (to.dtype == DType::kF16)
            stored = call(to.held == DType::kF16 ? "hearth_f16_of" : "hearth_round_f16", value);
        else if (to.dtype == DType::kBF16)
            stored = call(to.held == DType::kBF16 ? "hearth_bf16_of" : "hearth_round_bf16", value);
        else if (is_integer(to.dtype) && size_bytes(to.dtype) < 4)
            stored = call("(" + std::string(c_held_type(to.dtype)) + ")", value);
        return place_of_buffer(buffer) + "[" + element + "] = " + stored + ";";
    }

    // ------------------------------------------------------------------------ expressions

    template <class Ids>
    std::string called(uint64_t function, const Ids& arguments) {
        std::string text = name_ + "_" + body_.functions[function].name + "(group, invocation";
        size_t parameter = 0;
        for (const uint32_t id : arguments)
            if (id != 0)
                text +=
                    (is_result(body_.functions[function].parameters[parameter++]) ? ", &" : ", ") +
                    expression(id);
        return text + ")";
    }

    std::string expression(uint32_t id) override {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kRowCount:
                return "group->rows";
            case ExprKind::kInvocation:
                return "invocation";
            case ExprKind::kWorkgroup:
                return along_axis(n, "group->workgroup");
            case ExprKind::kWorkgroups:
                return along_axis(n, "group->workgroups");
            case ExprKind::kLoad:
                if (n.chunk == Chunk::kOne) break;
                return load_four(n, operand(n.in[0]));
            case ExprKind::kLoadChunk:
                return load_four(n, "4 * " + operand(n.in[0]));
            case ExprKind::kVector:
                return call("hearth_load_four", place_of(n.bits));
            case ExprKind::kChunkElement:
                return expression(n.in[0]) + ".at[" + expression(n.in[1]) + "]";
            case ExprKind::kFill:
                return call("hearth_fill_four", expression(n.in[0]));
            case ExprKind::kCompose:
                return "hearth_four_of(" + list(body_.arguments_of(n)) +
                       (n.chunk == Chunk::kThree ? ", 0.0f)" : ")");
            case ExprKind::kScale:
                return "hearth_scale_four(" + list(n.in) + ")";
            case ExprKind::kDot:
                return "hearth_dot(" + list(n.in) + ")";
            case ExprKind::kDotHalves:
                return "hearth_dot_halves(" + list(n.in) + ")";
            case ExprKind::kTwoHalves:
                return call("hearth_two_halves", expression(n.in[0]));
            case ExprKind::kReinterpret:
                return expression(n.in[0]);
            case ExprKind::kMultiplyAdd:
                if (n.chunk == Chunk::kOne) return "hearth_multiply_add(" + list(n.in) + ")";
                if (!is_fragment(n.chunk)) return "hearth_multiply_add_four(" + list(n.in) + ")";
                break;
            case ExprKind::kCall:
                if (meets_[n.bits]) fail("a function with barriers within an expression");
                return called(n.bits, body_.arguments_of(n));
            default:
                break;
        }
        return CLikePrinter::expression(id);
    }

    /// Four elements from `first` on.
    std::string load_four(const ExprNode& n, const std::string& first) {
        if (are_words(n.type, n.chunk))
            return call("hearth_load_words", place_of_buffer(n.bits) + " + " + first);
        if (n.chunk != Chunk::kFour) fail("chunks of more than four elements");
        if (body_.buffers[n.bits].held == DType::kF32)
            return call("hearth_load_four", place_of_buffer(n.bits) + " + " + first);
        std::string text = "hearth_four_of(";
        for (const char* lane : {"", " + 1", " + 2", " + 3"})
            text += (lane[0] == 0 ? "" : ", ") + load(n.bits, first + lane);
        return text + ")";
    }

    /// A chunk, or numbers, to neighbours in memory.
    void store_chunk(const Statement& s, std::span<const uint32_t> numbers,
                     const std::string& first) {
        for (size_t i = 0; i < (numbers.size() == 1 ? 4 : numbers.size()); ++i) {
            const std::string lane = std::to_string(i);
            line(store(s.buffer, first + " + " + lane,
                       numbers.size() == 1 ? operand(numbers[0]) + ".at[" + lane + "]"
                                           : operand(numbers[i])));
        }
    }

    std::string random_counter(uint32_t id) override { return "(uint32_t)" + operand(id); }

    std::string operation(const ExprNode& n) override {
        if (n.kind == ExprKind::kFitting) return cast(n.type, narrow(n.in[0]));
        // A branch on places is rarely guessed wrong, and leaves out a load.
        if (n.chunk == Chunk::kFour && n.op == ScalarOp::kRoundF16)
            return call("hearth_round_four", expression(n.in[0]));
        if (n.chunk != Chunk::kOne && n.op != ScalarOp::kSelect) fail("operations of chunks");
        if (n.op == ScalarOp::kSelect && n.type == ScalarType::kF32 && n.chunk == Chunk::kOne &&
            is_of_data(n.in[0]))
            return "hearth_select(" + expression(n.in[0]) + ", " + expression(n.in[1]) + ", " +
                   expression(n.in[2]) + ")";
        if (n.op == ScalarOp::kSelect)
            return operand(n.in[0]) + " ? " + operand(n.in[1]) + " : " + operand(n.in[2]);
        const ScalarType type = node(n.in[0]).type;
        if (operand_count(n.op) == 1) return unary_text(n.op, type, narrow(n.in[0]));
        // A compiler makes nothing of a check that a constant makes needless, but a reader does.
        if (is_by_constant(n))
            return narrow(n.in[0]) + (n.op == ScalarOp::kDiv ? " / " : " % ") + operand(n.in[1]);
        if (is_bound(n, type))
            return call(n.op == ScalarOp::kMax ? "hearth_at_least" : "hearth_at_most",
                        operand(n.in[0]), operand(n.in[1]));
        return binary_text(n.op, type, operand(n.in[0]), operand(n.in[1]));
    }

    /// Whether a float is bounded by a number.
    bool is_bound(const ExprNode& n, ScalarType type) const {
        const ExprNode& bound = node(n.in[1]);
        return (n.op == ScalarOp::kMax || n.op == ScalarOp::kMin) && type == ScalarType::kF32 &&
               bound.kind == ExprKind::kConstant && !std::isnan(constant_value(bound));
    }

    const std::string name_;
    const std::string all_invocations_ =
        "[" + std::to_string(body_.threads) + "]";  ///< of an array
    std::vector<bool> meets_;                       ///< per function: has barriers
    std::vector<bool> is_spread_;                   ///< per local: an array of all invocations
    std::vector<bool> is_place_;                    ///< per local: of elements
    std::vector<bool> is_of_data_;                  ///< per local: see is_of_data()
    std::vector<bool> is_spread_buffer_;
    bool has_own_operands_ = false;  ///< pointers to them are locals
    bool ends_early_ = false;        ///< all invocations of a function leave it before its end
    bool stands_alone_ =
        true;               ///< an invocation executes to its end what is printed, without barriers
    bool in_loop_ = false;  ///< of an invocation
};

}  // namespace

std::string_view c_held_type(DType held) {
    switch (held) {
        case DType::kF16:
        case DType::kBF16:
        case DType::kU16:
            return "uint16_t";
        case DType::kU8:
        case DType::kBool:
            return "uint8_t";
        case DType::kI8:
            return "int8_t";
        case DType::kI16:
            return "int16_t";
        default:
            return type_text(scalar_type(held));
    }
}

Result<std::string> print_c(const Body& body, std::string_view name) {
    return CPrinter(body, name).print();
}

}  // namespace hearth
