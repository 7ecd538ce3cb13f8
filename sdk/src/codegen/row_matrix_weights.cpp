// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The way of weights into shared memory, for a row program on matrix cores.

#include "codegen/row_matrix_writer.hpp"

#include <algorithm>

namespace hearth {

MatrixRowWriter::WeightCopy MatrixRowWriter::weight_copy(size_t index, const std::string& from) {
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

ValueId MatrixRowWriter::rounded_from(ValueId v) const {
    const Value& value = graph_.value(v);
    if (value.kind != ValueKind::kNode || !inlined_[value.node]) return kNone;
    const Node& node = graph_.nodes[value.node];
    return node.op->name == "cast" && is_plain(node.inputs[0]) ? node.inputs[0] : kNone;
}

std::string MatrixRowWriter::load_weight(size_t index, const std::string& from) {
    const WeightCopy copy = weight_copy(index, from);
    return "        for (int e = tid; e < " + text(copy.quads) + "; e += " + text(plan_.threads) +
           ") {\n            " + copy.at + "\n            " + copy.to + " = " + copy.value +
           ";\n        }\n";
}

std::string MatrixRowWriter::fetch_weight(size_t index) {
    const WeightCopy copy = weight_copy(index, "0");
    const std::string each = text(ceil_div(copy.quads, plan_.threads));
    return std::string("        uvec4 held") + text(static_cast<int64_t>(index)) + "[" + each +
           "];\n        UNROLL for (int k = 0; k < " + each +
           "; ++k) {\n            const int e = tid + k * " + text(plan_.threads) +
           ";\n            if (e < " + text(copy.quads) + ") { " + copy.at + " held" +
           text(static_cast<int64_t>(index)) + "[k] = " + copy.value + "; }\n        }\n";
}

std::string MatrixRowWriter::put_weight(size_t index) {
    const WeightCopy copy = weight_copy(index, "0");
    return "        UNROLL for (int k = 0; k < " + text(ceil_div(copy.quads, plan_.threads)) +
           "; ++k) {\n            const int e = tid + k * " + text(plan_.threads) +
           ";\n            if (e < " + text(copy.quads) + ") { " + copy.at + " " + copy.to +
           " = held" + text(static_cast<int64_t>(index)) + "[k]; }\n        }\n";
}

bool MatrixRowWriter::can_hold(size_t index) const {
    constexpr int kMostHeld = 16;
    const RowWeight& w = plan_.weights[index];
    const int quads = w.padded_lines() * w.line_width() / 8;
    return !is_software_ && ceil_div(quads, plan_.threads) <= kMostHeld;
}

std::string MatrixRowWriter::weight_function(size_t index, int i_end, int j_end) {
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

std::string MatrixRowWriter::open_chunks(size_t weight) {
    const RowWeight& w = plan_.weights[weight];
    std::string out =
        "            for (int k0 = 0; k0 < " + text(w.inner) + "; k0 += " + text(w.chunk) + ") {\n";
    if (!w.is_whole()) out += "            barrier();\n";
    return out + load_weight(weight, "k0") + "            barrier();\n";
}

}  // namespace hearth
