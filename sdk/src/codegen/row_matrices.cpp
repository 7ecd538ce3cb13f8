// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Products and weight gradients of a row program on matrix cores.

#include "codegen/row_matrix_writer.hpp"

#include <algorithm>

namespace hearth {

std::string MatrixRowWriter::first_subgroup(int& lane, int tasks) const {
    const int size = plan_.threads / plan_.subgroups, begin = lane / size;
    lane = (lane + tasks * size) % plan_.threads;
    const std::string count = text(plan_.subgroups);
    return "            const int own = " +
           (begin == 0 ? "subgroup"
                       : "(subgroup + " + text(plan_.subgroups - begin) + ") % " + count) +
           ";\n";
}

std::string MatrixRowWriter::open_matrix_tasks(int tasks, int columns, const char* names,
                                               bool with_barriers) const {
    std::string out;
    out += "            UNROLL for (int round = 0; round < " +
           text(ceil_div(tasks, plan_.subgroups)) +
           "; ++round) {\n                const int task = own + round * " + text(plan_.subgroups) +
           ";\n                ";
    if (!with_barriers) out += mine(tasks);
    return out + "{\n                const int " + names[0] + "0 = task % " + text(columns) + ", " +
           names[1] + "0 = task / " + text(columns) + ";\n";
}

std::string MatrixRowWriter::mine(int tasks) const {
    return tasks % plan_.subgroups != 0 ? "if (task < " + text(tasks) + ") " : "";
}

std::string MatrixRowWriter::write_matrix_product(const RowStage& stage, int& lane) {
    const auto index = static_cast<size_t>(stage.weight);
    const RowWeight& w = plan_.weights[index];
    const RowTile& x = plan_.tiles[static_cast<size_t>(stage.left)];
    const int columns = w.padded_outer() / matrix_n();
    const int down = plan_.tile_rows / matrix_m();
    const int lines = down % 2 == 0 && down * columns >= 2 * plan_.subgroups ? 2 : 1;
    const int tasks = down / lines * columns;
    const std::string sums = text(ceil_div(tasks, plan_.subgroups) * lines);
    std::string out = first_subgroup(lane, tasks);
    out += "            hearth_matrix_sum acc[" + sums + "];\n";
    out += "            UNROLL for (int i = 0; i < " + sums +
           "; ++i) acc[i] = hearth_matrix_sum(0.0);\n";
    const bool in_chunks = plan_.mode == RowWeights::kChunked;
    if (in_chunks) out += open_chunks(index);
    out += open_matrix_tasks(tasks, columns, "cr");
    const int steps = std::min(w.chunk, x.padded()) / matrix_k();
    const std::string end = w.is_whole() ? text(steps)
                                         : "min(" + text(steps) + ", (" + text(x.padded()) +
                                               " - k0) / " + text(matrix_k()) + ")";
    const std::string stride = text(w.stride / 4), k8 = text(matrix_k() / 8),
                      n8 = text(matrix_n() / 8), x_stride = text(x.stride / 4);
    const std::string at = w.is_dot ? "c0 * " + text(matrix_n() * (w.stride / 4)) + " + k * " + k8
                                    : "k * " + text(matrix_k() * (w.stride / 4)) + " + c0 * " + n8;
    out += "                UNROLL for (int k = 0; k < " + end + "; ++k) {\n";
    out += "                    hearth_matrix_b b;\n";
    out += "                    hearth_matrix_load(b, pool, " + at + " + " + text(w.offset / 4) +
           ", " + stride + ", " + (w.is_dot ? "true" : "false") + ");\n";
    out += "                    UNROLL for (int i = 0; i < " + text(lines) + "; ++i) {\n";
    out += "                        hearth_matrix_a a;\n";
    out += "                        hearth_matrix_load(a, pool, (r0 * " + text(lines) + " + i) * " +
           text(matrix_m() * (x.stride / 4)) + " + k * " + k8 + " + " + text(x.offset / 4) +
           (in_chunks ? " + k0 / 8" : "") + ", " + x_stride + ", false);\n";
    const std::string acc = "acc[round * " + text(lines) + " + i]";
    out += "                        " + acc + " = hearth_multiply_add(a, b, " + acc + ");\n";
    out += "                    }\n                }\n" + close_tasks();
    if (in_chunks) out += "            }\n";
    if (const auto stored = whole_epilogue(stage, acc, lines))
        return out + open_matrix_tasks(tasks, columns, "cr") + *stored + close_tasks();
    out += open_matrix_tasks(tasks, columns, "cr", true);
    out += "                UNROLL for (int i = 0; i < " + text(lines) + "; ++i) {\n";
    out += spread(acc, tasks) + "                " + mine(tasks) + "{\n";
    out += matrix_epilogue(stage, w, lines) + "                }\n";
    return out + "                subgroupBarrier();\n                }\n" + close_tasks();
}

std::string MatrixRowWriter::spread(const std::string& sums, int tasks) const {
    return "                " + mine(tasks) + "hearth_matrix_store(" + sums +
           ", pool, subgroup * " + text(matrix_m() * (plan_.matrix_stride / 4)) + " + " +
           text(plan_.matrix_offset / 4) + ", " + text(plan_.matrix_stride / 4) +
           ", false);\n                subgroupBarrier();\n";
}

std::string MatrixRowWriter::spread_line(const std::string& i) const {
    return "(subgroup * " + text(matrix_m()) + " + " + i + ") * " + text(plan_.matrix_stride) +
           " + " + text(plan_.matrix_offset);
}

/// What follows a product, in matrices; null if that needs to know which element is which.
std::optional<std::string> MatrixRowWriter::whole_epilogue(const RowStage& stage,
                                                           const std::string& sum, int lines) {
    if (!is_whole_tile_) return std::nullopt;
    const auto worked_out = matrix_text(stage, stage.group->stores, sum);
    const auto stores = worked_out ? store_matrices(stage.group->stores) : std::nullopt;
    if (!stores) return std::nullopt;
    return "                UNROLL for (int i = 0; i < " + text(lines) +
           "; ++i) {\n                const int m = r0 * " + text(lines) +
           " + i, c = c0, base = 0;\n" + *worked_out + *stores + "                }\n";
}

std::string MatrixRowWriter::matrix_epilogue(const RowStage& stage, const RowWeight& w, int lines) {
    Scope scope(*this, stage);
    GlslWriter& writer = scope.writer;
    const Scalar sum = scope.arena.variable(ScalarType::kF32);
    scope.expressions.define(stage.node->outputs[0], sum);
    const int size = plan_.threads / plan_.subgroups, eights = matrix_n() / 8;
    writer.open_scope("for (int e = subgroup_lane; e < " + text(matrix_m() * eights) +
                      "; e += " + text(size) + ")");
    writer.line("const int r = (r0 * " + text(lines) + " + i) * " + text(matrix_m()) + " + e / " +
                text(eights) + ";");
    writer.line("const int n0 = c0 * " + text(matrix_n()) + " + e % " + text(eights) + " * 8;");
    writer.line("const int at = " + spread_line("e / " + text(eights)) + " + e % " + text(eights) +
                " * 8;");
    scope.open_row();
    scope.eight_reads =
        "float sums[8]; from_vectors(uintBitsToFloat(pool[at / 4]), uintBitsToFloat(pool[at / "
        "4 "
        "+ 1]), sums);\n";
    store_eight(scope, stage.group->stores, w.outer, sum, "sums[t]");
    writer.close_scope();
    return eight_text(scope);
}

int MatrixRowWriter::matrix_gradient_columns(const RowStage& stage) const {
    return plan_.tiles[static_cast<size_t>(stage.right)].padded() / matrix_n();
}

int MatrixRowWriter::matrix_gradient_tasks(const RowStage& stage) const {
    return plan_.tiles[static_cast<size_t>(stage.left)].padded() / matrix_m() *
           matrix_gradient_columns(stage);
}

std::string MatrixRowWriter::sum_gradient(const RowTile& a, const RowTile& b,
                                          const std::string& sums, int tasks, int columns) const {
    const std::string steps = text(plan_.tile_rows / matrix_k());
    const std::string rows = "                UNROLL for (int r = 0; r < " + steps + "; ++r) {\n";
    const std::string load_b =
        "                    hearth_matrix_b b;\n                    hearth_matrix_load(b, pool, r "
        "* " +
        text(matrix_k() * (b.stride / 4)) + " + n0 * " + text(matrix_n() / 8) + " + " +
        text(b.offset / 4) + ", " + text(b.stride / 4) + ", false);\n";
    const std::string multiply =
        "                    hearth_matrix_a a;\n                    hearth_matrix_load(a, pool, r "
        "* " +
        text(matrix_k() * (a.stride / 4)) + " + m0 * " + text(matrix_m() / 8) + " + " +
        text(a.offset / 4) + ", " + text(a.stride / 4) + ", true);\n                    " + sums +
        "[round] = hearth_multiply_add(a, b, " + sums + "[round]);\n";
    // All matrices of a subgroup may share their right factor.
    if (plan_.subgroups % columns == 0)
        return "            const int n0 = own % " + text(columns) + ";\n" + rows + load_b +
               open_matrix_tasks(tasks, columns, "nm") + multiply + close_tasks() +
               "                }\n";
    return open_matrix_tasks(tasks, columns, "nm") + rows + load_b + multiply +
           "                }\n" + close_tasks();
}

std::string MatrixRowWriter::write_matrix_gradient(const RowStage& stage, int& lane) {
    const RowTile& a = plan_.tiles[static_cast<size_t>(stage.left)];
    const RowTile& b = plan_.tiles[static_cast<size_t>(stage.right)];
    const int columns = matrix_gradient_columns(stage), tasks = matrix_gradient_tasks(stage);
    const std::string own = first_subgroup(lane, tasks);
    const std::string sums = keeps_gradients_ ? "kept" + text(stage.node->outputs[0]) : "acc";
    const std::string size = text(ceil_div(tasks, plan_.subgroups));
    const std::string clear = "    hearth_matrix_sum " + sums + "[" + size +
                              "];\n    UNROLL for (int i = 0; i < " + size + "; ++i) " + sums +
                              "[i] = hearth_matrix_sum(0.0);\n";
    std::string out = own;
    if (keeps_gradients_)
        declarations_ += clear;
    else
        out += clear;
    out += sum_gradient(a, b, sums, tasks, columns);
    const std::string stores = open_matrix_tasks(tasks, columns, "nm", true) +
                               store_matrix_gradient(stage, sums) + close_tasks();
    if (keeps_gradients_)
        sums_ += "    {\n" + own + stores + "    }\n";
    else
        out += stores;
    return out;
}

std::string MatrixRowWriter::store_matrix_gradient(const RowStage& stage, const std::string& sums) {
    const int lines = plan_.tiles[static_cast<size_t>(stage.left)].width;
    const int width = plan_.tiles[static_cast<size_t>(stage.right)].width;
    const ValueId v = stage.node->outputs[0];
    const std::string buffer = kernel_.buffers.name_of(v);
    note_store(v);
    const bool adds = !plan_.is_single && !keeps_gradients_;
    // A workgroup without rows leaves zeros.
    if (adds)
        sums_ += "    if (begin >= end) for (int e = tid; e < " + text(lines * width) +
                 "; e += " + text(plan_.threads) + ") " + buffer + ".at[group * " +
                 text(lines * width) + " + e] = 0.0;\n";
    const int tasks = matrix_gradient_tasks(stage);
    if (!adds && lines % matrix_m() == 0 && width % matrix_n() == 0)
        return "                " + mine(tasks) + "hearth_matrix_store(" + sums + "[round], " +
               buffer + ".at, (group * " + text(lines) + " + m0 * " + text(matrix_m()) + ") * " +
               text(width) + " + n0 * " + text(matrix_n()) + ", " + text(width) + ", false);\n";
    const std::string n = text(matrix_n());
    std::string out = spread(sums + "[round]", tasks);
    out += "                " + mine(tasks) + "for (int e = subgroup_lane; e < " +
           text(matrix_m() * matrix_n()) + "; e += " + text(plan_.threads / plan_.subgroups) +
           ") {\n";
    out += "                    const int i = m0 * " + text(matrix_m()) + " + e / " + n +
           ", j = n0 * " + n + " + e % " + n + ";\n";
    out += "                    const int to = (group * " + text(lines) + " + i) * " + text(width) +
           " + j;\n";
    const std::string sum = "SHARED(" + spread_line("e / " + n) + " + e % " + n + ")";
    out += "                    if (i < " + text(lines) + " && j < " + text(width) + ") " + buffer +
           ".at[to] = " +
           (adds ? "first != begin ? " + buffer + ".at[to] + " + sum + " : " + sum : sum) +
           ";\n                }\n                subgroupBarrier();\n";
    return out;
}
}  // namespace hearth
