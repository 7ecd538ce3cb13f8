// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/group_kernels.hpp"

#include "codegen/group_expressions.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <cmath>

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

void set_body(GroupKernel& kernel, NumberText numbers, const std::string& statements,
              bool can_be_part) {
    for (const std::string& text : numbers.declarations) kernel.body += text;
    kernel.body += "void main() {\n    const int group = int(gl_WorkGroupID.x);\n" + numbers.calls +
                   statements + "}\n";
    if (!can_be_part) return;
    kernel.declarations = std::move(numbers.declarations);
    kernel.calls = std::move(numbers.calls);
    kernel.statements = statements;
}

void define_numbers(const Graph& graph, const Group& group, GroupExpressions& expressions,
                    GlslWriter& writer) {
    for (const std::shared_ptr<const Group>& number : group.numbers)
        for (ValueId v : number->stores) {
            const Scalar variable =
                expressions.arena().variable(scalar_type(graph.values[v].dtype));
            writer.bind(variable, "number" + std::to_string(v));
            expressions.define(v, variable);
        }
}

void note_number_loads(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                       GroupKernel& kernel) {
    for (const std::shared_ptr<const Group>& number : group.numbers)
        for (ValueId v : loads_of(graph, *number, inlined))
            for (size_t b = 0; b < kernel.buffers.values.size(); ++b)
                if (kernel.buffers.values[b] == v) kernel.is_elementwise[b] = false;
}

