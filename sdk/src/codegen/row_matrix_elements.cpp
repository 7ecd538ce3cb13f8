// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of a row program that copy rows, compute element by element, or reduce within a row.

#include "codegen/row_matrix_writer.hpp"

#include <algorithm>

namespace hearth {

std::string MatrixRowWriter::write_fill(const RowStage& stage, int& lane) {
    const RowTile& tile = plan_.tiles[static_cast<size_t>(stage.left)];
    if (tile.is_half() && is_plain_half(tile.value) && tile.width % 8 == 0)
        return fill_by_eight(tile, lane);
    return write_elements(stage, {{tile.value}}, tile.width, tile.padded(), lane);
}

bool MatrixRowWriter::is_in_buffer(ValueId v, DType dtype) const {
    const Value& value = graph_.value(v);
    return value.dtype == dtype && !(value.kind == ValueKind::kNode && inlined_[value.node]) &&
           value.shape.element_count() != Dim(1);
}

std::string MatrixRowWriter::fill_by_eight(const RowTile& tile, int& lane) {
    const int eights = tile.padded() / 8, inside = tile.width / 8;
    const int tasks = plan_.tile_rows * eights;
    std::string out = "            " + lane_line(lane, tasks) + "\n";
    out += "            for (int e = lane; e < " + text(tasks) + "; e += " + text(plan_.threads) +
           ") {\n";
    out += "                const int r = e / " + text(eights) + ", q = e % " + text(eights) +
           ";\n                pool[r * " + text(tile.stride / 4) + " + q + " +
           text(tile.offset / 4) + "] = r < count" +
           (inside < eights ? " && q < " + text(inside) : "") + " ? floatBitsToUint(" +
           by_four(tile.value) + ".at[(first + r) * " + text(inside) +
           " + q]) : uvec4(0);\n            }\n";
    return out;
}

std::string MatrixRowWriter::write_map(const RowStage& stage, int& lane) {
    int64_t width = 0;
    int padded = 0;
    for (ValueId v : stage.group->stores) {
        width = without_rows(graph_.value(v).shape).element_count().count;
        if (const RowTile* tile = plan_.tile_for(v)) padded = std::max(padded, tile->padded());
    }
    return write_elements(stage, stage.group->stores, static_cast<int>(width),
                          std::max(padded, static_cast<int>(width)), lane);
}

std::string MatrixRowWriter::write_elements(const RowStage& stage, std::span<const ValueId> values,
                                            int width, int padded, int& lane) {
    Scope scope(*this, stage);
    GlslWriter& writer = scope.writer;
    if (std::any_of(values.begin(), values.end(), [&](ValueId v) { return is_half_tile(v); })) {
        const std::string eights = text(ceil_div(padded, 8));
        const int eight_tasks = plan_.tile_rows * ceil_div(padded, 8);
        writer.line(lane_line(lane, eight_tasks));
        writer.open_scope("for (int e = lane; e < " + text(eight_tasks) +
                          "; e += " + text(plan_.threads) + ")");
        writer.line("const int r = e / " + eights + ", n0 = e % " + eights + " * 8;");
        scope.open_row();
        store_eight(scope, values, width);
        writer.close_scope();
        return eight_text(scope);
    }
    const int tasks = plan_.tile_rows * padded;
    writer.line(lane_line(lane, tasks));
    writer.open_scope(each_task(tasks));
    writer.line("const int r = e / " + text(padded) + ", j = e % " + text(padded) + ";");
    scope.open_row();
    const Scalar inner = scope.arena.variable(ScalarType::kI32);
    if (padded == width) {
        writer.bind(inner, "j");
        store_row(scope, values, inner, "j");
    } else {
        writer.line("const int jj = min(j, " + text(width - 1) + ");");
        writer.bind(inner, "jj");
        store_row(scope, values, inner, "j", "j < " + text(width));
    }
    writer.close_scope();
    return writer.text(kStageMargin);
}

std::string MatrixRowWriter::write_rowwise(const RowStage& stage) {
    Scope scope(*this, stage);
    GlslWriter& writer = scope.writer;
    const Group& group = *stage.group;
    Shape outer, reduced;
    for (int i = 1; i < group.space.rank(); ++i) {
        const bool is_reduced =
            std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
        (is_reduced ? reduced : outer).push_back(group.space[i]);
    }
    const int outer_count = static_cast<int>(outer.element_count().count);
    const int length = static_cast<int>(reduced.element_count().count);
    const int tasks = plan_.tile_rows * outer_count;
    int lanes = 1;
    while (lanes < 32 && 4 * lanes <= length && 2 * lanes * tasks <= plan_.threads) lanes *= 2;
    const int at_once = plan_.threads / lanes;
    writer.open_scope("for (int base = 0; base < " + text(tasks) + "; base += " + text(at_once) +
                      ")");
    writer.line("const int task = min(base + tid / " + text(lanes) + ", " + text(tasks - 1) +
                "), sub = tid % " + text(lanes) + ";");
    writer.line("const bool is_mine = base + tid / " + text(lanes) + " < " + text(tasks) + ";");
    writer.line("const int r = task / " + text(outer_count) + ", o = task % " + text(outer_count) +
                ";");
    scope.open_row();
    const Scalar o = scope.arena.variable(ScalarType::kI32);
    writer.bind(o, "o");
    const Coords<Scalar> outer_at = coords_of(scope.arena, {o, {}}, outer);

    const auto open_line = [&]() {
        const Scalar k = scope.arena.variable(ScalarType::kI32);
        writer.open_scope("for (int k = sub; k < " + text(length) + "; k += " + text(lanes) + ")");
        writer.bind(k, "k");
        const Coords<Scalar> inner_at = coords_of(scope.arena, {k, {}}, reduced);
        ScalarPlace place;
        place.coords.emplace();
        place.coords->axis.push_back(scope.row);
        int next_outer = 0, next_inner = 0;
        for (int i = 1; i < group.space.rank(); ++i) {
            const bool is_reduced =
                std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
            place.coords->axis.push_back(is_reduced ? inner_at[next_inner++]
                                                    : outer_at[next_outer++]);
        }
        return place;
    };

    int reductions = 0;
    for (NodeId n : group.nodes) {
        const Node& node = graph_.nodes[n];
        if (node.op->op_class != OpClass::kReduce) continue;
        const ScalarType type = scalar_type(graph_.value(node.outputs[0]).dtype);
        const std::string sum = "sum" + text(reductions++);
        writer.line(std::string(glsl_type(type)) + " " + sum + " = " +
                    fold_identity(node.op->fold, graph_.value(node.outputs[0]).dtype) + ";");
        const ScalarPlace place = open_line();
        const std::string element = writer.emit(scope.expressions.read(node.inputs[0], place));
        writer.line(sum + " = " + fold_combine(node.op->fold, type, sum, element) + ";");
        writer.close_scope();
        if (lanes > 1) fold_lanes(writer, node.op->fold, type, sum, lanes);
        const Scalar result = scope.arena.variable(type);
        writer.bind(result, sum);
        scope.expressions.define(node.outputs[0], result);
    }
    store_rowwise(scope, group, outer_count, o, open_line);
    writer.close_scope();
    return writer.text(kStageMargin);
}

void MatrixRowWriter::fold_lanes(GlslWriter& writer, Fold fold, ScalarType type,
                                 const std::string& sum, int lanes) const {
    const std::string slot = text(plan_.scratch_offset) + " + tid";
    const auto number = [&](const std::string& thread) {
        return shared_element(text(plan_.scratch_offset) + " + " + thread, type);
    };
    writer.line("PUT_SHARED(" + slot + ", " + shared_content(sum, type) + ");");
    writer.line("barrier();");
    for (int width = lanes / 2; width > 0; width /= 2) {
        writer.line(
            "if (sub < " + text(width) + ") PUT_SHARED(" + slot + ", " +
            shared_content(fold_combine(fold, type, number("tid"), number("tid + " + text(width))),
                           type) +
            ");");
        writer.line("barrier();");
    }
    writer.line(sum + " = " + number("tid - sub") + ";");
    writer.line("barrier();");
}

template <class OpenLine>
void MatrixRowWriter::store_rowwise(Scope& scope, const Group& group, int outer_count, Scalar o,
                                    const OpenLine& open_line) {
    std::vector<ValueId> full, single;
    for (ValueId v : group.stores) {
        const int64_t count = without_rows(graph_.value(v).shape).element_count().count;
        (count == outer_count ? single : full).push_back(v);
    }
    GlslWriter& writer = scope.writer;
    if (!full.empty()) {
        const ScalarPlace place = open_line();
        Coords<Scalar> rest;
        for (int i = 1; i < place.coords->rank(); ++i) rest.axis.push_back((*place.coords)[i]);
        const Scalar inner = linear_of(scope.arena, {{}, rest}, without_rows(group.space));
        std::vector<std::string> contents;
        for (ValueId v : full) contents.push_back(writer.emit(scope.expressions.read(v, place)));
        writer.line("const int at = " + writer.emit(inner) + ";");
        writer.open_scope("if (is_mine)");
        for (size_t i = 0; i < full.size(); ++i) store(scope, full[i], contents[i], "at");
        writer.close_scope();
        writer.close_scope();
        // What is read four at a time has zeros behind it.
        for (ValueId v : full) {
            const RowTile* tile = plan_.tile_for(v);
            if (tile == nullptr || tile->padded() == tile->width) continue;
            writer.line("if (is_mine && sub == 0 && o == 0) for (int k = " + text(tile->width) +
                        "; k < " + text(tile->padded()) + "; ++k) PUT_SHARED(r * " +
                        text(tile->stride) + " + k + " + text(tile->offset) + ", 0.0);");
        }
    }
    if (single.empty()) return;
    writer.open_scope("if (is_mine && sub == 0)");
    store_row(scope, single, o, "o");
    for (ValueId v : single) {
        const RowTile* tile = plan_.tile_for(v);
        if (tile == nullptr || tile->padded() == tile->width) continue;
        writer.line("if (o == 0) for (int k = " + text(tile->width) + "; k < " +
                    text(tile->padded()) + "; ++k) PUT_SHARED(r * " + text(tile->stride) +
                    " + k + " + text(tile->offset) + ", 0.0);");
    }
    writer.close_scope();
}
}  // namespace hearth
