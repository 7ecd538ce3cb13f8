// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/glsl_writer.hpp"

#include "ir/scalar_operands.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>

#include <bit>
#include <cmath>
#include <cstdio>

namespace hearth {

namespace {

bool is_unary(ScalarOp op) {
    return op >= ScalarOp::kNeg && op <= ScalarOp::kBitsToUniform;
}

std::string call(const char* function, const std::string& a) {
    return std::string(function) + "(" + a + ")";
}
std::string call(const char* function, const std::string& a, const std::string& b) {
    return std::string(function) + "(" + a + ", " + b + ")";
}

std::string unary_text(ScalarOp op, ScalarType type, const std::string& a) {
    const bool is_float = type == ScalarType::kF32;
    switch (op) {
        case ScalarOp::kNeg:
            return "-" + a;
        case ScalarOp::kNot:
            return "!" + a;
        case ScalarOp::kAbs:
            return type == ScalarType::kU32 ? a : call("abs", a);
        case ScalarOp::kSign:
            return is_float ? call("hearth_sign", a)
                            : (type == ScalarType::kU32 ? call("min", a, "1u") : call("sign", a));
        case ScalarOp::kFloor:
            return call("floor", a);
        case ScalarOp::kCeil:
            return call("ceil", a);
        case ScalarOp::kRound:
            return call("roundEven", a);
        case ScalarOp::kTrunc:
            return call("trunc", a);
        case ScalarOp::kSqrt:
            return call("sqrt", a);
        case ScalarOp::kRsqrt:
            return call("inversesqrt", a);
        case ScalarOp::kExp:
            return call("exp", a);
        case ScalarOp::kLog:
            return call("log", a);
        case ScalarOp::kSin:
            return call("hearth_sin", a);
        case ScalarOp::kCos:
            return call("hearth_cos", a);
        case ScalarOp::kTan:
            return call("hearth_tan", a);
        case ScalarOp::kAsin:
            return call("hearth_asin", a);
        case ScalarOp::kAcos:
            return call("hearth_acos", a);
        case ScalarOp::kAtan:
            return call("hearth_atan", a);
        case ScalarOp::kSinh:
            return call("hearth_sinh", a);
        case ScalarOp::kCosh:
            return call("hearth_cosh", a);
        case ScalarOp::kTanh:
            return call("hearth_tanh", a);
        case ScalarOp::kAsinh:
            return call("hearth_asinh", a);
        case ScalarOp::kAcosh:
            return call("hearth_acosh", a);
        case ScalarOp::kAtanh:
            return call("hearth_atanh", a);
        case ScalarOp::kErf:
            return call("hearth_erf", a);
        case ScalarOp::kIsNan:
            return call("isnan", a);
        case ScalarOp::kIsInf:
            return call("isinf", a);
        case ScalarOp::kToF32:
            return call("float", a);
        case ScalarOp::kToI32:
            return call(is_float ? "hearth_to_int" : "int", a);
        case ScalarOp::kToU32:
            return call(is_float ? "hearth_to_uint" : "uint", a);
        case ScalarOp::kToBool:
            return call("bool", a);
        case ScalarOp::kRoundF16:
            return call("hearth_round_f16", a);
        case ScalarOp::kRoundBF16:
            return call("hearth_round_bf16", a);
        case ScalarOp::kBitNot:
            return "~" + a;
        case ScalarOp::kBitsToF32:
            return call(type == ScalarType::kI32 ? "intBitsToFloat" : "uintBitsToFloat", a);
        case ScalarOp::kBitsToI32:
            return call("floatBitsToInt", a);
        case ScalarOp::kBitsToU32:
            return call("floatBitsToUint", a);
        case ScalarOp::kBitsToUniform:
            return "float(" + a + " >> 8) * 5.9604644775390625e-8";
        default:
            HEARTH_ASSERT(false && "no unary operator");
            return {};
    }
}

std::string binary_text(ScalarOp op, ScalarType type, const std::string& a, const std::string& b) {
    const bool is_float = type == ScalarType::kF32;
    switch (op) {
        case ScalarOp::kAdd:
            return a + " + " + b;
        case ScalarOp::kSub:
            return a + " - " + b;
        case ScalarOp::kMul:
            return a + " * " + b;
        case ScalarOp::kDiv:
            return a + " / " + b;
        case ScalarOp::kMod:
            return is_float ? call("hearth_fmod", a, b) : a + " % " + b;
        case ScalarOp::kPow:
            return call(is_float ? "hearth_pow" : "hearth_ipow", a, b);
        case ScalarOp::kAtan2:
            return call("hearth_atan2", a, b);
        case ScalarOp::kMin:
            return call(is_float ? "hearth_min" : "min", a, b);
        case ScalarOp::kMax:
            return call(is_float ? "hearth_max" : "max", a, b);
        case ScalarOp::kLess:
            return a + " < " + b;
        case ScalarOp::kLessEqual:
            return a + " <= " + b;
        case ScalarOp::kEqual:
            return a + " == " + b;
        case ScalarOp::kNotEqual:
            return a + " != " + b;
        case ScalarOp::kAnd:
            return a + " && " + b;
        case ScalarOp::kOr:
            return a + " || " + b;
        case ScalarOp::kXor:
            return a + " != " + b;
        case ScalarOp::kBitAnd:
            return a + " & " + b;
        case ScalarOp::kBitOr:
            return a + " | " + b;
        case ScalarOp::kBitXor:
            return a + " ^ " + b;
        case ScalarOp::kShiftLeft:
            return a + " << " + b;
        case ScalarOp::kShiftRight:
            return a + " >> " + b;
        default:
            HEARTH_ASSERT(false && "no binary operator");
            return {};
    }
}

}  // namespace

std::string_view glsl_type(ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return "float";
        case ScalarType::kI32:
            return "int";
        case ScalarType::kU32:
            return "uint";
        case ScalarType::kBool:
            return "bool";
    }
    return "";
}

