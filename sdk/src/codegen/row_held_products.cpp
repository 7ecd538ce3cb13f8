// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Products of a row program of few rows.  A thread holds the weights of a column, or of a slice of
// it, in registers, where they come straight from their buffer some levels ahead, and multiplies all
// of the tile's rows by them.  Slices' sums are added up behind a barrier, by the threads that then
// have an element each of the result.

#include "codegen/row_writer.hpp"

#include <algorithm>

namespace hearth {

std::string RowProgramWriter::held_value(size_t index) {
    const RowWeight& w = plan_.weights[index];
    const int i_end = w.is_dot ? w.outer : w.inner, j_end = w.is_dot ? w.inner : w.outer;
    const std::string width = text(j_end);
    if (w.is_dot) {
        if (is_plain(w.value) && j_end % 4 == 0)
            return by_four(w.value) + ".at[(n * " + width + " + 4 * q) >> 2]";
        return weight_function(index, i_end, j_end) + "(n, 4 * q)";
    }
    const std::string buffer = is_plain(w.value) ? kernel_.buffers.name_of(w.value) : "";
    std::string element = "element_of_" + weight_function(index, i_end, j_end);
    std::string four = "vec4(";
    for (int t = 0; t < 4; ++t) {
        const std::string k = "4 * q + " + text(t);
        const std::string value = buffer.empty() ? element + "(" + k + ", n)"
                                                 : buffer + ".at[(" + k + ") * " + width + " + n]";
        four +=
            w.inner % 4 == 0 ? value : "(" + k + " < " + text(w.inner) + " ? " + value + " : 0.0)";
        four += t < 3 ? ", " : ")";
    }
    return four;
}

std::string RowProgramWriter::open_held(const RowWeight& w) const {
    const int tasks = w.outer * w.slices;
    const int rounds = ceil_div(tasks, plan_.threads);
    std::string out = "        UNROLL for (int round = 0; round < " + text(rounds) +
                      "; ++round) {\n            const int task = tid + round * " +
                      text(plan_.threads) + ";\n            const int n = task / " +
                      text(w.slices) + ", s = task % " + text(w.slices) + ";\n            ";
    if (tasks % plan_.threads != 0) out += "if (task < " + text(tasks) + ") ";
    out += "UNROLL for (int m = 0; m < " + text(w.held_quads) +
           "; ++m) {\n                const int q = s + m * " + text(w.slices) +
           ";\n                ";
    if (w.inner_quads() % w.slices != 0) out += "if (q < " + text(w.inner_quads()) + ") ";
    return out + "{\n";
}

std::string RowProgramWriter::fetch_held(size_t index) {
    const RowWeight& w = plan_.weights[index];
    const int rounds = ceil_div(w.outer * w.slices, plan_.threads);
    const std::string name = "held" + text(static_cast<int64_t>(index));
    return "        vec4 " + name + "[" + text(rounds * w.held_quads) + "];\n" + open_held(w) +
           "                " + name + "[round * " + text(w.held_quads) +
           " + m] = " + held_value(index) + ";\n                }\n            }\n        }\n";
}

std::string RowProgramWriter::write_held_product(const RowStage& stage) {
    const auto index = static_cast<size_t>(stage.weight);
    const RowWeight& w = plan_.weights[index];
    const RowTile& x = plan_.tiles[static_cast<size_t>(stage.left)];
    const int rounds = ceil_div(w.outer * w.slices, plan_.threads);
    const std::string rows = text(plan_.tile_rows), number = text(static_cast<int64_t>(index));
    const std::string acc = "acc" + number + "[round * " + rows + " + r]";
    std::string out = "        float acc" + number + "[" + text(rounds * plan_.tile_rows) +
                      "];\n        UNROLL for (int i = 0; i < " + text(rounds * plan_.tile_rows) +
                      "; ++i) acc" + number + "[i] = 0.0;\n";
    out += open_held(w);
    out += "                const vec4 w = held" + number + "[round * " + text(w.held_quads) +
           " + m];\n                UNROLL for (int r = 0; r < " + rows +
           "; ++r)\n                    " + acc + " += dot(pool[r * " + text(x.stride / 4) +
           " + q + " + text(x.offset / 4) + "], w);\n                }\n            }\n";
    if (w.slices > 1) {
        out += "            if (task < " + text(w.outer * w.slices) +
               ") UNROLL for (int r = 0; r < " + rows + "; ++r)\n                PUT_SHARED(r * " +
               text(w.outer * w.slices) + " + task + " + text(w.offset) + ", " + acc + ");\n";
    }
    return out + "        }\n";
}

bool RowProgramWriter::has_slices(uint32_t level) const {
    return std::any_of(plan_.weights.begin(), plan_.weights.end(), [&](const RowWeight& w) {
        return holds_weights() && w.level == level && w.slices > 1;
    });
}

std::string RowProgramWriter::write_held_epilogue(const RowStage& stage, int& lane) {
    const auto index = static_cast<size_t>(stage.weight);
    const RowWeight& w = plan_.weights[index];
    Scope scope(*this, stage);
    GlslWriter& writer = scope.writer;
    const Scalar sum = scope.arena.variable(ScalarType::kF32);
    const Scalar inner = scope.arena.variable(ScalarType::kI32);
    scope.expressions.define(stage.node->outputs[0], sum);
    const bool is_padded = w.outer % 4 != 0;
    const int padded = w.padded_outer();
    const std::string inside = is_padded ? "n < " + text(w.outer) : "";
    if (w.slices == 1) {
        // Each thread has whole columns.
        const int rounds = ceil_div(padded, plan_.threads);
        writer.open_scope("UNROLL for (int round = 0; round < " + text(rounds) + "; ++round)");
        writer.line("const int n = tid + round * " + text(plan_.threads) + ";");
        if (padded % plan_.threads != 0) writer.open_scope("if (n < " + text(padded) + ")");
        if (is_padded) writer.line("const int nn = min(n, " + text(w.outer - 1) + ");");
        writer.bind(inner, is_padded ? "nn" : "n");
        writer.open_scope("UNROLL for (int r = 0; r < " + text(plan_.tile_rows) + "; ++r)");
        scope.open_row();
        writer.line("const float sum = acc" + text(static_cast<int64_t>(index)) + "[round * " +
                    text(plan_.tile_rows) + " + r];");
        writer.bind(sum, "sum");
        store_row(scope, stage.group->stores, inner, "n", inside);
        writer.close_scope();
        if (padded % plan_.threads != 0) writer.close_scope();
        writer.close_scope();
        return writer.text(kStageMargin);
    }
    const int tasks = plan_.tile_rows * padded;
    writer.line(lane_line(lane, tasks));
    writer.open_scope("UNROLL for (int round = 0; round < " + text(ceil_div(tasks, plan_.threads)) +
                      "; ++round)");
    writer.line("const int e = lane + round * " + text(plan_.threads) + ";");
    if (tasks % plan_.threads != 0) writer.open_scope("if (e < " + text(tasks) + ")");
    writer.line("const int r = e / " + text(padded) + ", n = e % " + text(padded) + ";");
    if (is_padded) writer.line("const int nn = min(n, " + text(w.outer - 1) + ");");
    writer.bind(inner, is_padded ? "nn" : "n");
    scope.open_row();
    const std::string from = "(r * " + text(w.outer) + " + " + (is_padded ? "nn" : "n") + ") * " +
                             text(w.slices) + " + " + text(w.offset);
    if (w.slices % 4 == 0) {
        const std::string quad = "((" + from + ") >> 2)";
        writer.line("vec4 four = pool[" + quad + "];");
        for (int s = 4; s < w.slices; s += 4)
            writer.line("four += pool[" + quad + " + " + text(s / 4) + "];");
        writer.line("const float sum = (four.x + four.y) + (four.z + four.w);");
    } else {
        writer.line("const float sum = SHARED(" + from + ") + SHARED(" + from + " + 1);");
    }
    writer.bind(sum, "sum");
    store_row(scope, stage.group->stores, inner, "n", inside);
    if (tasks % plan_.threads != 0) writer.close_scope();
    writer.close_scope();
    return writer.text(kStageMargin);
}

}  // namespace hearth