std::string fold_identity(Fold fold, DType dtype) {
    const ScalarType type = scalar_type(dtype);
    // The ends of the type's range: those of an i8 are no bytes of an i32's.
    const uint32_t bits = 8 * std::min<uint32_t>(size_bytes(dtype), 4);
    const bool is_float = is_floating(dtype), has_sign = !is_unsigned(dtype);
    switch (fold) {
        case Fold::kSum:
            return glsl_literal(0, type);
        case Fold::kProduct:
            return glsl_literal(1, type);
        case Fold::kMax:
            if (is_float) return glsl_literal(-HUGE_VAL, type);
            return glsl_literal(has_sign ? -std::ldexp(1, static_cast<int>(bits) - 1) : 0, type);
        case Fold::kMin:
            if (is_float) return glsl_literal(HUGE_VAL, type);
            return glsl_literal(std::ldexp(1, static_cast<int>(bits - has_sign)) - 1, type);
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

std::string number_name(ValueId v) {
    return "number" + std::to_string(v);
}

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
          inlined_(inlined),
          writer_(arena_, kernel_.buffers) {
        RowsLayout layout = rows_layout(group, options);
        outer_ = std::move(layout.outer);
        row_ = std::move(layout.row);
        lanes_ = layout.lanes;
        columns_ = layout.columns;
        is_looped_ = layout.is_looped;
        for (NodeId n : group.nodes)
            if (is_block_fold(graph.nodes[n])) folds_.push_back(n);
        // Where threads fold numbers together, all of them stay.
        all_stay_ = !is_looped_ && columns_ > 1 && (lanes_ > 1 || !folds_.empty());
    }

    GroupKernel run() {
        kernel_.name = "rows";
        outer_index_ = arena_.variable(ScalarType::kI32);
        open_outer();
        fold_rows();
        store_results();
        if (is_looped_) writer_.close_scope();
        NumberText numbers = number_text(graph_, group_.numbers, inlined_, options_,
                                         columns_ * lanes_, kernel_.buffers);
        for (const std::string& text : numbers.declarations) declare(text);
        // A row's own numbers are stored by one lane, after the last tree: every lane has long
        // used what it loaded of them.
        kernel_.is_elementwise =
            elementwise_buffers(arena_, kernel_.buffers, full_element_.value_or(outer_index_));
        note_number_loads(graph_, group_, inlined_, kernel_);
        numbers.declarations = declarations_;
        set_body(kernel_, std::move(numbers), writer_.text(), !is_looped_);
        kernel_.flops = flops_of(graph_, group_, group_.space, options_.rows_capacity);
        return std::move(kernel_);
    }

    /// Adds what lets each workgroup work out the group's one result, with so many threads.
    void add_as_number(uint32_t threads, NumberText& text, BufferTable& buffers) {
        constexpr int64_t kFewTerms = 8;
        const std::string function = "work_out_" + number_name(group_.stores[0]);
        buffers = kernel_.buffers;
        if (text.calls.find(function + "(") != std::string::npos) return;
        const Dim terms = row_.element_count();
        lanes_ = terms.per_row || terms.count > kFewTerms ? threads : 1;
        columns_ = 1;
        outer_index_ = arena_.variable(ScalarType::kI32);
        writer_.line("const int row = 0, lane = int(gl_LocalInvocationID.x);");
        writer_.bind(outer_index_, "row");
        fold_rows();
        for (ValueId v : group_.stores) {
            const ScalarType type = scalar_type(graph_.values[v].dtype);
            declare(std::string(glsl_type(type)) + " " + number_name(v) + ";\n");
            writer_.line(number_name(v) + " = " +
                         writer_.emit(expressions_.read(v, {outer_index_, {}})) + ";");
        }
        declare("void " + function + "() {\n" + writer_.text() + "}\n");
        for (const std::string& declaration : declarations_)
            if (std::find(text.declarations.begin(), text.declarations.end(), declaration) ==
                text.declarations.end())
                text.declarations.push_back(declaration);
        text.calls += "    " + function + "();\n";
        buffers = std::move(kernel_.buffers);
    }

  private:
    void fold_rows() {
        define_numbers(graph_, group_, expressions_, writer_);
        for (NodeId n : group_.nodes)
            if (graph_.nodes[n].op->op_class == OpClass::kReduce) reduce(graph_.nodes[n]);
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
        if (is_looped_)
            writer_.open_scope("for (int row = " + start + "; row < " + total +
                               "; row += int(gl_NumWorkGroups.x) * " + columns + ")");
        else if (all_stay_)
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

    int64_t turns() const {
        return (row_.element_count().count + lanes_ - 1) / static_cast<int64_t>(lanes_);
    }
    bool is_even() const { return row_.element_count().count % static_cast<int64_t>(lanes_) == 0; }

    /// Whether a GPU had better begin all of a thread's loads at once.
    bool has_few_turns() const {
        constexpr int64_t kFewTurns = 8, kMoreTurns = 32, kFewResults = 256;
        // Where threads are few, none of the others works while one waits.
        const int64_t results =
            outer_.element_count().at(static_cast<int64_t>(options_.rows_capacity));
        return !row_.element_count().per_row && row_.element_count().count > 0 &&
               turns() <= (results <= kFewResults ? kMoreTurns : kFewTurns) &&
               !is_software(options_.caps);
    }

    /// Opens a loop over the row and returns the place of its element in `space`.
    ScalarPlace open_row(bool is_reduction) {
        const Scalar k = arena_.variable(ScalarType::kI32);
        const std::string first = lanes_ == 1 ? "0" : "lane", lanes = std::to_string(lanes_);
        const std::string length = glsl_count(row_.element_count(), kernel_.buffers);
        if (has_few_turns() && is_reduction) {
            writer_.open_scope("[[unroll]] for (int turn = 0; turn < " + std::to_string(turns()) +
                               "; ++turn)");
            const std::string at = first + " + turn * " + lanes;
            writer_.line(
                "const int k = " + (is_even() ? at : "min(" + at + ", " + length + " - 1)") + ";");
        } else {
            writer_.open_scope("for (int k = " + first + "; k < " + length + "; k += " + lanes +
                               ")");
        }
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
        writer_.line(type_name + " " + sum + " = " + fold_identity(fold, graph_.values[out].dtype) +
                     ";");
        const ScalarPlace place = open_row(true);
        const std::string element = writer_.emit(expressions_.read(node.inputs[0], place));
        const std::string folded = fold_combine(fold, type, sum, element);
        // Turns beyond the row read its last element and leave the sum as it is.
        const std::string inside = has_few_turns() && !is_even()
                                       ? std::string(lanes_ == 1 ? "" : "lane + ") + "turn * " +
                                             std::to_string(lanes_) + " < " +
                                             glsl_count(row_.element_count(), kernel_.buffers)
                                       : "";
        writer_.line(sum + " = " +
                     (inside.empty() ? folded : inside + " ? " + folded + " : " + sum) + ";");
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
        if (!all_stay_) return condition;
        return condition.empty() ? "is_mine" : "is_mine && " + condition;
    }

    void store_results() {
        std::vector<ValueId> full, single;
        const Dim outer = outer_.element_count();
        for (ValueId v : group_.stores) {
            if (is_folded_in_blocks(v)) continue;
            // With rows of one element both are the same and either place is right.
            const bool is_single = graph_.values[v].shape.element_count() == outer;
            (is_single ? single : full).push_back(v);
        }
        if (!full.empty()) {
            const ScalarPlace place = open_row(false);
            // Reads in earlier loops are safe to overwrite too: a tree's barrier lies between.
            full_element_ = linear_of(arena_, place, group_.space);
            const bool is_guarded = !guarded("").empty();
            if (is_guarded) writer_.open_scope("if (" + guarded("") + ")");
            store_all(writer_, kernel_.buffers, expressions_, full, place, *full_element_);
            if (is_guarded) writer_.close_scope();
            writer_.close_scope();
        }
        std::vector<std::string> terms;
        for (NodeId n : folds_)
            terms.push_back(
                writer_.emit(expressions_.read(graph_.nodes[n].inputs[0], {outer_index_, {}})));
        if (!single.empty()) {
            const std::string condition = guarded(lanes_ > 1 ? "lane == 0" : "");
            if (!condition.empty()) writer_.open_scope("if (" + condition + ")");
            store_all(writer_, kernel_.buffers, expressions_, single, {outer_index_, {}},
                      outer_index_);
            if (!condition.empty()) writer_.close_scope();
        }
        for (size_t i = 0; i < folds_.size(); ++i) fold_blocks(graph_.nodes[folds_[i]], terms[i]);
    }

    bool is_folded_in_blocks(ValueId v) const {
        return std::any_of(folds_.begin(), folds_.end(),
                           [&](NodeId n) { return graph_.nodes[n].outputs[0] == v; });
    }

    /// Folds the results of neighbouring threads.  term: this thread's.
    void fold_blocks(const Node& node, const std::string& term) {
        const ValueId out = node.outputs[0];
        const Fold fold = node.op->fold;
        const std::string thread = "int(gl_LocalInvocationID.x)";
        if (outer_.element_count() == Dim(1)) {
            writer_.line("if (" + thread + " == 0) " + kernel_.buffers.store(out, "0", term));
            return;
        }
        const int64_t block = node.attrs.integer("block");
        HEARTH_ASSERT(all_stay_ && columns_ % block == 0);
        const std::string scratch = "block_scratch", size = std::to_string(columns_ * lanes_);
        declare("shared float " + scratch + "[" + std::to_string(kPartThreads) + "];\n");
        const std::string mine = scratch + "[" + thread + "]";
        writer_.line(mine + " = is_mine ? " + term + " : " + fold_identity(fold, DType::kF32) +
                     ";");
        writer_.line("barrier();");
        writer_.open_scope("for (int width = " + std::to_string(block / 2) +
                           "; width > 0; width /= 2)");
        writer_.line(
            "if (" + thread + " % " + std::to_string(block) + " < width) " + mine + " = " +
            fold_combine(fold, ScalarType::kF32, mine, scratch + "[" + thread + " + width]") + ";");
        writer_.line("barrier();");
        writer_.close_scope();
        writer_.line("if (is_mine && " + thread + " < " + std::to_string(columns_) + " && " +
                     thread + " % " + std::to_string(block) + " == 0) " +
                     kernel_.buffers.store(out, "row / " + std::to_string(block), mine));
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    GroupKernel kernel_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    const std::vector<bool>& inlined_;
    GlslWriter writer_;
    std::vector<NodeId> folds_;  ///< of blocks of the results
    bool all_stay_ = false;      ///< threads without a result do not return
    Shape outer_, row_;
    Scalar outer_index_;
    std::optional<Scalar> full_element_;
    std::vector<std::string> declarations_;
    uint32_t lanes_ = 1, columns_ = 1;
    int reductions_ = 0;
    bool is_looped_ = false;
};

}  // namespace

RowsLayout rows_layout(const Group& group, const LowerOptions& options) {
    constexpr int64_t kShortRow = 32, kShortAcross = 512, kManyRows = 1024, kFewRows = 64;
    constexpr int64_t kLeastAcross = 8, kMostAcross = 65536, kMostAlone = 16384;
    RowsLayout layout;
    for (int i = 0; i < group.space.rank(); ++i) {
        const bool is_reduced =
            std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
        (is_reduced ? layout.row : layout.outer).push_back(group.space[i]);
    }
    const Dim row = layout.row.element_count(), outer = layout.outer.element_count();
    const auto most_rows = static_cast<int64_t>(options.rows_capacity);
    const bool is_across =
        std::find(group.axes.begin(), group.axes.end(), group.space.rank() - 1) == group.axes.end();
    const bool is_wide = is_across && outer.at(most_rows) >= kManyRows;
    // On a CPU threads that wait for each other cost more than adding up alone.
    const bool is_alone = is_software(options.caps) && row.at(most_rows) <= kMostAlone;
    if (is_alone) {
        layout.lanes = 1;
        layout.columns = kPartThreads;
    } else if (is_across && !row.per_row && !outer.per_row && row.count >= kLeastAcross &&
               outer.count > 1 && outer.count <= kMostAcross) {
        layout.lanes = 8;
        layout.columns = kPartThreads / 8;
    } else if (!row.per_row && row.count <= (is_wide ? kShortAcross : kShortRow)) {
        layout.lanes = 1;
        layout.columns = kPartThreads;
    } else {
        layout.lanes = 64;
        const int64_t length = row.at(most_rows);
        while (layout.lanes < 256 && layout.lanes < length / 2) layout.lanes *= 2;
        if (outer.at(most_rows) <= kFewRows) layout.lanes = kPartThreads;
    }
    layout.is_looped =
        items_each(outer, options.rows_capacity,
                   uint64_t{options.caps.max_workgroup_count_x} * layout.columns) > 1;
    return layout;
}

NumberText number_text(const Graph& graph, std::span<const std::shared_ptr<const Group>> numbers,
                       const std::vector<bool>& inlined, const LowerOptions& options,
                       uint32_t threads, BufferTable& buffers) {
    NumberText text;
    for (const std::shared_ptr<const Group>& number : numbers) {
        // A number that this one needs may be needed elsewhere too.
        NumberText inner = number_text(graph, number->numbers, inlined, options, threads, buffers);
        for (std::string& declaration : inner.declarations)
            if (std::find(text.declarations.begin(), text.declarations.end(), declaration) ==
                text.declarations.end())
                text.declarations.push_back(std::move(declaration));
        for (size_t at = 0; at < inner.calls.size();) {
            const size_t end = inner.calls.find('\n', at) + 1;
            const std::string call = inner.calls.substr(at, end - at);
            if (text.calls.find(call) == std::string::npos) text.calls += call;
            at = end;
        }
        RowsKernel(graph, *number, inlined, options, std::move(buffers))
            .add_as_number(threads, text, buffers);
    }
    return text;
}

GroupKernel rows_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                        const LowerOptions& options, BufferTable buffers) {
    return RowsKernel(graph, group, inlined, options, std::move(buffers)).run();
}

}  // namespace hearth
