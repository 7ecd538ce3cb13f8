// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A GRU's window, or backpropagation through it, as a kernel of its own: each workgroup takes some sequences at a time.

#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/recurrent/gru_steps.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/operator_kernel.hpp"

#include <hearth/op/op_def.hpp>

namespace hearth {

namespace {

class GruKernel final : OperatorKernel, GruSteps {
  public:
    GruKernel(const KernelTask& task, const GruWalk& walk)
        : OperatorKernel(task), GruSteps(*body_, w_, walk) {}

    KernelDraft run() {
        const Shape& rows = graph_.values[node_.inputs[0]].shape;
        const int64_t tile = int64_t{walk_.sequences} * walk_.steps;
        pool_ = OperatorKernel::shared("pool", walk_.shared_floats());
        has_resets_ = node_.attrs.flag("resets");
        thread_ = w_.let("thread", body_->invocation());
        last_row_ = w_.let("last_row", count_of(rows[0], *body_) - 1);
        first_ = w_.for_(
            "first", body_->workgroup() * tile, [&](Expr at) { return last_row_ >= at; },
            body_->workgroups() * tile);
        count_ = w_.let("count", last_row_ + 1 - first_);
        write_steps();
        w_.end();

        KernelDraft kernel =
            finish(walk_.is_backward ? "gru_backward" : "gru_forward", walk_.threads);
        kernel.may_divide_inexactly = true;  // as in fused networks: steps wait for the gates
        const Dim windows{rows[0].count / walk_.steps, rows[0].is_batch};
        const auto sequences = static_cast<uint32_t>(walk_.sequences);
        const uint64_t most = uint64_t{options_.caps.max_compute_work_group_count_x} * sequences;
        kernel.grid[0] = {work_of(windows),
                          sequences * items_each(windows, options_.rows_capacity, most)};
        const auto capacity = static_cast<int64_t>(options_.rows_capacity);
        kernel.flops = static_cast<uint64_t>(6 * int64_t{walk_.hidden} * walk_.hidden *
                                             rows[0].resolve(capacity));
        return kernel;
    }

  private:
    using OperatorKernel::body_;

    void read(size_t input, std::initializer_list<Expr> place, Expr to, const Row&) override {
        Coords<Scalar> at;
        for (const Expr coordinate : place) at.axis.push_back(bound(coordinate));
        const Scalar value = expressions_.read(node_.inputs[input], {{}, at});
        w_.assign(to, w_.emit(arena_.convert(value, to.type())));
    }
    void store(size_t output, Expr content, Expr inner, const Row& row) override {
        Coords<Scalar> at;
        for (const Expr coordinate : {row.in_whole, inner}) at.axis.push_back(bound(coordinate));
        const ValueId value = node_.outputs[output];
        access_.store(w_, node_, value, access_.store_place(node_, value, at, 0), content);
    }
    bool asks_for(size_t) const override { return true; }
    Expr load_from_memory(size_t input, Expr element) override {
        return w_.emit(expressions_.read(node_.inputs[input], {bound(element), {}}));
    }
    void store_in_memory(size_t output, Expr element, Expr content) override {
        const Scalar at = bound(element);
        access_.store(w_, node_, node_.outputs[output], {at, {}}, content);
    }
    Expr shared(Expr i) const override { return body_->element(pool_, i); }
    void put_shared(Expr i, Expr value) override { w_.assign(body_->element(pool_, i), value); }

    Expr pool_;
};

}  // namespace

const KernelFamily kGruFamily = {.name = "gru",
                                 .matches =
                                     [](const KernelTask& task) {
                                         return task.group.kind == GroupKind::kCustom &&
                                                task.node().op->traits.walk != WindowWalk::kNone;
                                     },
                                 .write =
                                     [](const KernelTask& task, const KernelChoice&) {
                                         const auto walk = GruWalk::of_kernel(
                                             task.graph, task.node(), task.options.caps,
                                             task.options.rows_capacity);
                                         return GruKernel(task, *walk).run();
                                     }};

}  // namespace hearth
