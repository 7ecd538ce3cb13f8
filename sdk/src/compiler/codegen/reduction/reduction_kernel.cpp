// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/reduction/reduction_kernel.hpp"

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/reduction/replicated_scalar_functions.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/fold.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/codegen/shared/known_ranges.hpp"
#include "compiler/kernel/writer.hpp"
#include "compiler/print/glsl.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace hearth {

namespace {

/// Terms, beyond which even a software driver's threads fold a row together.
constexpr int64_t kLongRow = 16384;

/// Writes one reduction.
class ReductionKernel {
  public:
    ReductionKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                    const LowerOptions& options, Body& body)
        : graph_(graph),
          group_(group),
          options_(options),
          vectorizes_loops_(device_model(options.caps).vectorizes_loops),
          body_(body),
          operand_(operands_of(graph, options, body)),
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()),
          inlined_(inlined),
          writer_(body, arena_, operand_) {
        ReductionLayout layout = reduction_layout(group, options);
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

    KernelPart run(Expr workgroup) {
        KernelPart part;
        outer_index_ = arena_.symbol(ScalarType::kI32);
        if (vectorizes_loops_ && goes_across()) return run_across(workgroup);
        part.grid = open_outer(workgroup);
        fold_rows();
        store_results();
        if (is_looped_) writer_.end();
        part.threads = columns_ * lanes_;
        part.replicated_scalars = replicated_scalar_functions(
            graph_, group_.replicated_scalars, inlined_, options_, part.threads, body_);
        // A row's own numbers are stored by one lane, after the last tree: every lane has long
        // used what it loaded of them.
        part.is_elementwise = elementwise_buffers(arena_, operand_values(body_),
                                                  full_element_.value_or(outer_index_));
        note_replicated_scalar_loads(graph_, group_, inlined_, body_, part.is_elementwise);
        part.statements = writer_.take();
        part.flops = flops_of(graph_, group_, group_.space, options_.rows_capacity);
        return part;
    }

    /// A function in which the workgroup's threads work out the group's one result.
    uint32_t replicated_scalar_function(uint32_t threads) {
        constexpr int64_t kFewTerms = 8;
        BodyFunction function;
        function.name = "work_out_number" + std::to_string(group_.stores[0]);
        uint32_t known = 0;
        if (body_.find_function(function.name, &known) != nullptr) return known;
        const Dim terms = row_.element_count();
        lanes_ = terms.is_batch || terms.count > kFewTerms ? threads : 1;
        columns_ = 1;
        outer_index_ = arena_.symbol(ScalarType::kI32);
        writer_.bind(outer_index_, writer_.let("row", body_.index(0)));
        lane_ = writer_.let("lane", body_.invocation());
        fold_rows();
        for (ValueId v : group_.stores)
            writer_.assign(replicated_scalar_variable(graph_, v, body_),
                           writer_.emit(expressions_.read(v, {outer_index_, {}})));
        function.statements = writer_.take();
        body_.functions.push_back(std::move(function));
        return static_cast<uint32_t>(body_.functions.size() - 1);
    }

  private:
    /// Whether neighbours in memory are neighbours among the results, each folded by one thread.
    bool goes_across() const {
        return lanes_ == 1 && !is_looped_ && folds_.empty() && group_.replicated_scalars.empty() &&
               outer_.element_count() != Dim(1) &&
               std::ranges::find(group_.axes, group_.space.rank() - 1) == group_.axes.end();
    }

    /// For CPUs: one invocation folds some neighbouring results side by side, of which compilers make vectors; the
    /// terms of each in their order.
    KernelPart run_across(Expr workgroup) {
        constexpr int64_t kResults = 64;
        const Dim outer = outer_.element_count();
        const Expr first = writer_.let("first", workgroup * kResults);
        const Expr count = writer_.let(
            "count",
            body_.operation(ScalarOp::kMin, body_.index(kResults), count_of(outer, body_) - first));
        std::vector<std::pair<Scalar, Expr>> known;  // results, and the arrays that hold them
        const auto for_each_result = [&] {
            const Expr c = writer_.for_("c", body_.index(0), [&](Expr at) { return at < count; });
            writer_.bind(outer_index_, writer_.let("row", first + c));
            for (const auto& [result, array] : known) writer_.bind(result, body_.element(array, c));
            return c;
        };
        const auto for_each_term = [&] {
            const Scalar k = arena_.symbol(ScalarType::kI32);
            const Expr length = count_of(row_.element_count(), body_);
            writer_.bind(k, writer_.for_("k", body_.index(0), [&](Expr i) { return i < length; }));
            return k;
        };
        for (NodeId n : group_.nodes) {
            const Node& node = graph_.nodes[n];
            if (node.op->op_class != OpClass::kReduce) continue;
            const DType dtype = graph_.values[node.outputs[0]].dtype;
            const Scalar result = arena_.symbol(scalar_type(dtype));
            const Expr array = writer_.declare_array("r" + std::to_string(reductions_++),
                                                     scalar_type(dtype), kResults);
            const Expr c = for_each_result();
            writer_.assign(body_.element(array, c),
                           body_.constant(fold_start(node.op->reduce, dtype), scalar_type(dtype)));
            writer_.end();
            const Scalar k = for_each_term();
            const Expr at = body_.element(array, for_each_result());
            const Expr element = writer_.emit(expressions_.read(node.inputs[0], place_of_term(k)));
            writer_.assign(at, fold_step(node.op->reduce, at, element));
            writer_.end();
            writer_.end();
            known.emplace_back(result, array);
            expressions_.define(node.outputs[0], result);
        }
        const auto [full, single] = stored_values();
        if (!full.empty()) {
            const Scalar k = for_each_term();
            (void)for_each_result();
            const ScalarPlace place = place_of_term(k);
            full_element_ = linear_of(arena_, place, group_.space);
            store_where({}, full, place, *full_element_);
            writer_.end();
            writer_.end();
        }
        if (!single.empty()) {
            (void)for_each_result();
            store_where({}, single, {outer_index_, {}}, outer_index_);
            writer_.end();
        }
        KernelPart part;
        part.grid = {work_of(outer), static_cast<uint32_t>(kResults)};
        part.is_elementwise = elementwise_buffers(arena_, operand_values(body_),
                                                  full_element_.value_or(outer_index_));
        part.statements = writer_.take();
        part.threads = 1;
        part.flops = flops_of(graph_, group_, group_.space, options_.rows_capacity);
        return part;
    }

    /// Values of the row's full length, and those of one number for each row.
    std::pair<std::vector<ValueId>, std::vector<ValueId>> stored_values() const {
        std::vector<ValueId> full, single;
        for (ValueId v : group_.stores) {
            if (is_folded_in_blocks(v)) continue;
            // With rows of one element both are the same and either place is right.
            const bool is_single = graph_.values[v].shape.element_count() == outer_.element_count();
            (is_single ? single : full).push_back(v);
        }
        return {std::move(full), std::move(single)};
    }

    void fold_rows() {
        define_replicated_scalars(graph_, group_, expressions_, writer_, body_);
        for (NodeId n : group_.nodes)
            if (graph_.nodes[n].op->op_class == OpClass::kReduce) reduce(graph_.nodes[n]);
    }

    GridAxis open_outer(Expr workgroup) {
        const Dim outer = outer_.element_count();
        const Expr total = count_of(outer, body_);
        const uint64_t groups = options_.caps.max_compute_work_group_count_x;
        const uint32_t each =
            items_each(outer, options_.rows_capacity, groups * uint64_t{columns_});
        const Expr thread = body_.invocation();
        Expr start = workgroup;
        if (columns_ > 1) start = workgroup * columns_ + (lanes_ == 1 ? thread : thread % columns_);
        if (is_looped_) {
            row_index_ = writer_.for_(
                "row", start, [&](Expr row) { return row < total; }, body_.workgroups() * columns_);
        } else if (all_stay_) {
            is_mine_ = writer_.let("is_mine", start < total);
            row_index_ = writer_.let("row", body_.operation(ScalarOp::kMin, start, total - 1));
        } else {
            row_index_ = writer_.let("row", start);
            writer_.if_(row_index_ >= total);
            writer_.leave();
            writer_.end();
        }
        writer_.bind(outer_index_, row_index_);
        if (lanes_ > 1) lane_ = writer_.let("lane", columns_ > 1 ? thread / columns_ : thread);
        return {work_of(outer), columns_ * each};
    }

    int64_t turns() const {
        return (row_.element_count().count + lanes_ - 1) / static_cast<int64_t>(lanes_);
    }
    bool is_even() const { return row_.element_count().count % static_cast<int64_t>(lanes_) == 0; }

    /// Whether a GPU had better begin all of a thread's loads at once.
    bool has_few_turns() const {
        constexpr int64_t kFewTurns = 8, kFewResults = 256;
        // Loads of all turns are in registers at once.
        const int64_t more_turns =
            device_model(options_.caps).registers == kUnlimited ? 32 : kFewTurns;
        // Where threads are few, none of the others works while one waits.
        const int64_t results =
            outer_.element_count().resolve(static_cast<int64_t>(options_.rows_capacity));
        return !row_.element_count().is_batch && row_.element_count().count > 0 &&
               turns() <= (results <= kFewResults ? more_turns : kFewTurns) &&
               !is_software(options_.caps);
    }

    /// A loop over the row that is open.
    struct Turn {
        ScalarPlace place;  ///< of its element in `space`
        Expr inside;        ///< whether that is of the row; none: all are
    };

    Turn open_row(bool is_reduction) {
        Turn turn;
        const Scalar k = arena_.symbol(ScalarType::kI32);
        const Expr length = count_of(row_.element_count(), body_);
        const Expr first = lanes_ == 1 ? body_.index(0) : lane_;
        if (has_few_turns() && is_reduction) {
            const Expr behind = writer_.unrolled_for_("turn", turns()) * lanes_;
            const Expr at = first + behind;
            // Turns beyond the row read its last element.
            writer_.bind(
                k,
                writer_.let("k", is_even() ? at : body_.operation(ScalarOp::kMin, at, length - 1)));
            if (!is_even()) turn.inside = (lanes_ == 1 ? behind : at) < length;
        } else {
            writer_.bind(k,
                         writer_.for_(
                             "k", first, [&](Expr i) { return i < length; }, body_.index(lanes_)));
        }
        turn.place = place_of_term(k);
        return turn;
    }

    /// The place in `space` of term k of the row.
    ScalarPlace place_of_term(Scalar k) {
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
        if (is_trailing) place.linear = outer_index_ * extent_of(arena_, row_.element_count()) + k;
        return place;
    }

    void reduce(const Node& node) {
        const ReduceOp fold = node.op->reduce;
        const ValueId out = node.outputs[0];
        const DType dtype = graph_.values[out].dtype;
        const ScalarType type = scalar_type(dtype);
        const Dim length = row_.element_count();
        if (vectorizes_loops_ && lanes_ == 1 && type == ScalarType::kF32 &&
            (length.is_batch || length.count >= 2 * kSumParts))
            return reduce_in_parts(node);
        const Expr sum = writer_.declare("r" + std::to_string(reductions_++), type,
                                         body_.constant(fold_start(fold, dtype), type));
        const Turn turn = open_row(true);
        const Expr element = writer_.emit(expressions_.read(node.inputs[0], turn.place));
        const Expr folded = fold_step(fold, sum, element);
        writer_.assign(sum, turn.inside ? select(turn.inside, folded, sum) : folded);
        writer_.end();
        if (lanes_ > 1) writer_.assign(sum, body_.call(tree(fold, type), sum));
        const Scalar result = arena_.symbol(type);
        writer_.bind(result, sum);
        expressions_.define(out, result);
    }

    /// For CPUs: each part folds every count-th term, side by side, of which compilers make vectors; as many on all
    /// CPUs, for the same bits, and more of long rows, whose rounding errors would grow.
    void reduce_in_parts(const Node& node) {
        constexpr int64_t kManyParts = 256;
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        const int64_t count =
            row_.element_count().resolve(rows) > kLongRow ? kManyParts : kSumParts;
        const ReduceOp fold = node.op->reduce;
        const DType dtype = graph_.values[node.outputs[0]].dtype;
        const std::string name = "r" + std::to_string(reductions_++);
        const Expr start = body_.constant(fold_start(fold, dtype), ScalarType::kF32);
        const Expr length = count_of(row_.element_count(), body_);
        const Expr turns = writer_.let(name + "_turns", length / count);
        const Expr parts =
            writer_.declare_array(name + "_parts", ScalarType::kF32, static_cast<uint32_t>(count));
        const auto for_each_part = [&] {
            return writer_.for_("part", body_.index(0), [&](Expr at) { return at < count; });
        };
        writer_.assign(body_.element(parts, for_each_part()), start);
        writer_.end();
        const Expr turn = writer_.for_("turn", body_.index(0), [&](Expr at) { return at < turns; });
        const Expr part = for_each_part();
        const Scalar t = arena_.symbol(ScalarType::kI32), p = arena_.symbol(ScalarType::kI32);
        const Scalar k = arena_.symbol(ScalarType::kI32);
        writer_.bind(t, turn);
        writer_.bind(p, part);
        writer_.bind(k, writer_.let("k", turn * count + part));
        KnownRanges known(arena_);
        known.set(t, indices_of(row_.element_count().resolve(rows) / count));
        known.set(p, {0, count - 1});
        known.set(outer_index_, indices_of(outer_.element_count().resolve(rows)));
        known.replace(k, t * arena_.index(count) + p);
        const Expr one = body_.element(parts, part);
        const Scalar term = expressions_.read(node.inputs[0], place_of_term(k));
        writer_.assign(one, fold_step(fold, one, writer_.emit(known.simplified(term))));
        writer_.end();
        writer_.end();
        const Expr sum = writer_.declare(name, ScalarType::kF32, start);
        const Expr other = for_each_part();
        writer_.assign(sum, fold_step(fold, sum, body_.element(parts, other)));
        writer_.end();
        const Scalar rest = arena_.symbol(ScalarType::kI32);
        writer_.bind(rest, writer_.for_("k", turns * count, [&](Expr i) { return i < length; }));
        const Scalar last = expressions_.read(node.inputs[0], place_of_term(rest));
        writer_.assign(sum, fold_step(fold, sum, writer_.emit(last)));
        writer_.end();
        const Scalar result = arena_.symbol(ScalarType::kF32);
        writer_.bind(result, sum);
        expressions_.define(node.outputs[0], result);
    }

    /// A function that folds one value of each lane and gives every lane the result.
    uint32_t tree(ReduceOp fold, ScalarType type) {
        const std::string shape =
            std::string(glsl_type(type)) + std::to_string(columns_) + "x" + std::to_string(lanes_);
        BodyFunction function;
        function.name = "fold_" + std::to_string(static_cast<int>(fold)) + shape;
        uint32_t known = 0;
        if (body_.find_function(function.name, &known) != nullptr) return known;
        const Expr scratch =
            body_.global("scratch_" + shape, LocalKind::kShared, type, columns_ * lanes_);
        const Expr mine = body_.new_local("mine", LocalKind::kParameter, type);
        KernelWriter writer(body_, arena_, operand_);
        const Expr thread = writer.let("thread", body_.invocation());
        const Expr slot = body_.element(scratch, thread);
        writer.assign(slot, mine);
        writer.barrier();
        const Expr width = writer.for_(
            "width", body_.index(lanes_ / 2), [](Expr w) { return w > 0; }, body_.index(2),
            ScalarOp::kDiv);
        writer.if_(thread < width * columns_);
        writer.assign(slot,
                      fold_step(fold, slot, body_.element(scratch, thread + width * columns_)));
        writer.end();
        writer.barrier();
        writer.end();
        const Expr all = writer.let("all", body_.element(scratch, thread % columns_));
        writer.barrier();  // scratch is written again by the next reduction
        writer.leave(all);
        function.has_result = true;
        function.result = type;
        function.parameters = {mine.id};
        function.statements = writer.take();
        body_.functions.push_back(std::move(function));
        return static_cast<uint32_t>(body_.functions.size() - 1);
    }

    /// `condition` (none: nothing is asked for) of threads that have a result.
    Expr guarded(Expr condition) const {
        if (!all_stay_) return condition;
        return condition ? logical_and(is_mine_, condition) : is_mine_;
    }

    void store_where(Expr condition, std::span<const ValueId> values, const ScalarPlace& place,
                     Scalar element) {
        if (condition) writer_.if_(condition);
        store_all(writer_, operand_, expressions_, values, place, element);
        if (condition) writer_.end();
    }

    void store_results() {
        const auto [full, single] = stored_values();
        if (!full.empty()) {
            const Turn turn = open_row(false);
            // Reads in earlier loops are safe to overwrite too: a tree's barrier lies between.
            full_element_ = linear_of(arena_, turn.place, group_.space);
            store_where(guarded({}), full, turn.place, *full_element_);
            writer_.end();
        }
        std::vector<Expr> terms;
        for (NodeId n : folds_)
            terms.push_back(
                writer_.emit(expressions_.read(graph_.nodes[n].inputs[0], {outer_index_, {}})));
        if (!single.empty())
            store_where(guarded(lanes_ > 1 ? lane_ == 0 : Expr{}), single, {outer_index_, {}},
                        outer_index_);
        for (size_t i = 0; i < folds_.size(); ++i) fold_blocks(graph_.nodes[folds_[i]], terms[i]);
    }

    bool is_folded_in_blocks(ValueId v) const {
        return std::any_of(folds_.begin(), folds_.end(),
                           [&](NodeId n) { return graph_.nodes[n].outputs[0] == v; });
    }

    /// Folds the results of neighbouring threads.  term: this thread's.
    void fold_blocks(const Node& node, Expr term) {
        const ValueId out = node.outputs[0];
        const ReduceOp fold = node.op->reduce;
        const Expr thread = body_.invocation();
        if (outer_.element_count() == Dim(1)) {
            writer_.if_(thread == 0);
            writer_.store(operand_(out), body_.index(0), term);
            writer_.end();
            return;
        }
        const int64_t block = node.attrs.integer("block");
        HEARTH_ASSERT(all_stay_ && columns_ % block == 0);
        const Expr scratch = body_.global("block_scratch", LocalKind::kShared, ScalarType::kF32,
                                          usual_workgroup_size(options_.caps));
        const Expr mine = body_.element(scratch, thread);
        const Expr identity = body_.constant(fold_start(fold, DType::kF32), ScalarType::kF32);
        writer_.assign(mine, select(is_mine_, term, identity));
        writer_.barrier();
        const Expr width = writer_.for_(
            "width", body_.index(block / 2), [](Expr w) { return w > 0; }, body_.index(2),
            ScalarOp::kDiv);
        writer_.if_(thread % block < width);
        writer_.assign(mine, fold_step(fold, mine, body_.element(scratch, thread + width)));
        writer_.end();
        writer_.barrier();
        writer_.end();
        writer_.if_(logical_and(logical_and(is_mine_, thread < columns_), thread % block == 0));
        writer_.store(operand_(out), row_index_ / block, mine);
        writer_.end();
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const bool vectorizes_loops_;
    Body& body_;
    KernelWriter::Operand operand_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    const std::vector<bool>& inlined_;
    KernelWriter writer_;
    std::vector<NodeId> folds_;  ///< of blocks of the results
    bool all_stay_ = false;      ///< threads without a result do not return
    Shape outer_, row_;
    Scalar outer_index_;
    Expr row_index_, lane_, is_mine_;
    std::optional<Scalar> full_element_;
    uint32_t lanes_ = 1, columns_ = 1;
    int reductions_ = 0;
    bool is_looped_ = false;
};

}  // namespace

