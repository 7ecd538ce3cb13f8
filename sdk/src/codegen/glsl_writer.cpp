// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/glsl_writer.hpp"

#include "ir/scalar_operands.hpp"
#include "ir/scalar_range.hpp"
#include "kernel/types.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>

namespace hearth {

std::string BufferTable::name_of(uint32_t value) {
    size_t index = 0;
    while (index < values.size() && values[index] != value) ++index;
    if (index == values.size()) values.push_back(value);
    return "b" + std::to_string(index);
}

std::string BufferTable::load(uint32_t value, const std::string& element) {
    return name_of(value) + "_load(" + element + ")";
}

void GlslWriter::bind(Scalar variable, std::string name) {
    variable_depths_.bind(variable.node(), scopes_.size() - 1);
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
    const size_t depth = scopes_.size() - 1;
    add_line(depth, closed.header + " {");
    std::vector<Line>& lines = scopes_.back().lines;
    std::move(closed.lines.begin(), closed.lines.end(), std::back_inserter(lines));
    add_line(depth, "}");
}

void GlslWriter::line(const std::string& text) {
    add_line(scopes_.size() - 1, text);
}

std::string GlslWriter::text() const {
    HEARTH_ASSERT(scopes_.size() == 1);
    std::string text;
    for (const Line& l : scopes_[0].lines)
        text += std::string(4 * (l.depth + 1), ' ') + l.text + "\n";
    return text;
}

const std::string* GlslWriter::known(uint32_t id) const {
    for (size_t i = scopes_.size(); i-- > 0;)
        if (auto at = scopes_[i].names.find(id); at != scopes_[i].names.end()) return &at->second;
    return nullptr;
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
    const size_t depth = variable_depths_.of(arena_, id);
    std::string name = "t" + std::to_string(locals_++);
    add_line(depth, "const " + std::string(glsl_type(node.type)) + " " + name + " = " + text + ";");
    remember(id, depth, name);
    return name;
}

std::string GlslWriter::expression(const ScalarNode& node) {
    if (node.op == ScalarOp::kLoad) {
        const std::string element = emit_node(node.a);
        return buffers_.load(node.bits, element);
    }
    std::vector<std::string> operands;
    const std::array<uint32_t, 3> ids{node.a, node.b, node.c};
    for (int i = 0; i < operand_count(node.op); ++i)
        operands.push_back(emit_node(ids[static_cast<size_t>(i)]));
    calls_rounding_ |= node.op == ScalarOp::kRoundF16 || node.op == ScalarOp::kRoundBF16;
    calls_functions_ |= calls_rounding_ || node.op == ScalarOp::kPhilox ||
                        is_library_function(node.op, arena_.node(node.a).type);
    if (node.op == ScalarOp::kPhilox)
        return glsl_philox(arena_.key(node.bits), operands[0], operands[1]);
    GlslOperation operation{node.op, arena_.node(node.a).type, is_fitting_conversion(arena_, node)};
    for (size_t i = 0; i < std::min<size_t>(operands.size(), 2); ++i) {
        const ScalarNode& n = arena_.node(ids[i]);
        operation.is_number[i] =
            n.op == ScalarOp::kConst && !std::isnan(std::bit_cast<float>(n.bits));
    }
    return glsl_operation(operation, operands);
}

std::string GlslWriter::emit_loop(uint32_t id) {
    const ScalarNode node = arena_.node(id);
    const size_t depth = variable_depths_.of(arena_, id);
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
            else if (calls_functions_ |= body_type == "float"; body_type == "float")
                line(best + " = " + counter + " == 0 ? " + value + " : hearth_" +
                     (larger ? "max(" : "min(") + best + ", " + value + ");");
            else
                line("if (" + counter + " == 0 || " + better + ") " + best + " = " + value + ";");
        }
    }
    close_scope();
    variable_depths_.release(node);
    remember(id, depth, name);
    for (Scope& scope : inner) scopes_.push_back(std::move(scope));
    return name;
}

}  // namespace hearth
