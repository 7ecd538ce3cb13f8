// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element-wise kernels.  On a GPU a thread takes some elements that follow each other in memory, so
// that each operand is read and written 16 bytes at a time: also operands that are broadcast, or
// whose axes are in another order, where neighbours still read neighbours (index_analysis.hpp).

#include "compiler/codegen/elementwise/elementwise_kernel.hpp"

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/reduction/replicated_scalar_functions.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/codegen/shared/index_analysis.hpp"
#include "compiler/codegen/shared/known_ranges.hpp"
#include "compiler/kernel/writer.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace hearth {

namespace {

class ElementwiseKernel {
  public:
    ElementwiseKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                      const LowerOptions& options, Body& body)
        : graph_(graph),
          group_(group),
          inlined_(inlined),
          options_(options),
          body_(body),
          operand_(operands_of(graph, options, body)),
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()),
          writer_(body, arena_, operand_) {}

    KernelPart run(Expr workgroup) {
        KernelPart part;
        element_ = arena_.symbol(ScalarType::kI32);
        first_ = arena_.symbol(ScalarType::kI32);
        define_replicated_scalars(graph_, group_, expressions_, writer_, body_);
        for (ValueId v : group_.stores) contents_.push_back(expressions_.read(v, {element_, {}}));
        if (device_model(options_.caps).vectorizes_loops) return loop_over_stretch(workgroup);
        choose_width();
        const Dim count = group_.space.element_count();
        const uint32_t threads = usual_workgroup_size(options_.caps);
        const uint64_t most =
            uint64_t{threads} * width_ * options_.caps.max_compute_work_group_count_x;
        const uint32_t each = items_each(count, options_.rows_capacity, most);
        const Expr total = count_of(count, body_);
        const Expr thread = workgroup * threads + body_.invocation();
        const Expr start = width_ == 1 ? thread : thread * width_;
        part.replicated_scalars = replicated_scalar_functions(graph_, group_.replicated_scalars,
                                                              inlined_, options_, threads, body_);
        const bool loads_first = width_ == 1 && each == 1 && !group_.replicated_scalars.empty();
        Expr i;
        if (loads_first) {
            i = load_ahead_of(part.replicated_scalars, start, total);
            part.replicated_scalars.clear();
        } else if (each == 1) {
            i = writer_.let("i", start);
            writer_.if_(i >= total);
            writer_.leave();
            writer_.end();
        } else {
            i = writer_.for_(
                "i", start, [&](Expr at) { return at < total; },
                body_.workgroups() * (threads * width_));
        }
        if (width_ == 1)
            store_one(i);
        else
            store_vector(i, total, each > 1);
        if (each > 1 || loads_first) writer_.end();
        part.statements = writer_.take();
        part.is_elementwise = elementwise_buffers(arena_, operand_values(body_), element_);
        // One thread reads all before it stores anything.
        if (count == Dim(1)) part.is_elementwise.assign(body_.buffers.size(), true);
        note_replicated_scalar_loads(graph_, group_, inlined_, body_, part.is_elementwise);
        part.threads = threads;
        part.grid = {work_of(count), threads * width_ * each};
        part.flops = flops_of(graph_, group_, group_.space, options_.rows_capacity);
        return part;
    }

  private:
    /// For CPUs: a workgroup is one invocation with a loop, which compilers make vectors of.
    KernelPart loop_over_stretch(Expr workgroup) {
        constexpr int64_t kStretch = 1024;  // elements: enough to be worth a call
        const Dim count = group_.space.element_count();
        const int64_t line = line_length();
        const int64_t each = line == 0 ? kStretch : std::max<int64_t>(kStretch / line, 1);
        const Expr all = line == 0 ? count_of(count, body_)
                                   : count_of(Dim(count.count / line, count.is_batch), body_);
        const Expr first = writer_.let("first", workgroup * each);
        const Expr end = writer_.let("end", body_.operation(ScalarOp::kMin, first + each, all));
        if (line == 0) {
            store_elements(first, end);
        } else {
            store_lines(first, end, line);
        }
        KernelPart part;
        part.statements = writer_.take();
        part.is_elementwise = elementwise_buffers(arena_, operand_values(body_), element_);
        part.threads = 1;
        part.grid = {work_of(count), static_cast<uint32_t>(line == 0 ? each : each * line)};
        part.flops = flops_of(graph_, group_, group_.space, options_.rows_capacity);
        return part;
    }

    /// So many elements that lie side by side share all coordinates but what is left of the last one by division; 0
    /// where nothing is divided, or elements share nothing.
    int64_t line_length() {
        constexpr int64_t kLeast = 4, kMost = 1 << 14;
        const auto steps = quotient_steps(arena_, contents_, element_, kLeast);
        if (!steps) return 0;
        const std::vector<int64_t>& lengths = *steps;
        if (lengths.empty()) return 0;
        const int64_t least = *std::min_element(lengths.begin(), lengths.end());
        const auto fits = [&](int64_t length) { return length % least == 0; };
        if (least < kLeast || least > kMost || !std::all_of(lengths.begin(), lengths.end(), fits) ||
            !fits(group_.space.element_count().count))
            return 0;
        return least;
    }

    /// Elements from `first` on, in loops that end where a comparison, as of a concatenation's parts, changes.
    void store_elements(Expr first, Expr end) {
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        const IndexRange all = indices_of(group_.space.element_count().resolve(rows));
        std::set<int64_t> thresholds;
        for (const Scalar content : contents_) {
            KnownRanges known(arena_);
            known.set(element_, all);
            const std::vector<int64_t> found = known.thresholds(content, element_);
            thresholds.insert(found.begin(), found.end());
        }
        const std::vector<IndexRange> segments = split(all, {thresholds.begin(), thresholds.end()});
        if (segments.size() == 1) {
            store_one(writer_.for_("i", first, [&](Expr at) { return at < end; }));
            return writer_.end();
        }
        for (const IndexRange segment : segments) {
            const auto [from, until] = within(segment, first, end);
            const Expr i = writer_.for_("i", from, [&](Expr at) { return at < until; });
            KnownRanges known(arena_);
            known.set(element_, segment);
            store_contents(i, known);
            writer_.end();
        }
    }

    /// The part of [first, end) that is in the segment.
    std::pair<Expr, Expr> within(IndexRange segment, Expr first, Expr end) {
        return {body_.operation(ScalarOp::kMax, first, body_.index(segment.first)),
                body_.operation(ScalarOp::kMin, end, body_.index(segment.last + 1))};
    }

    /// What is stored at this element, by what is known of its index.
    void store_contents(Expr element, KnownRanges& known) {
        writer_.bind(element_, element);
        std::vector<Expr> contents;
        for (Scalar content : contents_)
            contents.push_back(writer_.emit(known.simplified(content)));
        for (size_t s = 0; s < contents.size(); ++s)
            writer_.store(operand_(group_.stores[s]), writer_.emit(element_), contents[s]);
    }

    /// Lines from `first` on; those apart from which on comparisons, as of a concatenation's parts, have other results.
    void store_lines(Expr first, Expr end, int64_t length) {
        const Scalar line = arena_.symbol(ScalarType::kI32),
                     place = arena_.symbol(ScalarType::kI32);
        const auto rows = static_cast<int64_t>(options_.rows_capacity);
        const IndexRange all = indices_of(group_.space.element_count().resolve(rows) / length);
        std::set<int64_t> thresholds;
        for (const Scalar content : contents_) {
            KnownRanges known = known_in_line(line, all, place, {0, length - 1}, length);
            const std::vector<int64_t> found = known.thresholds(content, line);
            thresholds.insert(found.begin(), found.end());
        }
        const std::vector<IndexRange> segments = split(all, {thresholds.begin(), thresholds.end()});
        for (const IndexRange segment : segments) {
            Expr from = first, until = end;
            if (segments.size() > 1) std::tie(from, until) = within(segment, first, end);
            const Expr at = writer_.for_("line", from, [&](Expr i) { return i < until; });
            store_line(at, segment, length);
            writer_.end();
        }
    }

    KnownRanges known_in_line(Scalar line, IndexRange lines, Scalar place, IndexRange places,
                              int64_t length) const {
        KnownRanges known(arena_);
        known.set(line, lines);
        known.set(place, places);
        known.replace(element_, line * arena_.index(length) + place);
        return known;
    }

    /// The elements of a line; those apart at whose places comparisons, as with borders, have other results.
    void store_line(Expr line, IndexRange lines, int64_t length) {
        const Scalar line_index = arena_.symbol(ScalarType::kI32);
        writer_.bind(line_index, line);
        const auto known_in = [&](Scalar place, IndexRange range) {
            return known_in_line(line_index, lines, place, range, length);
        };
        const Scalar place = arena_.symbol(ScalarType::kI32);
        KnownRanges everywhere = known_in(place, {0, length - 1});
        IndexRange middle{0, length - 1};
        for (Scalar content : contents_) {
            const IndexRange part = everywhere.undisturbed(content, place, length);
            middle = {std::max(middle.first, part.first), std::min(middle.last, part.last)};
        }
        for (const IndexRange part :
             {IndexRange{0, middle.first - 1}, middle, IndexRange{middle.last + 1, length - 1}}) {
            if (part.first > part.last) continue;
            const Scalar at = arena_.symbol(ScalarType::kI32);
            KnownRanges known = known_in(at, part);
            const Expr j = writer_.for_("j", body_.index(part.first), [&](Expr counter) {
                return counter < body_.index(part.last + 1);
            });
            writer_.bind(at, j);
            store_contents(writer_.let("i", line * length + j), known);
            writer_.end();
        }
    }

    uint32_t held_bytes(ValueId v) const {
        return size_bytes(device_dtype(graph_.values[v].dtype, options_.caps.narrow_storage()));
    }

    /// Four elements, or eight if all are of two bytes; one where there would be too few threads.
    void choose_width() {
        // Some for each core of a large GPU; of a CPU, a few workgroups.
        const DeviceModel model = device_model(options_.caps);
        const auto enough_threads =
            model.is_software ? uint64_t{1024} : static_cast<uint64_t>(model.in_proportion(32768));
        uint32_t widest = 0;
        for (ValueId v : group_.stores) widest = std::max(widest, held_bytes(v));
        for (Scalar load : loads_in(arena_, contents_))
            if (load.node().a == element_.id)
                widest = std::max(widest, held_bytes(load.node().bits));
        if (widest != 2 && widest != 4) return;
        const uint32_t width = widest == 2 ? 8 : 4;
        const uint64_t count = work_of(group_.space.element_count()).at(options_.rows_capacity);
        if (count >= width * enough_threads) width_ = width;
    }

    /// Loads what it can of element i before all threads work out numbers, which wait for memory too;
    /// opens the scope in which the element is stored.
    Expr load_ahead_of(std::span<const uint32_t> numbers, Expr start, Expr total) {
        const Expr mine = writer_.let("mine", start);
        const Expr i = writer_.let("i", body_.operation(ScalarOp::kMin, mine, total - 1));
        writer_.bind(element_, i);
        for (Scalar load : loads_in(arena_, contents_))
            if (load.node().a == element_.id || Scalar{&arena_, load.node().a}.is_const())
                (void)writer_.emit(load);
        for (const uint32_t function : numbers) writer_.call(function);
        writer_.if_(mine < total);
        return i;
    }

    /// All of one element.
    void store_one(Expr at) {
        writer_.bind(element_, at);
        store_all(writer_, operand_, expressions_, group_.stores, {element_, {}}, element_);
    }

    /// Stores elements i to i + width - 1; the last ones of all one by one.
    void store_vector(Expr i, Expr total, bool is_looped) {
        const Dim count = group_.space.element_count();
        if (count.count % width_ != 0) {
            writer_.if_(i + width_ > total);
            store_one(writer_.for_("e", i, [&](Expr e) { return e < total; }));
            writer_.end();
            is_looped ? writer_.next_turn() : writer_.leave();
            writer_.end();
        }
        writer_.bind(first_, i);
        const std::vector<Known> known = load_ahead();
        std::vector<Expr> results;
        for (size_t s = 0; s < contents_.size(); ++s)
            results.push_back(
                writer_.declare_array("result" + std::to_string(s), contents_[s].type(), width_));
        const Expr lane = writer_.unrolled_for_("lane", width_);
        writer_.bind(element_, writer_.let("e", i + lane));
        for (const Known& k : known)
            writer_.define(k.load, k.is_vector ? body_.element(k.as, lane) : k.as);
        for (size_t s = 0; s < contents_.size(); ++s) {
            const Expr content = writer_.emit(contents_[s]);
            writer_.assign(body_.element(results[s], lane), content);
        }
        writer_.end();
        for (size_t s = 0; s < contents_.size(); ++s) store_result(group_.stores[s], i, results[s]);
    }

    /// A load that is done for all elements at once: what it is for each of them, or a vector of
    /// which each has one.
    struct Known {
        Scalar load;
        Expr as;
        bool is_vector = false;
    };

    std::vector<Known> load_ahead() {
        const IndexAnalysis analysis(arena_, element_, first_, width_);
        std::vector<Known> known;
        for (Scalar load : loads_in(arena_, contents_)) {
            const ScalarNode node = load.node();
            const Scalar index{&arena_, node.a};
            if (!analysis.is_of_element(index)) continue;
            const std::optional<int> step = analysis.step(index);
            if (step == 0)
                known.push_back({load, writer_.emit(analysis.at_first(load))});
            else if (step == 1 && analysis.is_aligned(index) && is_vector(node.bits))
                known.push_back({load, vector_load(node.bits, analysis.at_first(index)), true});
        }
        return known;
    }

    /// Whether so many elements of the buffer are 8 or 16 bytes of memory.
    bool is_vector(ValueId v) const {
        const uint32_t bytes = width_ * held_bytes(v);
        return held_bytes(v) > 1 && (bytes == 8 || bytes == 16);
    }

    Expr vector_load(ValueId v, Scalar index) {
        const std::string name = "words" + std::to_string(vectors_++);
        const uint32_t buffer = operand_(v);
        return writer_.load_vector(name, buffer, writer_.emit(index), width_);
    }

    void store_result(ValueId v, Expr i, Expr values) {
        if (is_vector(v)) return writer_.store_vector(operand_(v), i, values);
        for (uint32_t lane = 0; lane < width_; ++lane)
            writer_.store(operand_(v), i + lane, body_.element(values, body_.index(lane)));
    }

    const Graph& graph_;
    const Group& group_;
    const std::vector<bool>& inlined_;
    const LowerOptions& options_;
    Body& body_;
    KernelWriter::Operand operand_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    KernelWriter writer_;
    Scalar element_, first_;
    std::vector<Scalar> contents_;
    uint32_t width_ = 1;
    int vectors_ = 0;
};

}  // namespace

KernelPart elementwise_part(const KernelTask& task, Body& body, Expr workgroup) {
    return ElementwiseKernel(task.graph, task.group, task.inlined, task.options, body)
        .run(workgroup);
}

const KernelFamily kElementwiseFamily = {
    .name = "elementwise",
    .matches = [](const KernelTask& task) { return task.group.kind == GroupKind::kElementwise; },
    .write =
        [](const KernelTask& task, const KernelChoice&) {
            return kernel_of_part("elementwise", elementwise_part, task);
        }};

}  // namespace hearth
