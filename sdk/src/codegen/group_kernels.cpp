// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/group_kernels.hpp"

#include "codegen/group_expressions.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

Extent work_of(Dim count) {
    const auto n = static_cast<uint64_t>(count.count);
    return count.per_row ? Extent{0, n} : Extent{n, 0};
}

std::string glsl_count(Dim count, BufferTable& buffers) {
    if (!count.per_row) return std::to_string(count.count);
    buffers.uses_rows = true;
    return count.count == 1 ? "rows" : "(" + std::to_string(count.count) + " * rows)";
}

uint32_t items_each(Dim count, uint64_t rows_capacity, uint64_t limit) {
    const uint64_t most = work_of(count).at(rows_capacity);
    return static_cast<uint32_t>(std::max<uint64_t>(1, (most + limit - 1) / limit));
}

std::vector<bool> elementwise_buffers(const ScalarArena& arena, const BufferTable& buffers,
                                      Scalar element) {
    std::vector<bool> is_elementwise(buffers.values.size(), true);
    for (uint32_t id = 0; id < arena.size(); ++id) {
        const ScalarNode& n = arena.node(id);
        if (n.op != ScalarOp::kLoad || n.a == element.id) continue;
        for (size_t b = 0; b < buffers.values.size(); ++b)
            if (buffers.values[b] == n.bits) is_elementwise[b] = false;
    }
    return is_elementwise;
}

void store_all(GlslWriter& writer, BufferTable& buffers, GroupExpressions& expressions,
               std::span<const ValueId> values, const ScalarPlace& place, Scalar element) {
    std::vector<std::string> contents;
    for (ValueId v : values) contents.push_back(writer.emit(expressions.read(v, place)));
    const std::string where = writer.emit(element);
    for (size_t i = 0; i < values.size(); ++i)
        writer.line(buffers.store(values[i], where, contents[i]));
}

namespace {

/// A rough count of arithmetic: one operation for each element of each node.
uint64_t flops_of(const Graph& graph, const Group& group, const Shape& shape, uint64_t rows) {
    uint64_t flops = 0;
    for (NodeId n : group.nodes) {
        const Shape& out = graph.values[graph.nodes[n].outputs[0]].shape;
        flops +=
            static_cast<uint64_t>(std::max(out.element_count(static_cast<int64_t>(rows)),
                                           graph.nodes[n].op->op_class == OpClass::kReduce
                                               ? shape.element_count(static_cast<int64_t>(rows))
                                               : 0));
    }
    return flops;
}

}  // namespace

GroupKernel map_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                       const LowerOptions& options) {
    constexpr uint32_t kThreads = 256;
    GroupKernel kernel;
    kernel.name = "map";
    GroupExpressions expressions(graph, group, inlined);
    ScalarArena& arena = expressions.arena();
    GlslWriter writer(arena, kernel.buffers);
    const Dim count = group.space.element_count();
    const uint64_t most_threads = uint64_t{kThreads} * options.caps.max_workgroup_count_x;
    const uint32_t each = items_each(count, options.rows_capacity, most_threads);
    const std::string total = glsl_count(count, kernel.buffers);
    const Scalar element = arena.variable(ScalarType::kI32);
    const std::string start = "int(gl_GlobalInvocationID.x)";
    if (each == 1)
        writer.line("const int i = " + start + "; if (i >= " + total + ") return;");
    else
        writer.open_scope("for (int i = " + start + "; i < " + total +
                          "; i += int(gl_NumWorkGroups.x) * " + std::to_string(kThreads) + ")");
    writer.bind(element, "i");
    store_all(writer, kernel.buffers, expressions, group.stores, {element, {}}, element);
    if (each > 1) writer.close_scope();
    kernel.body = "void main() {\n" + writer.text() + "}\n";
    kernel.is_elementwise = elementwise_buffers(arena, kernel.buffers, element);
    kernel.local_size = {kThreads, 1, 1};
    kernel.grid[0] = {work_of(count), kThreads * each};
    kernel.flops = flops_of(graph, group, group.space, options.rows_capacity);
    return kernel;
}

std::string fold_identity(Fold fold, ScalarType type) {
    const bool is_float = type == ScalarType::kF32;
    switch (fold) {
        case Fold::kSum:
            return glsl_literal(0, type);
        case Fold::kProduct:
            return glsl_literal(1, type);
        case Fold::kMax:
            return is_float ? glsl_literal(-HUGE_VAL, type)
                            : (type == ScalarType::kI32 ? "int(0x80000000u)" : "0u");
        case Fold::kMin:
            return is_float ? glsl_literal(HUGE_VAL, type)
                            : (type == ScalarType::kI32 ? "0x7fffffff" : "0xffffffffu");
    }
    return "";
}

