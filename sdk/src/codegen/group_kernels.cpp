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

void set_body(GroupKernel& kernel, std::vector<std::string> declarations,
              const std::string& statements, bool can_be_part) {
    for (const std::string& text : declarations) kernel.body += text;
    kernel.body +=
        "void main() {\n    const int group = int(gl_WorkGroupID.x);\n" + statements + "}\n";
    if (!can_be_part) return;
    kernel.declarations = std::move(declarations);
    kernel.statements = statements;
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
               const LowerOptions& options, BufferTable buffers)
        : graph_(graph),
          group_(group),
          options_(options),
          kernel_{.buffers = std::move(buffers)},
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
        set_body(kernel_, declarations_, writer_.text(), !is_looped_);
        kernel_.flops = flops_of(graph_, group_, group_.space, options_.rows_capacity);
        return std::move(kernel_);
    }

  private:
    /// Short rows get a thread each, so that a workgroup has many; long ones a workgroup.  Rows that
    /// lie across the memory get some threads each, side by side, so that neighbouring threads read
    /// neighbouring elements.
    void choose_lanes() {
        constexpr int64_t kShortRow = 32, kShortAcross = 512, kManyRows = 1024, kFewRows = 64;
        constexpr int64_t kLeastAcross = 8, kMostAcross = 65536;
        const Dim row = row_.element_count(), outer = outer_.element_count();
        const auto most_rows = static_cast<int64_t>(options_.rows_capacity);
        const bool is_across = std::find(group_.axes.begin(), group_.axes.end(),
                                         group_.space.rank() - 1) == group_.axes.end();
        if (is_across && !row.per_row && !outer.per_row && row.count >= kLeastAcross &&
            outer.count > 1 && outer.count <= kMostAcross) {
            lanes_ = 8;
            columns_ = kPartThreads / 8;
            return;
        }
        const bool is_wide = is_across && outer.at(most_rows) >= kManyRows;
        if (!row.per_row && row.count <= (is_wide ? kShortAcross : kShortRow)) {
            lanes_ = 1;
            columns_ = kPartThreads;
            return;
        }
        lanes_ = 64;
        const int64_t length = row.at(most_rows);
        while (lanes_ < 256 && lanes_ < length / 2) lanes_ *= 2;
        if (outer.at(most_rows) <= kFewRows) lanes_ = kPartThreads;
    }

    void open_outer() {
        const Dim outer = outer_.element_count();
        const std::string total = glsl_count(outer, kernel_.buffers);
        const uint64_t groups = options_.caps.max_workgroup_count_x;
        const uint64_t width = columns_;
        const uint32_t each = items_each(outer, options_.rows_capacity, groups * width);
        const std::string thread = "int(gl_LocalInvocationID.x)", columns = std::to_string(width);
        const std::string start = width == 1 ? "group"
                                             : "group * " + columns + " + " + thread +
                                                   (lanes_ == 1 ? "" : " % " + columns);
        is_looped_ = each > 1;
        // Where threads fold numbers together, all of them stay.
        const bool all_stay = lanes_ > 1 && width > 1;
        if (is_looped_)
            writer_.open_scope("for (int row = " + start + "; row < " + total +
                               "; row += int(gl_NumWorkGroups.x) * " + columns + ")");
        else if (all_stay)
            writer_.line("const bool is_mine = " + start + " < " + total +
                         "; const int row = min(" + start + ", " + total + " - 1);");
        else
            writer_.line("const int row = " + start + "; if (row >= " + total + ") return;");
        writer_.bind(outer_index_, "row");
        if (lanes_ > 1)
            writer_.line("const int lane = " + thread + (width > 1 ? " / " + columns : "") + ";");
        kernel_.local_size = {columns_ * lanes_, 1, 1};
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
        if (lanes_ > 1) writer_.line(sum + " = " + tree(fold, type) + "(" + sum + ");");
        const Scalar result = arena_.variable(type);
        writer_.bind(result, sum);
        expressions_.define(out, result);
    }

    /// A function that folds one value of each lane and gives every lane the result.
    std::string tree(Fold fold, ScalarType type) {
        const std::string type_name(glsl_type(type));
        const std::string columns = std::to_string(columns_);
        const std::string shape = columns + "x" + std::to_string(lanes_);
        const std::string scratch = "scratch_" + type_name + shape;
        const std::string name =
            "fold_" + std::to_string(static_cast<int>(fold)) + type_name + shape;
        declare("shared " + type_name + " " + scratch + "[" + std::to_string(columns_ * lanes_) +
                "];\n");
        declare(
            type_name + " " + name + "(" + type_name +
            " mine) {\n    const int thread = int(gl_LocalInvocationID.x);\n    " + scratch +
            "[thread] = mine;\n    barrier();\n    for (int width = " + std::to_string(lanes_ / 2) +
            "; width > 0; width /= 2) {\n        if (thread < width * " + columns + ") " + scratch +
            "[thread] = " +
            fold_combine(fold, type, scratch + "[thread]",
                         scratch + "[thread + width * " + columns + "]") +
            ";\n        barrier();\n    }\n    const " + type_name + " all = " + scratch +
            "[thread % " + columns +
            "];\n    barrier();  // scratch is written again by the next reduction\n"
            "    return all;\n}\n");
        return name;
    }

    void declare(const std::string& text) {
        if (std::find(declarations_.begin(), declarations_.end(), text) == declarations_.end())
            declarations_.push_back(text);
    }

    std::string guarded(const std::string& condition) const {
        const bool all_stay = lanes_ > 1 && columns_ > 1 && !is_looped_;
        if (!all_stay) return condition;
        return condition.empty() ? "is_mine" : "is_mine && " + condition;
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
            const bool is_guarded = !guarded("").empty();
            if (is_guarded) writer_.open_scope("if (" + guarded("") + ")");
            store_all(writer_, kernel_.buffers, expressions_, full, place, *full_element_);
            if (is_guarded) writer_.close_scope();
            writer_.close_scope();
        }
        if (single.empty()) return;
        if (lanes_ > 1) writer_.open_scope("if (" + guarded("lane == 0") + ")");
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
    std::vector<std::string> declarations_;
    uint32_t lanes_ = 1, columns_ = 1;
    int reductions_ = 0;
    bool is_looped_ = false;
};

}  // namespace

