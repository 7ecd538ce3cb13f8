// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of a row program that multiply rows by weights, and the weights' way into shared memory.

#include "codegen/row_writer.hpp"

#include <algorithm>

namespace hearth {

RowProgramWriter::WeightCopy RowProgramWriter::weight_copy(size_t index, const std::string& from) {
    const RowWeight& w = plan_.weights[index];
    if (on_matrix_cores()) return half_weight_copy(index, from);
    const int quads = w.line_width() / 4;
    const int inner4 = ceil_div(w.inner, 4) * 4;
    const int i_end = w.is_dot ? w.outer : w.inner, j_end = w.is_dot ? w.inner : w.outer;
    WeightCopy copy;
    // Of a chunk that ends beyond the inner extent only what products read is filled.
    copy.quads = (w.is_dot ? w.outer : w.chunk) * quads;
    copy.at = "const int line = e / " + text(quads) + ", quad = e % " + text(quads) + "; ";
    copy.at += w.is_dot ? "const int i = line, j = " + from + " + 4 * quad;"
                        : "const int i = " + from + " + line, j = 4 * quad;";
    copy.to = "pool[line * " + text(w.stride / 4) + " + quad + " + text(w.offset / 4) + "]";
    const bool may_exceed =
        w.is_dot ? !w.is_whole() && inner4 % w.chunk != 0 : w.inner % w.chunk != 0;
    if (is_plain(w.value) && j_end % 4 == 0) {
        copy.value = by_four(w.value) + ".at[(i * " + text(j_end) + " + j) >> 2]";
        if (may_exceed)
            copy.value = "(" + (w.is_dot ? "j < " + text(j_end) : "i < " + text(i_end)) + " ? " +
                         copy.value + " : vec4(0))";
    } else {
        copy.value = weight_function(index, i_end, j_end) + "(i, j)";
    }
    return copy;
}

RowProgramWriter::WeightCopy RowProgramWriter::half_weight_copy(size_t index,
                                                                const std::string& from) {
    const RowWeight& w = plan_.weights[index];
    const int eights = w.line_width() / 8;
    const int i_end = w.is_dot ? w.outer : w.inner, j_end = w.is_dot ? w.inner : w.outer;
    WeightCopy copy;
    copy.quads = w.padded_lines() * eights;
    copy.at = "const int line = e / " + text(eights) + ", quad = e % " + text(eights) + "; ";
    copy.at += w.is_dot ? "const int i = line, j = " + from + " + 8 * quad;"
                        : "const int i = " + from + " + line, j = 8 * quad;";
    copy.to = "pool[line * " + text(w.stride / 4) + " + quad + " + text(w.offset / 4) + "]";
    const ValueId wide = rounded_from(w.value);
    const std::string element = "(i * " + text(j_end) + " + j)";
    if (j_end % 8 == 0 && is_plain_half(w.value)) {
        copy.value = "floatBitsToUint(" + by_four(w.value) + ".at[" + element + " >> 3])";
    } else if (j_end % 8 == 0 && wide != kNone) {
        const std::string four = by_four(wide) + ".at[(" + element + " >> 2)";
        copy.value = "to_halfs(" + four + "], " + four + " + 1])";
    } else {
        const std::string function = weight_function(index, i_end, j_end);
        copy.value = "to_halfs(" + function + "(i, j), " + function + "(i, j + 4))";
        return copy;
    }
    std::string inside;
    if (w.padded_lines() != i_end || !w.is_whole()) inside = "i < " + text(i_end);
    if (w.line_width() != j_end || !w.is_whole())
        inside += (inside.empty() ? "j < " : " && j < ") + text(j_end);
    if (!inside.empty()) copy.value = "(" + inside + " ? " + copy.value + " : uvec4(0))";
    return copy;
}

ValueId RowProgramWriter::rounded_from(ValueId v) const {
    const Value& value = graph_.value(v);
    if (value.kind != ValueKind::kNode || !inlined_[value.node]) return kNone;
    const Node& node = graph_.nodes[value.node];
    return node.op->name == "cast" && is_plain(node.inputs[0]) ? node.inputs[0] : kNone;
}

std::string RowProgramWriter::load_weight(size_t index, const std::string& from) {
    const WeightCopy copy = weight_copy(index, from);
    return "        for (int e = tid; e < " + text(copy.quads) + "; e += " + text(plan_.threads) +
           ") {\n            " + copy.at + "\n            " + copy.to + " = " + copy.value +
           ";\n        }\n";
}

std::string RowProgramWriter::fetch_weight(size_t index) {
    const WeightCopy copy = weight_copy(index, "0");
    const std::string each = text(ceil_div(copy.quads, plan_.threads));
    return std::string(on_matrix_cores() ? "        uvec4" : "        vec4") + " held" +
           text(static_cast<int64_t>(index)) + "[" + each +
           "];\n        UNROLL for (int k = 0; k < " + each +
           "; ++k) {\n            const int e = tid + k * " + text(plan_.threads) +
           ";\n            if (e < " + text(copy.quads) + ") { " + copy.at + " held" +
           text(static_cast<int64_t>(index)) + "[k] = " + copy.value + "; }\n        }\n";
}

std::string RowProgramWriter::put_weight(size_t index) {
    const WeightCopy copy = weight_copy(index, "0");
    return "        UNROLL for (int k = 0; k < " + text(ceil_div(copy.quads, plan_.threads)) +
           "; ++k) {\n            const int e = tid + k * " + text(plan_.threads) +
           ";\n            if (e < " + text(copy.quads) + ") { " + copy.at + " " + copy.to +
           " = held" + text(static_cast<int64_t>(index)) + "[k]; }\n        }\n";
}

bool RowProgramWriter::can_hold(size_t index) const {
    constexpr int kMostHeld = 16;
    const RowWeight& w = plan_.weights[index];
    const int quads = w.padded_lines() * w.line_width() / (on_matrix_cores() ? 8 : 4);
    return !is_software_ && ceil_div(quads, plan_.threads) <= kMostHeld;
}

std::string RowProgramWriter::weight_function(size_t index, int i_end, int j_end) {
    const std::string name = "weights" + text(static_cast<int64_t>(index));
    if (!weight_functions_.insert(index).second) return name;
    Scope scope(*this, {});
    const Scalar i = scope.arena.variable(ScalarType::kI32);
    const Scalar j = scope.arena.variable(ScalarType::kI32);
    scope.writer.bind(i, "i");
    scope.writer.bind(j, "j");
    ScalarPlace place;
    place.coords.emplace();
    place.coords->axis.push_back(i);
    place.coords->axis.push_back(j);
    const std::string value =
        scope.writer.emit(scope.expressions.read(plan_.weights[index].value, place));
    functions_ += "float element_of_" + name + "(int i, int j) {\n" + scope.writer.text() +
                  "    return " + value + ";\n}\n";
    functions_ += "vec4 " + name +
                  "(int i, int j) {\n    vec4 v = vec4(0);\n    UNROLL for (int "
                  "t = 0; t < 4; ++t)\n        if (i < " +
                  text(i_end) + " && j + t < " + text(j_end) + ") v[t] = element_of_" + name +
                  "(i, j + t);\n    return v;\n}\n";
    return name;
}

Deal RowProgramWriter::deal_product(int width) const {
    int lines = 1;
    const int columns = ceil_div(width, 4);
    while (2 * lines <= kMaxRowsEach && plan_.tile_rows % (2 * lines) == 0 &&
           plan_.tile_rows / (2 * lines) * columns >= plan_.threads)
        lines *= 2;
    return Deal(plan_.tile_rows, width, lines, plan_.threads);
}

std::string RowProgramWriter::open_chunks(size_t weight) {
    const RowWeight& w = plan_.weights[weight];
    std::string out =
        "            for (int k0 = 0; k0 < " + text(w.inner) + "; k0 += " + text(w.chunk) + ") {\n";
    if (!w.is_whole()) out += "            barrier();\n";
    return out + load_weight(weight, "k0") + "            barrier();\n";
}

std::string RowProgramWriter::write_product(const RowStage& stage, int& lane) {
    if (on_matrix_cores()) return write_matrix_product(stage, lane);
    const auto index = static_cast<size_t>(stage.weight);
    const RowWeight& w = plan_.weights[index];
    const RowTile& x = plan_.tiles[static_cast<size_t>(stage.left)];
    const Deal deal = deal_product(w.outer);
    std::string out = "            " + lane_line(lane, deal.tasks) + "\n";
    out += "            vec4 acc[" + text(deal.rounds * deal.lines) + "];\n";
    out += "            UNROLL for (int i = 0; i < " + text(deal.rounds * deal.lines) +
           "; ++i) acc[i] = vec4(0);\n";
    const bool in_chunks = plan_.mode == RowWeights::kChunked;
    if (in_chunks) out += open_chunks(index);
    out += open_tasks(deal);
    const int quads = std::min(w.chunk, ceil_div(w.inner, 4) * 4) / 4;
    // The last chunk may be shorter than the others.
    const std::string end = w.is_whole() ? text(quads)
                                         : "min(" + text(w.chunk / 4) + ", (" +
                                               text(ceil_div(w.inner, 4) * 4) + " - k0) / 4)";
    out += "                for (int q = 0; q < " + end + "; ++q) {\n";
    out += "                    vec4 x[" + text(deal.lines) + "];\n";
    out += "                    UNROLL for (int i = 0; i < " + text(deal.lines) +
           "; ++i) x[i] = pool[(r0 + i) * " + text(x.stride / 4) + " + q + " + text(x.offset / 4) +
           (in_chunks ? " + k0 / 4" : "") + "];\n";
    out += "                    UNROLL for (int t = 0; t < 4; ++t) {\n";
    out += "                        const vec4 w = pool[" +
           (w.is_dot ? "(c + t * " + text(deal.columns) + ") * " + text(w.stride / 4) + " + q"
                     : "(4 * q + t) * " + text(w.stride / 4) + " + c") +
           " + " + text(w.offset / 4) + "];\n";
    out += "                        UNROLL for (int i = 0; i < " + text(deal.lines) +
           "; ++i)\n                            ";
    const std::string acc = "acc[round * " + text(deal.lines) + " + i]";
    out += w.is_dot ? acc + "[t] += dot(x[i], w);\n"
                    : acc + " = fma(vec4(x[i][t]), w, " + acc + ");\n";
    out += "                    }\n                }\n";
    out += close_tasks();
    if (in_chunks) out += "            }\n";
    return out + write_epilogue(stage, w, deal);
}

std::string RowProgramWriter::open_tasks(const Deal& deal) const {
    std::string out;
    out += "            UNROLL for (int round = 0; round < " + text(deal.rounds) +
           "; ++round) {\n                const int task = lane + round * " + text(plan_.threads) +
           ";\n";
    out += "                if (task < " + text(deal.tasks) + ") {\n";
    out += "                const int c = task % " + text(deal.columns) + ", r0 = task / " +
           text(deal.columns) + " * " + text(deal.lines) + ";\n";
    return out;
}

std::string RowProgramWriter::write_epilogue(const RowStage& stage, const RowWeight& w,
                                             const Deal& deal) {
    Scope scope(*this, stage);
    GlslWriter& writer = scope.writer;
    const Scalar sum = scope.arena.variable(ScalarType::kF32);
    const Scalar inner = scope.arena.variable(ScalarType::kI32);
    scope.expressions.define(stage.node->outputs[0], sum);
    const bool is_padded = w.outer % 4 != 0;
    writer.open_scope("UNROLL for (int t = 0; t < 4; ++t)");
    writer.line(std::string("const int n = ") +
                (w.is_dot ? "c + t * " + text(deal.columns) : "4 * c + t") + ";");
    if (is_padded) writer.line("const int nn = min(n, " + text(w.outer - 1) + ");");
    writer.bind(inner, is_padded ? "nn" : "n");
    writer.open_scope("UNROLL for (int i = 0; i < " + text(deal.lines) + "; ++i)");
    writer.line("const int r = r0 + i;");
    scope.open_row();
    writer.line("const float sum = acc[round * " + text(deal.lines) + " + i][t];");
    writer.bind(sum, "sum");
    store_row(scope, stage.group->stores, inner, "n", is_padded ? "n < " + text(w.outer) : "");
    writer.close_scope();
    writer.close_scope();
    return open_tasks(deal) + writer.text(kStageMargin) + close_tasks();
}
}  // namespace hearth