std::string glsl_literal(double value, ScalarType type) {
    char text[40];
    switch (type) {
        case ScalarType::kBool:
            return value != 0 ? "true" : "false";
        case ScalarType::kU32:
            return std::to_string(saturate_cast<uint32_t>(value)) + "u";
        case ScalarType::kI32: {
            const auto whole = saturate_cast<int32_t>(value);
            // -2147483648 would be the negation of a literal that does not fit.
            if (whole == INT32_MIN) return "int(0x80000000u)";
            return whole < 0 ? "(" + std::to_string(whole) + ")" : std::to_string(whole);
        }
        case ScalarType::kF32:
            break;
    }
    if (std::isnan(value)) return "uintBitsToFloat(0x7fc00000u)";
    if (std::isinf(value))
        return value > 0 ? "uintBitsToFloat(0x7f800000u)" : "uintBitsToFloat(0xff800000u)";
    std::snprintf(text, sizeof text, "%.9g", value);
    std::string result = text;
    if (result.find_first_of(".e") == std::string::npos) result += ".0";
    return result[0] == '-' ? "(" + result + ")" : result;
}

std::string BufferTable::name_of(uint32_t value) {
    size_t index = 0;
    while (index < values.size() && values[index] != value) ++index;
    if (index == values.size()) values.push_back(value);
    return "b" + std::to_string(index);
}

std::string BufferTable::load(uint32_t value, const std::string& element, ScalarType type) {
    if (value == kShared) return shared_element(element, type);
    if (value == kSharedHalf) return "SHARED_HALF(" + element + ")";
    return name_of(value) + "_load(" + element + ")";
}

std::string BufferTable::store(uint32_t value, const std::string& element,
                               const std::string& contents) {
    return name_of(value) + "_store(" + element + ", " + contents + ");";
}

std::string shared_element(const std::string& element, ScalarType type) {
    const std::string slot = "SHARED(" + element + ")";
    if (type == ScalarType::kF32) return slot;
    return (type == ScalarType::kI32 ? "floatBitsToInt(" : "floatBitsToUint(") + slot + ")";
}

std::string shared_content(const std::string& value, ScalarType type) {
    if (type == ScalarType::kF32) return value;
    return (type == ScalarType::kI32 ? "intBitsToFloat(" : "uintBitsToFloat(") + value + ")";
}

void GlslWriter::bind(Scalar variable, std::string name) {
    variable_depth_[variable.node().bits] = scopes_.size() - 1;
    scopes_.back().names[variable.id] = std::move(name);
}

void GlslWriter::define(Scalar value, std::string name) {
    remember(value.id, scopes_.size() - 1, std::move(name));
}

void GlslWriter::open_scope(std::string header) {
    scopes_.emplace_back();
    scopes_.back().header = std::move(header);
}

void GlslWriter::close_scope() {
    HEARTH_ASSERT(scopes_.size() > 1);
    Scope closed = std::move(scopes_.back());
    scopes_.pop_back();
    const std::string margin = indent(scopes_.size() - 1);
    scopes_.back().body += margin + closed.header + " {\n" + closed.body + margin + "}\n";
}

void GlslWriter::line(const std::string& text) {
    scopes_.back().body += indent(scopes_.size() - 1) + text + "\n";
}

std::string GlslWriter::text() const {
    HEARTH_ASSERT(scopes_.size() == 1);
    return scopes_[0].body;
}