GroupKernel rows_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                        const LowerOptions& options, BufferTable buffers) {
    return RowsKernel(graph, group, inlined, options, std::move(buffers)).run();
}

namespace {

/// Which part touches each buffer, and whether element by element: only what one part alone
/// touches can be.
void note_part(GroupKernel& whole, const GroupKernel& part, uint32_t index,
               std::span<const ValueId> touched) {
    constexpr uint32_t kNobody = 0xffffffffu;
    whole.part_of.resize(part.buffers.values.size(), kNobody);
    whole.is_elementwise.resize(part.buffers.values.size(), false);
    for (size_t b = 0; b < part.buffers.values.size(); ++b) {
        if (std::find(touched.begin(), touched.end(), part.buffers.values[b]) == touched.end())
            continue;
        const bool is_first = whole.part_of[b] == kNobody;
        whole.part_of[b] = is_first ? index : 0;
        whole.is_elementwise[b] = is_first && part.is_elementwise[b];
    }
}

}  // namespace

std::optional<GroupKernel> parts_kernel(const Graph& graph, std::span<const Group* const> groups,
                                        const std::vector<bool>& inlined,
                                        const LowerOptions& options) {
    GroupKernel whole;
    whole.name = "parts";
    whole.local_size = {kPartThreads, 1, 1};
    std::vector<std::string> declared;
    std::string functions, choice;
    uint64_t first = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
        const Group& group = *groups[g];
        if (group.kind != GroupKind::kMap && group.kind != GroupKind::kRowwise) return std::nullopt;
        GroupKernel part = group.kind == GroupKind::kMap
                               ? map_kernel(graph, group, inlined, options, whole.buffers)
                               : rows_kernel(graph, group, inlined, options, whole.buffers);
        const GridAxis& axis = part.grid[0];
        if (part.statements.empty() || axis.work.per_row != 0 || part.local_size[0] != kPartThreads)
            return std::nullopt;
        for (const std::string& text : part.declarations) {
            if (std::find(declared.begin(), declared.end(), text) != declared.end()) continue;
            declared.push_back(text);
            whole.body += text;
        }
        const std::string number = std::to_string(g);
        functions += "void part" + number + "(int group) {\n" + part.statements + "}\n";
        const uint64_t count = axis.groups(1), end = first + count;
        choice += (g == 0 ? "    if (group < " : "    else if (group < ") + std::to_string(end) +
                  ") part" + number + "(group - " + std::to_string(first) + ");\n";
        first = end;
        std::vector<ValueId> touched = loads_of(graph, group, inlined);
        touched.insert(touched.end(), group.stores.begin(), group.stores.end());
        note_part(whole, part, static_cast<uint32_t>(g + 1), touched);
        whole.buffers = std::move(part.buffers);
        whole.word_loads.insert(whole.word_loads.end(), part.word_loads.begin(),
                                part.word_loads.end());
        whole.pair_loads.insert(whole.pair_loads.end(), part.pair_loads.begin(),
                                part.pair_loads.end());
        whole.flops += part.flops;
    }
    if (first > options.caps.max_workgroup_count_x) return std::nullopt;
    whole.body += functions + "void main() {\n    const int group = int(gl_WorkGroupID.x);\n" +
                  choice + "}\n";
    whole.grid[0] = {{first, 0}, 1};
    return whole;
}

}  // namespace hearth