ReductionLayout reduction_layout(const Group& group, const LowerOptions& options) {
    constexpr int64_t kShortRow = 32, kShortAcross = 512, kManyRows = 1024, kFewRows = 64;
    constexpr int64_t kLeastAcross = 8, kMostAcross = 65536;
    constexpr uint32_t kColumnsAcross = 32;  // a block of block_sum
    const uint32_t threads = usual_workgroup_size(options.caps);
    ReductionLayout layout;
    for (int i = 0; i < group.space.rank(); ++i) {
        const bool is_reduced =
            std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
        (is_reduced ? layout.row : layout.outer).push_back(group.space[i]);
    }
    const Dim row = layout.row.element_count(), outer = layout.outer.element_count();
    const auto most_rows = static_cast<int64_t>(options.rows_capacity);
    const bool is_across =
        std::find(group.axes.begin(), group.axes.end(), group.space.rank() - 1) == group.axes.end();
    const bool is_wide = is_across && outer.resolve(most_rows) >= kManyRows;
    // On a CPU threads that wait for each other cost more than adding up alone.
    const bool is_alone = device_model(options.caps).vectorizes_loops ||
                          (is_software(options.caps) && row.resolve(most_rows) <= kLongRow);
    if (is_alone) {
        layout.lanes = 1;
        layout.columns = threads;
    } else if (is_across && !row.is_batch && !outer.is_batch && row.count >= kLeastAcross &&
               outer.count > 1 && outer.count <= kMostAcross) {
        layout.columns = kColumnsAcross;
        layout.lanes = threads / kColumnsAcross;
    } else if (!row.is_batch && row.count <= (is_wide ? kShortAcross : kShortRow)) {
        layout.lanes = 1;
        layout.columns = threads;
    } else {
        layout.lanes = 64;
        const int64_t length = row.resolve(most_rows);
        while (layout.lanes < threads && layout.lanes < length / 2) layout.lanes *= 2;
        if (outer.resolve(most_rows) <= kFewRows) layout.lanes = threads;
    }
    layout.is_looped =
        items_each(outer, options.rows_capacity,
                   uint64_t{options.caps.max_compute_work_group_count_x} * layout.columns) > 1;
    return layout;
}

