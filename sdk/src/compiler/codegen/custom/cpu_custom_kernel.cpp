// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Custom kernels for CPUs, as bodies, of operators that have no decomposition, or none that costs as little.  A
// workgroup is one invocation.  In scans and sorts it goes along one line: the elements along an axis.  Where rows are
// written in place it takes some of them, and of boxes those of one class.

#include "compiler/codegen/custom/custom_kernel.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/cpu_kernel.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/group_access.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <functional>
#include <string_view>

namespace hearth {

namespace {

class CpuCustomKernel : CpuKernel {
  public:
    CpuCustomKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                    const LowerOptions& options)
        : CpuKernel(graph, group, inlined, options, OpClass::kKernel) {}

    using Write = void (CpuCustomKernel::*)();
    /// What writes the operator's statements, or null.
    static Write writer_of(std::string_view op) {
        if (op == "write_rows") return &CpuCustomKernel::write_rows;
        if (op == "nms") return &CpuCustomKernel::suppress;
        return nullptr;
    }

    KernelDraft run() {
        (this->*writer_of(node_.op->name))();
        KernelDraft kernel;
        kernel.name = node_.op->name;
        body_->statements = writer_.take();
        set_body(kernel, body_);
        kernel.is_elementwise.assign(kernel.buffers.values.size(), false);
        kernel.grid[0] = grid_;
        if (!node_.op->writes_in_place)
            kernel.flops = flops_of(graph_, group_, shape(0), options_.rows_capacity);
        return kernel;
    }

  private:
    ScalarType type(size_t input) const {
        return scalar_type(graph_.values[node_.inputs[input]].dtype);
    }

    /// Of the type of input 0, a float.
    Expr number(double value) const { return body_->constant(value, type(0)); }
    Expr index_in(size_t input, Expr from) {
        return body_->as(ScalarType::kI32, in_at(input, from));
    }

    /// A name that no other local has.
    std::string fresh(const char* name) { return name + std::to_string(names_++); }

    /// The input's element.
    Expr in_at(size_t input, Expr from) {
        const Scalar element = arena_.symbol(ScalarType::kI32);
        writer_.bind(element, writer_.let(fresh("from"), from));
        return writer_.emit(expressions_.read(node_.inputs[input], {element, {}}));
    }

    /// Stores what follows from the output's element.
    void out_at(Expr to, Expr value) {
        const Scalar element = arena_.symbol(ScalarType::kI32);
        const ScalarType type = scalar_type(graph_.values[node_.outputs[0]].dtype);
        const Scalar content = arena_.symbol(type);
        writer_.bind(element, writer_.let(fresh("to"), to));
        writer_.bind(content, writer_.let(fresh("content"), body_->as(type, value)));
        expressions_.define(node_.outputs[0], content);
        store_all(writer_, operand_, expressions_, group_.stores, {element, {}}, element);
    }

    // ------------------------------------------------------------------------ rows in place

    /// The output lies where input 0 does; of several rows for one place the last one stays.
    void write_rows() {
        constexpr int64_t kElementsEach = 1024;  // of a workgroup: what makes up for calling it
        const int64_t width =
            std::max<int64_t>(shape(2).element_count(1) / shape(1).element_count(1), 1);
        const int64_t places = shape(0).element_count(1) / width;
        const Dim count = shape(1)[0];
        // Rows that may meet at a place are for one workgroup, which takes them in their order.
        const bool are_distinct = node_.attrs.flag("distinct");
        const int64_t each = std::max<int64_t>(kElementsEach / width, 1);
        grid_ = are_distinct ? GridAxis{work_of(count), static_cast<uint32_t>(each)}
                             : GridAxis{work_of(Dim(1)), 1};
        const Expr rows = writer_.let("row_count", count_of(count, *body_));
        const Expr first =
            are_distinct ? writer_.let("first", body_->workgroup() * each) : index(0);
        const Expr end = are_distinct ? writer_.let("end", smaller(first + each, rows)) : rows;
        const Expr row = writer_.for_("row", first, [&](Expr at) { return at < end; });
        const Expr place = writer_.let("place", index_in(1, row));
        writer_.if_(logical_and(place >= index(0), place < places));
        const Expr e = writer_.for_("e", index(0), [&](Expr at) { return at < width; });
        out_at(place * width + e, in_at(2, row * width + e));
        writer_.end();
        writer_.end();
        writer_.end();
    }

