// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of a row program that sum over rows: weight gradients, bias gradients, losses.

#include "codegen/row_writer.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <bit>

namespace hearth {

Deal RowProgramWriter::deal_gradient(const RowStage& stage) const {
    const int lines = plan_.tiles[static_cast<size_t>(stage.left)].width;
    const int width = plan_.tiles[static_cast<size_t>(stage.right)].width;
    int each = 4;
    while (each < 16 && ceil_div(lines, each) * ceil_div(width, 4) > plan_.threads) each *= 2;
    return Deal(lines, width, each, plan_.threads);
}

void RowProgramWriter::choose_kept() {
    int floats = 0;
    for (const RowStage& stage : plan_.stages)
        if (stage.kind == RowStageKind::kGradient && on_matrix_cores()) {
            const int of_one = matrix_m() * matrix_n() / (plan_.threads / plan_.subgroups);
            floats += ceil_div(matrix_gradient_tasks(stage), plan_.subgroups) * of_one;
        } else if (stage.kind == RowStageKind::kGradient) {
            const Deal deal = deal_gradient(stage);
            floats += deal.rounds * deal.lines * 4;
        }
    keeps_gradients_ = plan_.in_registers || (!plan_.is_single && floats <= kMaxKeptFloats);
}

std::string RowProgramWriter::write_gradient(const RowStage& stage, int& lane) {
    if (on_matrix_cores()) return write_matrix_gradient(stage, lane);
    const RowTile& a = plan_.tiles[static_cast<size_t>(stage.left)];
    const RowTile& b = plan_.tiles[static_cast<size_t>(stage.right)];
    const Deal deal = deal_gradient(stage);
    const std::string sums = keeps_gradients_ ? "kept" + text(stage.node->outputs[0]) : "acc";
    const std::string size = text(deal.rounds * deal.lines);
    const std::string clear = "    vec4 " + sums + "[" + size +
                              "];\n    UNROLL for (int i = 0; i < " + size + "; ++i) " + sums +
                              "[i] = vec4(0);\n";
    const std::string lane_text = "            " + lane_line(lane, deal.tasks) + "\n";
    std::string out = lane_text;
    if (keeps_gradients_)
        declarations_ += clear;
    else
        out += clear;
    const int lines4 = deal.lines / 4;
    out += open_tasks(deal);
    out += "                for (int r = 0; r < count; ++r) {\n";
    out += "                    const vec4 right = pool[r * " + text(b.stride / 4) + " + c + " +
           text(b.offset / 4) + "];\n";
    out += "                    UNROLL for (int q = 0; q < " + text(lines4) + "; ++q) {\n";
    out += "                        const vec4 left = pool[r * " + text(a.stride / 4) +
           " + min(r0 / 4 + q, " + text(ceil_div(a.width, 4) - 1) + ") + " + text(a.offset / 4) +
           "];\n";
    out += "                        UNROLL for (int t = 0; t < 4; ++t)\n";
    const std::string at = sums + "[round * " + text(deal.lines) + " + 4 * q + t]";
    out += "                            " + at + " = fma(vec4(left[t]), right, " + at + ");\n";
    out += "                    }\n                }\n" + close_tasks();
    std::string stores = store_gradient(stage, deal, sums);
    if (keeps_gradients_)
        sums_ += "    {\n" + lane_text + stores + "    }\n";
    else
        out += stores;
    return out;
}

std::string RowProgramWriter::store_gradient(const RowStage& stage, const Deal& deal,
                                             const std::string& sums) {
    const int lines = plan_.tiles[static_cast<size_t>(stage.left)].width;
    const int width = plan_.tiles[static_cast<size_t>(stage.right)].width;
    const std::string buffer = kernel_.buffers.name_of(stage.node->outputs[0]);
    note_store(stage.node->outputs[0]);
    std::string out = open_tasks(deal);
    out += "                UNROLL for (int i = 0; i < " + text(deal.lines) + "; ++i) {\n";
    out += "                    const int m = r0 + i;\n";
    out += "                    if (m < " + text(lines) + ") {\n";
    out += "                    vec4 sum = " + sums + "[round * " + text(deal.lines) + " + i];\n";
    const std::string line = "(group * " + text(lines) + " + m)";
    const bool adds = !plan_.is_single && !keeps_gradients_;
    if (width % 4 == 0) {
        const std::string to =
            by_four(stage.node->outputs[0]) + ".at[" + line + " * " + text(width / 4) + " + c]";
        if (adds) out += "                    if (first != begin) sum += " + to + ";\n";
        out += "                    " + to + " = sum;\n";
    } else {
        const std::string to = buffer + ".at[" + line + " * " + text(width) + " + 4 * c + t]";
        out +=
            "                    UNROLL for (int t = 0; t < 4; ++t)\n"
            "                        if (4 * c + t < " +
            text(width) + ") " + to + " = " +
            (adds ? "first != begin ? " + to + " + sum[t] : sum[t]" : "sum[t]") + ";\n";
    }
    out += "                    }\n                }\n" + close_tasks();
    // A workgroup without rows leaves zeros.
    if (adds)
        sums_ += "    if (begin >= end) for (int e = tid; e < " + text(lines * width) +
                 "; e += " + text(plan_.threads) + ") " + buffer + ".at[group * " +
                 text(lines * width) + " + e] = 0.0;\n";
    return out;
}

std::string RowProgramWriter::write_row_sum(const RowStage& stage, int& lane) {
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
    const bool is_alone = sums_alone(length);
    int slices = 1;
    while (!is_alone && columns > 1 && 2 * slices * columns <= plan_.threads &&
           2 * slices <= plan_.tile_rows)
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
    const bool is_single = columns == 1 && !is_alone;
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
        writer.open_scope(is_alone
                              ? "UNROLL for (int r = 0; r < " + text(plan_.tile_rows) + "; ++r)"
                              : "for (int r = slice; r < count; r += " + text(slices) + ")");
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
    writer.line(name + "[round] += " + (is_alone ? "r < count ? " + term + " : 0.0" : term) + ";");
    for (int i = 0; i < (is_single ? 1 : 4); ++i) writer.close_scope();
    if (slices > 1)
        store_sliced_sum(v, name, columns, slices, lane_text);
    else
        store_row_sum(v, name, columns, rounds, is_single, lane_text);
    return writer.text(kStageMargin);
}

bool RowProgramWriter::sums_alone(int length) const {
    constexpr int kFewTerms = 64;
    return holds_weights() && plan_.is_single && plan_.tile_rows * length <= kFewTerms;
}

bool RowProgramWriter::sums_rows_alone(const RowStage& stage) const {
    return graph_.value(stage.node->inputs[0]).shape.rank() == 2 &&
           stage.node->attrs.integers("axes").size() == 1;
}

bool RowProgramWriter::sums_by_eight(const RowStage& stage, const RowTile& tile) const {
    const int eights = tile.width / 8;
    return tile.is_half() && tile.width % 8 == 0 && std::has_single_bit(uint32_t(eights)) &&
           eights <= plan_.threads && 8 * plan_.threads <= plan_.shared_floats &&
           sums_rows_alone(stage);
}

bool RowProgramWriter::sums_only_tile(const RowStage& stage, const RowTile& tile) const {
    constexpr int kFewRows = 32;
    return tile.is_half() && plan_.is_single && plan_.tile_rows <= kFewRows &&
           sums_rows_alone(stage);
}

std::string RowProgramWriter::write_tile_sum(const RowTile& tile, ValueId v, int& lane) {
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

std::string RowProgramWriter::write_sum_by_eight(const RowTile& tile, ValueId v, int& lane) {
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

void RowProgramWriter::store_sliced_sum(ValueId v, const std::string& name, int columns, int slices,
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

void RowProgramWriter::store_row_sum(ValueId v, const std::string& name, int columns, int rounds,
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