std::vector<uint32_t> replicated_scalar_functions(
    const Graph& graph, std::span<const std::shared_ptr<const Group>> numbers,
    const std::vector<bool>& inlined, const LowerOptions& options, uint32_t threads, Body& body) {
    std::vector<uint32_t> calls;
    const auto add = [&](uint32_t function) {
        if (std::find(calls.begin(), calls.end(), function) == calls.end())
            calls.push_back(function);
    };
    for (const std::shared_ptr<const Group>& number : numbers) {
        // A number that this one needs may be needed elsewhere too.
        for (const uint32_t inner : replicated_scalar_functions(graph, number->replicated_scalars,
                                                                inlined, options, threads, body))
            add(inner);
        add(ReductionKernel(graph, *number, inlined, options, body)
                .replicated_scalar_function(threads));
    }
    return calls;
}

KernelPart reduction_part(const KernelTask& task, Body& body, Expr workgroup) {
    return ReductionKernel(task.graph, task.group, task.inlined, task.options, body).run(workgroup);
}

const KernelFamily kReductionFamily = {
    .name = "reduction",
    .matches = [](const KernelTask& task) { return task.group.kind == GroupKind::kReduction; },
    .write = [](const KernelTask& task,
                const KernelChoice&) { return kernel_of_part("reduction", reduction_part, task); }};

}  // namespace hearth