const std::string* GlslWriter::known(uint32_t id) const {
    for (size_t i = scopes_.size(); i-- > 0;)
        if (auto at = scopes_[i].names.find(id); at != scopes_[i].names.end()) return &at->second;
    return nullptr;
}

/// The outermost scope in which everything that the expression reads is known.
size_t GlslWriter::depth_of(uint32_t id) {
    std::vector<uint32_t> stack{id};
    std::unordered_map<uint32_t, bool> seen;
    size_t depth = 0;
    while (!stack.empty()) {
        const uint32_t at = stack.back();
        stack.pop_back();
        if (!seen.try_emplace(at, true).second) continue;
        const ScalarNode& n = arena_.node(at);
        if (n.op == ScalarOp::kVariable) {
            // A counter that is not bound belongs to a loop inside this expression.
            if (auto bound = variable_depth_.find(n.bits); bound != variable_depth_.end())
                depth = std::max(depth, bound->second);
        } else {
            const uint32_t operands[] = {n.a, n.b, n.c};
            stack.insert(stack.end(), operands, operands + operand_count(n.op));
        }
    }
    return depth;
}

void GlslWriter::remember(uint32_t id, size_t depth, std::string name) {
    scopes_[depth].names[id] = std::move(name);
}

std::string GlslWriter::emit(Scalar value) {
    return emit_node(value.id);
}

std::string GlslWriter::emit_node(uint32_t id) {
    if (const std::string* name = known(id)) return *name;
    const ScalarNode node = arena_.node(id);
    const Scalar value{&arena_, id};
    if (node.op == ScalarOp::kConst) return glsl_literal(value.const_value(), node.type);
    if (node.op == ScalarOp::kRowCount) {
        buffers_.uses_rows = true;
        return "rows";
    }
    HEARTH_ASSERT(node.op != ScalarOp::kVariable);  // every variable is bound before its use
    if (is_loop(node.op)) return emit_loop(id);
    const std::string text = expression(node);
    const size_t depth = depth_of(id);
    std::string name = "t" + std::to_string(locals_++);
    scopes_[depth].body += indent(depth) + "const " + std::string(glsl_type(node.type)) + " " +
                           name + " = " + text + ";\n";
    remember(id, depth, name);
    return name;
}

std::string GlslWriter::expression(const ScalarNode& node) {
    if (node.op == ScalarOp::kLoad) {
        const std::string element = emit_node(node.a);
        return buffers_.load(node.bits, element, node.type);
    }
    if (is_unary(node.op)) {
        const std::string a = emit_node(node.a);
        // What is known to fit needs no care.
        if (node.op == ScalarOp::kToI32 && range_of(node.a).is_within(-0x1p31, 0x1.fffffep30))
            return call("int", a);
        if (node.op == ScalarOp::kToU32 && range_of(node.a).is_within(0, 0x1.fffffep31))
            return call("uint", a);
        return unary_text(node.op, arena_.node(node.a).type, a);
    }
    if (node.op == ScalarOp::kSelect) {
        const std::string a = emit_node(node.a), b = emit_node(node.b), c = emit_node(node.c);
        return a + " ? " + b + " : " + c;
    }
    const std::string a = emit_node(node.a), b = emit_node(node.b);
    if (const std::string bound = bound_text(node, a, b); !bound.empty()) return bound;
    if (node.op == ScalarOp::kPhilox) {
        const uint64_t key = arena_.key(node.bits);
        return "hearth_philox(" + std::to_string(static_cast<uint32_t>(key)) + "u, " +
               std::to_string(static_cast<uint32_t>(key >> 32)) + "u, " + a + ", " + b + ")";
    }
    return binary_text(node.op, arena_.node(node.a).type, a, b);
}

