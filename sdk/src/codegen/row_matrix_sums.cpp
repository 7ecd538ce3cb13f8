// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of a row program that sum over rows: weight gradients, bias gradients, losses.

#include "codegen/row_matrix_writer.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <bit>

namespace hearth {

void MatrixRowWriter::choose_kept() {
    int floats = 0;
    for (const RowStage& stage : plan_.stages)
        if (stage.kind == RowStageKind::kGradient) {
            const int of_one = matrix_m() * matrix_n() / (plan_.threads / plan_.subgroups);
            floats += ceil_div(matrix_gradient_tasks(stage), plan_.subgroups) * of_one;
        }
    keeps_gradients_ = plan_.in_registers || (!plan_.is_single && floats <= kMaxKeptFloats);
}

std::string MatrixRowWriter::write_row_sum(const RowStage& stage, int& lane) {
    const ValueId v = stage.node->outputs[0];
    const RowTile* tile = plan_.tile_for(stage.node->inputs[0]);
    if (tile != nullptr && sums_only_tile(stage, *tile)) return write_tile_sum(*tile, v, lane);
    if (tile != nullptr && sums_by_eight(stage, *tile)) return write_sum_by_eight(*tile, v, lane);
    const Shape& in = graph_.value(stage.node->inputs[0]).shape;
    const std::vector<int64_t>& axes = stage.node->attrs.integers("axes");
    Shape kept, reduced;
    for (int i = 1; i < in.rank(); ++i) {
        const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
        (is_reduced ? reduced : kept).push_back(in[i]);
    }
    const int columns = static_cast<int>(kept.element_count().count);
    const int length = static_cast<int>(reduced.element_count().count);
    const int rounds = ceil_div(columns, plan_.threads);
    // Rows are dealt to as many threads as there are, in turns.
    int slices = 1;
    while (columns > 1 && 2 * slices * columns <= plan_.threads && 2 * slices <= plan_.tile_rows)
        slices *= 2;
    const std::string name = "total" + text(v);
    declarations_ += "    float " + name + "[" + text(rounds) +
                     "];\n    UNROLL for (int i "
                     "= 0; i < " +
                     text(rounds) + "; ++i) " + name + "[i] = 0.0;\n";

    Scope scope(*this, stage);
    GlslWriter& writer = scope.writer;
    const Scalar column = scope.arena.variable(ScalarType::kI32);
    const Scalar k = scope.arena.variable(ScalarType::kI32);
    const bool is_single = columns == 1;
    const std::string lane_text = lane_line(lane, is_single ? plan_.threads : columns * slices);
    writer.line(lane_text);
    if (is_single) {
        writer.open_scope("for (int e = lane; e < count * " + text(length) +
                          "; e += " + text(plan_.threads) + ")");
        writer.line("const int r = e / " + text(length) + ", k = e % " + text(length) +
                    ", column = 0, round = 0;");
    } else {
        writer.open_scope("UNROLL for (int round = 0; round < " + text(rounds) + "; ++round)");
        if (slices > 1)
            writer.line("const int column = lane % " + text(columns) + ", slice = lane / " +
                        text(columns) + ";");
        else
            writer.line("const int column = lane + round * " + text(plan_.threads) +
                        ", slice = 0;");
        writer.open_scope(slices > 1 ? "if (slice < " + text(slices) + ")"
                                     : "if (column < " + text(columns) + ")");
        writer.open_scope("for (int r = slice; r < count; r += " + text(slices) + ")");
        writer.open_scope("for (int k = 0; k < " + text(length) + "; ++k)");
    }
    scope.open_row();
    writer.bind(column, "column");
    writer.bind(k, "k");
    const Coords<Scalar> kept_at = coords_of(scope.arena, {column, {}}, kept);
    const Coords<Scalar> reduced_at = coords_of(scope.arena, {k, {}}, reduced);
    ScalarPlace place;
    place.coords.emplace();
    place.coords->axis.push_back(scope.row);
    int next_kept = 0, next_reduced = 0;
    for (int i = 1; i < in.rank(); ++i) {
        const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
        place.coords->axis.push_back(is_reduced ? reduced_at[next_reduced++]
                                                : kept_at[next_kept++]);
    }
    const std::string term = writer.emit(scope.expressions.read(stage.node->inputs[0], place));
    writer.line(name + "[round] += " + term + ";");
    for (int i = 0; i < (is_single ? 1 : 4); ++i) writer.close_scope();
    if (slices > 1)
        store_sliced_sum(v, name, columns, slices, lane_text);
    else
        store_row_sum(v, name, columns, rounds, is_single, lane_text);
    return writer.text(kStageMargin);
}

bool MatrixRowWriter::sums_rows_alone(const RowStage& stage) const {
    return graph_.value(stage.node->inputs[0]).shape.rank() == 2 &&
           stage.node->attrs.integers("axes").size() == 1;
}

bool MatrixRowWriter::sums_by_eight(const RowStage& stage, const RowTile& tile) const {
    const int eights = tile.width / 8;
    return tile.is_half() && tile.width % 8 == 0 && std::has_single_bit(uint32_t(eights)) &&
           eights <= plan_.threads && 8 * plan_.threads <= plan_.shared_floats &&
           sums_rows_alone(stage);
}

bool MatrixRowWriter::sums_only_tile(const RowStage& stage, const RowTile& tile) const {
    constexpr int kFewRows = 32;
    return tile.is_half() && plan_.is_single && plan_.tile_rows <= kFewRows &&
           sums_rows_alone(stage);
}

std::string MatrixRowWriter::write_tile_sum(const RowTile& tile, ValueId v, int& lane) {
    const int words = ceil_div(tile.width, 2);
    const std::string line = lane_line(lane, words);
    const std::string to =
        kernel_.buffers.name_of(v) + ".at[group * " + text(tile.width) + " + 2 * word";
    note_store(v);
    std::string out =
        "            " + line + "\n            for (int word = lane; word < " + text(words) +
        "; word += " + text(plan_.threads) +
        ") {\n                vec2 sum = vec2(0);\n                UNROLL for (int r = "
        "0; r < " +
        text(plan_.tile_rows) + "; ++r) sum += unpackHalf2x16(pool[r * " + text(tile.stride / 4) +
        " + " + text(tile.offset / 4) + " + word / 4][word % 4]);\n                " + to +
        "] = sum.x;\n                ";
    if (tile.width % 2 != 0) out += "if (2 * word + 1 < " + text(tile.width) + ") ";
    return out + to + " + 1] = sum.y;\n            }\n";
}

std::string MatrixRowWriter::write_sum_by_eight(const RowTile& tile, ValueId v, int& lane) {
    const std::string name = "total" + text(v), eights = text(tile.width / 8);
    int slices = 1;
    while (2 * slices <= plan_.tile_rows && 2 * slices * (tile.width / 8) <= plan_.threads)
        slices *= 2;
    declarations_ += "    float " + name + "[8];\n    UNROLL for (int t = 0; t < 8; ++t) " + name +
                     "[t] = 0.0;\n";
    const std::string lane_text = lane_line(lane, slices * (tile.width / 8)) +
                                  "\n            const int q = lane % " + eights +
                                  ", slice = lane / " + eights + ";\n";
    note_store(v);
    const std::string width = text(tile.width);
    sums_ += "    barrier();\n    {\n            " + lane_text + "        if (slice < " +
             text(slices) + ") {\n";
    for (int half = 0; half < 2; ++half)
        sums_ += "            pool[2 * lane + " + text(half) + "] = floatBitsToUint(" +
                 four_of(name, half) + ");\n";
    sums_ += "        }\n        barrier();\n        for (int c = tid; c < " + width +
             "; c += " + text(plan_.threads) +
             ") {\n            float sum = 0.0;\n            for (int s = 0; s < " + text(slices) +
             "; ++s) sum += SHARED(s * " + width + " + c);\n            " +
             kernel_.buffers.name_of(v) + ".at[group * " + width +
             " + c] = sum;\n        }\n    }\n    barrier();\n";
    return "            " + lane_text + "            if (slice < " + text(slices) +
           ") for (int r = slice; r < count; r += " + text(slices) +
           ") {\n                float near[8]; from_halfs(pool[r * " + text(tile.stride / 4) +
           " + q + " + text(tile.offset / 4) +
           "], near);\n                UNROLL for (int t = 0; t < 8; ++t) " + name +
           "[t] += near[t];\n            }\n";
}

void MatrixRowWriter::store_sliced_sum(ValueId v, const std::string& name, int columns, int slices,
                                       const std::string& lane_text) {
    note_store(v);
    const std::string scratch = text(plan_.scratch_offset) + " + lane";
    sums_ += "    barrier();\n    {\n    " + lane_text + "\n    PUT_SHARED(" + scratch + ", " +
             name + "[0]);\n    barrier();\n    if (lane < " + text(columns) +
             ") {\n        float sum = SHARED(" + scratch + ");\n        for (int s = 1; s < " +
             text(slices) + "; ++s) sum += SHARED(" + scratch + " + s * " + text(columns) +
             ");\n        " + kernel_.buffers.name_of(v) + ".at[group * " + text(columns) +
             " + lane] = sum;\n    }\n    }\n";
}

void MatrixRowWriter::store_row_sum(ValueId v, const std::string& name, int columns, int rounds,
                                    bool in_turns, const std::string& lane_text) {
    const std::string buffer = kernel_.buffers.name_of(v);
    note_store(v);
    if (!in_turns) {
        sums_ += "    {\n    " + lane_text + "\n    UNROLL for (int round = 0; round < " +
                 text(rounds) + "; ++round) {\n        const int column = lane + round * " +
                 text(plan_.threads) + ";\n        if (column < " + text(columns) + ") " + buffer +
                 ".at[group * " + text(columns) + " + column] = " + name +
                 "[round];\n    }\n    }\n";
        return;
    }
    const std::string scratch = text(plan_.scratch_offset);
    const int top = static_cast<int>(std::bit_floor(static_cast<uint32_t>(plan_.threads)));
    HEARTH_ASSERT(top == plan_.threads);
    sums_ += "    barrier();\n    PUT_SHARED(" + scratch + " + tid, " + name + "[0]);\n";
    sums_ +=
        "    for (int width = " + text(top / 2) +
        "; width > 0; width /= 2) {\n        barrier();\n        if (tid < width) PUT_SHARED(" +
        scratch + " + tid, SHARED(" + scratch + " + tid) + SHARED(" + scratch +
        " + tid + width));\n    }\n";
    sums_ += "    if (tid == 0) " + buffer + ".at[group] = SHARED(" + scratch + ");\n";
}

}  // namespace hearth