std::string fold_combine(Fold fold, ScalarType type, const std::string& a, const std::string& b) {
    const std::string prefix = type == ScalarType::kF32 ? "hearth_" : "";
    switch (fold) {
        case Fold::kSum:
            return a + " + " + b;
        case Fold::kProduct:
            return a + " * " + b;
        case Fold::kMax:
            return prefix + "max(" + a + ", " + b + ")";
        case Fold::kMin:
            return prefix + "min(" + a + ", " + b + ")";
    }
    return "";
}

namespace {

/// Emits one kernel of kind `rows`.
class RowsKernel {
  public:
    RowsKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
               const LowerOptions& options)
        : graph_(graph),
          group_(group),
          options_(options),
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()),
          writer_(arena_, kernel_.buffers) {
        for (int i = 0; i < group.space.rank(); ++i) {
            const bool is_reduced =
                std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
            (is_reduced ? row_ : outer_).push_back(group.space[i]);
        }
        choose_lanes();
    }

    GroupKernel run() {
        kernel_.name = "rows";
        outer_index_ = arena_.variable(ScalarType::kI32);
        open_outer();
        for (NodeId n : group_.nodes)
            if (graph_.nodes[n].op->op_class == OpClass::kReduce) reduce(graph_.nodes[n]);
        store_results();
        if (is_looped_) writer_.close_scope();
        // A row's own numbers are stored by one lane, after the last tree: every lane has long
        // used what it loaded of them.
        kernel_.is_elementwise =
            elementwise_buffers(arena_, kernel_.buffers, full_element_.value_or(outer_index_));
        kernel_.body = shared_ + functions_ + "void main() {\n" + writer_.text() + "}\n";
        kernel_.flops = flops_of(graph_, group_, group_.space, options_.rows_capacity);
        return std::move(kernel_);
    }

  private:
    /// Short rows get a thread each, so that a workgroup has many; long ones a workgroup.  So do
    /// rows that lie across the memory: neighbouring threads then read neighbouring elements.
    void choose_lanes() {
        constexpr int64_t kShortRow = 32, kShortAcross = 512, kManyRows = 1024;
        const Dim row = row_.element_count();
        const auto most_rows = static_cast<int64_t>(options_.rows_capacity);
        const bool is_across = outer_.element_count(most_rows) >= kManyRows &&
                               std::find(group_.axes.begin(), group_.axes.end(),
                                         group_.space.rank() - 1) == group_.axes.end();
        if (!row.per_row && row.count <= (is_across ? kShortAcross : kShortRow)) {
            lanes_ = 1;
            return;
        }
        lanes_ = 64;
        const int64_t length = row.at(most_rows);
        while (lanes_ < 256 && lanes_ < length / 2) lanes_ *= 2;
    }

    void open_outer() {
        const Dim outer = outer_.element_count();
        const std::string total = glsl_count(outer, kernel_.buffers);
        const uint64_t groups = options_.caps.max_workgroup_count_x;
        const uint64_t width = lanes_ == 1 ? 256 : 1;
        const uint32_t each = items_each(outer, options_.rows_capacity, groups * width);
        const std::string start =
            lanes_ == 1 ? "int(gl_GlobalInvocationID.x)" : "int(gl_WorkGroupID.x)";
        is_looped_ = each > 1;
        if (is_looped_)
            writer_.open_scope("for (int row = " + start + "; row < " + total +
                               "; row += int(gl_NumWorkGroups.x) * " + std::to_string(width) + ")");
        else
            writer_.line("const int row = " + start + "; if (row >= " + total + ") return;");
        writer_.bind(outer_index_, "row");
        if (lanes_ > 1) writer_.line("const int lane = int(gl_LocalInvocationID.x);");
        kernel_.local_size = {static_cast<uint32_t>(lanes_ == 1 ? 256 : lanes_), 1, 1};
        kernel_.grid[0] = {work_of(outer), static_cast<uint32_t>(width) * each};
    }

    /// Opens a loop over the row and returns the place of its element in `space`.
    ScalarPlace open_row() {
        const Scalar k = arena_.variable(ScalarType::kI32);
        const std::string first = lanes_ == 1 ? "0" : "lane";
        const std::string length = glsl_count(row_.element_count(), kernel_.buffers);
        writer_.open_scope("for (int k = " + first + "; k < " + length +
                           "; k += " + std::to_string(lanes_) + ")");
        writer_.bind(k, "k");
        const Coords<Scalar> outer = coords_of(arena_, {outer_index_, {}}, outer_);
        const Coords<Scalar> inner = coords_of(arena_, {k, {}}, row_);
        ScalarPlace place;
        place.coords.emplace();
        int next_outer = 0, next_inner = 0;
        bool is_trailing = true;
        for (int i = 0; i < group_.space.rank(); ++i) {
            const bool is_reduced =
                std::find(group_.axes.begin(), group_.axes.end(), i) != group_.axes.end();
            if (!is_reduced && next_inner > 0) is_trailing = false;
            place.coords->axis.push_back(is_reduced ? inner[next_inner++] : outer[next_outer++]);
        }
        if (is_trailing) place.linear = outer_index_ * extent(arena_, row_.element_count()) + k;
        return place;
    }

    void reduce(const Node& node) {
        const Fold fold = node.op->fold;
        const ValueId out = node.outputs[0];
        const ScalarType type = scalar_type(graph_.values[out].dtype);
        const std::string type_name(glsl_type(type));
        const std::string sum = "r" + std::to_string(reductions_++);
        writer_.line(type_name + " " + sum + " = " + fold_identity(fold, type) + ";");
        const ScalarPlace place = open_row();
        const std::string element = writer_.emit(expressions_.read(node.inputs[0], place));
        writer_.line(sum + " = " + fold_combine(fold, type, sum, element) + ";");
        writer_.close_scope();
        if (lanes_ > 1) writer_.line(sum + " = " + tree(fold, type) + "(" + sum + ", lane);");
        const Scalar result = arena_.variable(type);
        writer_.bind(result, sum);
        expressions_.define(out, result);
    }

    /// A function that folds one value of each lane and gives every lane the result.
    std::string tree(Fold fold, ScalarType type) {
        const std::string type_name(glsl_type(type));
        const std::string lanes = std::to_string(lanes_);
        const std::string scratch = "scratch_" + type_name;
        const std::string name = "fold_" + std::to_string(static_cast<int>(fold)) + type_name;
        if (shared_.find(" " + scratch + "[") == std::string::npos)
            shared_ += "shared " + type_name + " " + scratch + "[" + lanes + "];\n";
        if (functions_.find(" " + name + "(") != std::string::npos) return name;
        functions_ +=
            type_name + " " + name + "(" + type_name + " mine, int lane) {\n    " + scratch +
            "[lane] = mine;\n    barrier();\n    for (int width = " + std::to_string(lanes_ / 2) +
            "; width > 0; width /= 2) {\n        if (lane < width) " + scratch +
            "[lane] = " + fold_combine(fold, type, scratch + "[lane]", scratch + "[lane + width]") +
            ";\n        barrier();\n    }\n    const " + type_name + " all = " + scratch +
            "[0];\n    barrier();  // scratch is written again by the next reduction\n"
            "    return all;\n}\n";
        return name;
    }

    void store_results() {
        std::vector<ValueId> full, single;
        const Dim outer = outer_.element_count();
        for (ValueId v : group_.stores) {
            // With rows of one element both are the same and either place is right.
            const bool is_single = graph_.values[v].shape.element_count() == outer;
            (is_single ? single : full).push_back(v);
        }
        if (!full.empty()) {
            const ScalarPlace place = open_row();
            // Reads in earlier loops are safe to overwrite too: a tree's barrier lies between.
            full_element_ = linear_of(arena_, place, group_.space);
            store_all(writer_, kernel_.buffers, expressions_, full, place, *full_element_);
            writer_.close_scope();
        }
        if (single.empty()) return;
        if (lanes_ > 1) writer_.open_scope("if (lane == 0)");
        store_all(writer_, kernel_.buffers, expressions_, single, {outer_index_, {}}, outer_index_);
        if (lanes_ > 1) writer_.close_scope();
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    GroupKernel kernel_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    GlslWriter writer_;
    Shape outer_, row_;
    Scalar outer_index_;
    std::optional<Scalar> full_element_;
    std::string shared_, functions_;
    int lanes_ = 1;
    int reductions_ = 0;
    bool is_looped_ = false;
};

}  // namespace

GroupKernel rows_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                        const LowerOptions& options) {
    return RowsKernel(graph, group, inlined, options).run();
}

}  // namespace hearth