/// The floats that an expression can be, as far as its bounds are plain to see.
GlslWriter::Range GlslWriter::range_of(uint32_t id, int depth) const {
    const ScalarNode& n = arena_.node(id);
    Range range;
    if (n.type != ScalarType::kF32 || depth == 8) return range;
    switch (n.op) {
        case ScalarOp::kConst: {
            const double value = static_cast<double>(std::bit_cast<float>(n.bits));
            return std::isnan(value) ? range : Range{value, value, kNoNaN};
        }
        case ScalarOp::kFloor:
        case ScalarOp::kCeil:
        case ScalarOp::kRound:
        case ScalarOp::kTrunc: {
            range = range_of(n.a, depth + 1);
            return {std::floor(range.low), std::ceil(range.high), range.nan_of};
        }
        case ScalarOp::kMin:
        case ScalarOp::kMax: {
            // A bound is a constant, and NaN passes.
            const Range a = range_of(n.a, depth + 1), b = range_of(n.b, depth + 1);
            const bool is_min = n.op == ScalarOp::kMin;
            range.low = is_min ? std::min(a.low, b.low) : std::max(a.low, b.low);
            range.high = is_min ? std::min(a.high, b.high) : std::max(a.high, b.high);
            range.nan_of = a.nan_of == kNoNaN ? b.nan_of : b.nan_of == kNoNaN ? a.nan_of : kAnyNaN;
            return range;
        }
        case ScalarOp::kSelect: {
            const Range yes = range_of(n.b, depth + 1), no = range_of(n.c, depth + 1);
            range = {std::min(yes.low, no.low), std::max(yes.high, no.high), kAnyNaN};
            const ScalarNode& condition = arena_.node(n.a);
            const bool asks_for_it = condition.op == ScalarOp::kIsNan && condition.a == no.nan_of;
            if (yes.nan_of == kNoNaN && (no.nan_of == kNoNaN || asks_for_it)) range.nan_of = kNoNaN;
            return range;
        }
        default:
            range.nan_of = id;  // if it is NaN itself
            return range;
    }
}

/// The larger or smaller of a number and a constant that is one: NaN stays without being asked for.
std::string GlslWriter::bound_text(const ScalarNode& node, const std::string& a,
                                   const std::string& b) const {
    if ((node.op != ScalarOp::kMax && node.op != ScalarOp::kMin) || node.type != ScalarType::kF32)
        return {};
    const char* beyond = node.op == ScalarOp::kMax ? " < " : " > ";
    const auto is_number = [&](uint32_t id) {
        const ScalarNode& n = arena_.node(id);
        return n.op == ScalarOp::kConst && !std::isnan(std::bit_cast<float>(n.bits));
    };
    if (is_number(node.b)) return a + beyond + b + " ? " + b + " : " + a;
    if (is_number(node.a)) return b + beyond + a + " ? " + a + " : " + b;
    return {};
}

std::string GlslWriter::emit_loop(uint32_t id) {
    const ScalarNode node = arena_.node(id);
    const size_t depth = depth_of(id);
    // Emit into the scope where the loop belongs, as if the inner scopes were not open.
    std::vector<Scope> inner(
        std::make_move_iterator(scopes_.begin() + static_cast<long>(depth) + 1),
        std::make_move_iterator(scopes_.end()));
    scopes_.resize(depth + 1);
    const std::string extent = emit_node(node.a);
    const std::string name = "t" + std::to_string(locals_++);
    const std::string counter = "i" + std::to_string(node.bits);
    const std::string body_type(glsl_type(arena_.node(node.b).type));
    const bool is_arg = node.op == ScalarOp::kLoopArgMax || node.op == ScalarOp::kLoopArgMin;
    const bool is_extreme =
        is_arg || node.op == ScalarOp::kLoopMax || node.op == ScalarOp::kLoopMin;
    const std::string best = is_arg ? name + "_best" : name;
    if (is_arg) {
        line("int " + name + " = 0;");
        line(body_type + " " + best + " = " + body_type + "(0);");
    } else {
        const char* start = node.op == ScalarOp::kLoopProd ? "(1)" : "(0)";
        line(body_type + " " + name + " = " + body_type + start + ";");
    }
    open_scope("for (int " + counter + " = 0; " + counter + " < " + extent + "; ++" + counter +
               ")");
    bind({&arena_, node.c}, counter);
    const std::string value = emit_node(node.b);
    switch (node.op) {
        case ScalarOp::kLoopSum:
            line(name + " += " + value + ";");
            break;
        case ScalarOp::kLoopProd:
            line(name + " *= " + value + ";");
            break;
        default: {
            HEARTH_ASSERT(is_extreme);
            const bool larger = node.op == ScalarOp::kLoopMax || node.op == ScalarOp::kLoopArgMax;
            const std::string better = value + (larger ? " > " : " < ") + best;
            if (is_arg)
                line("if (" + counter + " == 0 || " + better + ") { " + best + " = " + value +
                     "; " + name + " = " + counter + "; }");
            else if (body_type == "float")
                line(best + " = " + counter + " == 0 ? " + value + " : hearth_" +
                     (larger ? "max(" : "min(") + best + ", " + value + ");");
            else
                line("if (" + counter + " == 0 || " + better + ") " + best + " = " + value + ";");
        }
    }
    close_scope();
    variable_depth_.erase(node.bits);
    remember(id, depth, name);
    for (Scope& scope : inner) scopes_.push_back(std::move(scope));
    return name;
}

}  // namespace hearth