    // ------------------------------------------------------------------------ boxes

    /// Corners of a box along both axes.
    struct Box {
        Expr low[2], high[2];
    };

    /// boxes: where the line's begin.
    Box box_at(Expr boxes, Expr box) {
        const Expr at = writer_.let(fresh("at"), (boxes + box) * 4);
        Box corners;
        for (int axis = 0; axis < 2; ++axis) {
            const Expr a = in_at(0, at + axis), b = in_at(0, at + (axis + 2));
            const bool is_centered = node_.attrs.flag("centered");
            const Expr half = b * number(0.5);
            const Expr low = is_centered ? a - half : smaller(a, b);
            const Expr high = is_centered ? a + half : larger(a, b);
            corners.low[axis] = writer_.let(fresh("low"), low);
            corners.high[axis] = writer_.let(fresh("high"), high);
        }
        return corners;
    }

    Expr overlaps(const Box& a, const Box& b) {
        const auto area = [](const Box& box) {
            return (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
        };
        Expr common[2];
        for (int axis = 0; axis < 2; ++axis)
            common[axis] = larger(
                smaller(a.high[axis], b.high[axis]) - larger(a.low[axis], b.low[axis]), number(0));
        const Expr both_of = writer_.let("both_of", common[0] * common[1]);
        const Expr all = writer_.let("all", area(a) + area(b) - both_of);
        return logical_and(all > number(0), both_of / all > number(node_.attrs.real("overlap")));
    }

    /// A workgroup for each batch element and class: each round takes the best box that is left, and drops those
    /// that overlap it.
    void suppress() {
        const int64_t boxes = shape(0)[1].count, count = node_.attrs.integer("count");
        const int64_t classes = shape(1)[1].count;
        grid_ = {work_of(Shape{shape(1)[0], shape(1)[1]}.element_count()), 1};
        const Expr line = writer_.let("line", body_->workgroup());
        const Expr scores = writer_.let("scores", line * boxes);
        const Expr first = writer_.let("first", line / classes * boxes);
        const Expr is_left =
            writer_.declare_array("is_left", ScalarType::kI32, static_cast<uint32_t>(boxes));
        const auto each = [&](const char* name) {
            return writer_.for_(name, index(0), [&](Expr at) { return at < boxes; });
        };
        const Expr place = each("place");
        Expr counts = index(1);
        if (node_.attrs.flag("has_score"))
            counts = select(in_at(1, scores + place) > number(node_.attrs.real("score")), index(1),
                            index(0));
        writer_.assign(body_->element(is_left, place), counts);
        writer_.end();
        const Expr kept = writer_.for_("kept", index(0), [&](Expr at) { return at < count; });
        const Expr best = writer_.declare("best", ScalarType::kI32, index(-1));
        const Expr score = writer_.declare("score", type(0), number(0));
        const Expr box = each("box");
        const Expr own = in_at(1, scores + box);
        const Expr is_better = writer_.let(
            "is_better",
            logical_and(body_->element(is_left, box) == 1, logical_or(best<index(0), own> score)));
        writer_.assign(score, select(is_better, own, score));
        writer_.assign(best, select(is_better, box, best));
        writer_.end();
        out_at(line * count + kept, best);
        writer_.if_(best >= index(0));
        const Box chosen = box_at(first, best);
        const Expr other = each("other");
        const Expr is_dropped = writer_.let(
            "is_dropped", logical_or(other == best, overlaps(box_at(first, other), chosen)));
        writer_.assign(body_->element(is_left, other),
                       select(is_dropped, index(0), body_->element(is_left, other)));
        writer_.end();
        writer_.end();
        writer_.end();
    }

    GridAxis grid_;
    int names_ = 0;
};

}  // namespace

bool has_cpu_kernel(const OpDef& op) {
    return CpuCustomKernel::writer_of(op.name) != nullptr;
}

KernelDraft cpu_custom_kernel(const KernelTask& task) {
    return CpuCustomKernel(task.graph, task.group, task.inlined, task.options).run();
}

}  // namespace hearth
