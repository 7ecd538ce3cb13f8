// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of a row program that go through the rows of windows, one after the other: a GRU and its
// backpropagation through time (ops/gru_walk.hpp).  A tile holds whole windows.

#include "codegen/row_writer.hpp"

namespace hearth {

std::string RowProgramWriter::read_in_walk(const RowStage& stage, ValueId v,
                                           std::span<const std::string> place,
                                           const std::string& to, const std::string& prefix) {
    Scope scope(*this, stage);
    scope.writer.bind(scope.local, prefix + "r");
    scope.writer.bind(scope.row, prefix + "row");
    ScalarPlace at;
    at.coords.emplace();
    for (const std::string& coordinate : place) {
        const bool is_row = coordinate == prefix + "row";
        const Scalar axis = is_row ? scope.row : scope.arena.variable(ScalarType::kI32);
        if (!is_row) scope.writer.bind(axis, coordinate);
        at.coords->axis.push_back(axis);
    }
    std::string value = scope.writer.emit(scope.expressions.read(v, at));
    if (graph_.value(v).dtype == DType::kBool) value = "bool(" + value + ")";
    return "{ " + scope.writer.text_in_line() + to + " = " + value + "; }";
}

std::string RowProgramWriter::store_in_walk(const RowStage& stage, ValueId v,
                                            const std::string& content, const std::string& inner) {
    Scope scope(*this, stage);
    store(scope, v, content, inner);
    return scope.writer.text_in_line();
}

std::string RowProgramWriter::write_walk(const RowStage& stage) {
    const RowWalk& plan = plan_.walks[static_cast<size_t>(stage.walk)];
    const Node& node = *stage.node;
    const auto read = [&](size_t input, std::initializer_list<std::string> place,
                          const std::string& to, const std::string& prefix = "") {
        const std::vector<std::string> coordinates(place);
        return read_in_walk(stage, node.inputs[input], coordinates, to, prefix);
    };
    const std::string each_gate = "for (int gate = 0; gate < 3; ++gate) ";
    const std::string of_gate = "(gate * HIDDEN + j)", in_memory = "(row * 4 + gate) * HIDDEN + j";
    const auto read_resets = [&](size_t input) {
        return node.inputs.size() <= input ? std::string()
                                           : read(input, {"reset_row"}, "is_reset", "reset_");
    };

    GruAccess access;
    if (plan.is_backward) {
        access.read_weight = read(kGruBackWeight, {"line", "column"}, "weight");
        access.read_reset = read_resets(kGruBackResets);
        access.read_cotangent = read(kGruCotangent, {"row", "j"}, "g");
        access.read_before = read(kGruBackBefore, {"row", "j"}, "before");
        access.read_gates =
            "for (int gate = 0; gate < 4; ++gate) gates[gate] = " +
            kernel_.buffers.load(node.inputs[kGruBackGates], in_memory, ScalarType::kF32) + ";";
        access.store =
            each_gate + "{ " + store_in_walk(stage, node.outputs[kGruToX], "to_x[gate]", of_gate) +
            store_in_walk(stage, node.outputs[kGruToHidden], "to_hidden[gate]", of_gate) + " }";
        if (const ValueId start = node.outputs[kGruToStart]; is_made_[start]) {
            note_store(start);
            access.store_start =
                "if (r < count) " + kernel_.buffers.store(start, "window * HIDDEN + j", "back");
        }
    } else {
        access.read_weight = read(kGruWeight, {"line", "column"}, "weight");
        access.read_reset = read_resets(kGruResets);
        access.read_start = read(kGruStart, {"window", "j"}, "state");
        access.read_from_x = each_gate + read(kGruFromX, {"row", of_gate}, "x[gate]");
        access.read_bias = each_gate + read(kGruBias, {of_gate}, "y[gate]");
        access.store = store_in_walk(stage, node.outputs[kGruH], "h", "j") +
                       store_in_walk(stage, node.outputs[kGruBefore], "before", "j");
        if (const ValueId gates = node.outputs[kGruGates]; is_made_[gates]) {
            note_store(gates);
            access.store += "if (r < count) for (int gate = 0; gate < 4; ++gate) { " +
                            kernel_.buffers.store(gates, in_memory, "gates[gate]") + " }";
        }
    }
    return zeros_behind(node) + gru_walk_text(plan.walk, access, plan.offset);
}

/// What is read four at a time has zeros behind it.
std::string RowProgramWriter::zeros_behind(const Node& node) const {
    std::string out;
    for (ValueId v : node.outputs) {
        const RowTile* tile = plan_.tile_for(v);
        const int pad = tile == nullptr ? 0 : tile->padded() - tile->width;
        if (pad == 0) continue;
        out += "            for (int e = tid; e < " + text(int64_t{plan_.tile_rows} * pad) +
               "; e += " + text(plan_.threads) + ") PUT_SHARED(e / " + text(pad) + " * " +
               text(tile->stride) + " + e % " + text(pad) + " + " +
               text(int64_t{tile->width} + tile->offset) + ", 0.0);\n";
    }
    return out;
}

}  // namespace hearth
