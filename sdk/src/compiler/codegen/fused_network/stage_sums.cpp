// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of a fused network that sum over rows: weight gradients, bias gradients, losses.

#include "compiler/codegen/fused_network/stages.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <bit>

namespace hearth {

Deal deal_gradient(const NetworkPlan& plan, const NetworkStage& stage) {
    constexpr int kMostLines = 16;
    const int lines = plan.tiles[static_cast<size_t>(stage.left)].width;
    const int width = plan.tiles[static_cast<size_t>(stage.right)].width;
    int each = 4;
    while (each < kMostLines && ceil_div(lines, each) * ceil_div(width, 4) > plan.threads)
        each *= 2;
    return Deal(lines, width, each, plan.threads);
}

bool keeps_gradients(const NetworkPlan& plan, const DeviceCaps& caps) {
    int floats = 0;
    for (const NetworkStage& stage : plan.stages) {
        if (stage.kind != NetworkStageKind::kGradient) continue;
        const Deal deal = deal_gradient(plan, stage);
        floats += deal.rounds * deal.lines * 4;
    }
    return !plan.is_single && floats <= most_kept_floats(device_model(caps).registers);
}

// -------------------------------------------------------------------------- weight gradients

GradientStage::GradientStage(NetworkFrame& frame, const NetworkStage& stage)
    : Stage(frame, stage),
      left_(frame.plan.tiles[static_cast<size_t>(stage.left)]),
      right_(frame.plan.tiles[static_cast<size_t>(stage.right)]),
      deal_(deal_gradient(frame.plan, stage)) {}

std::vector<Statement> GradientStage::write() {
    Body& body = *frame_.body;
    KernelWriter writer = frame_.writer();
    const int first_thread = frame_.take_threads(deal_.tasks);
    const Expr lane = frame_.let_lane(writer, first_thread);
    const bool keeps = frame_.keeps_gradients;
    KernelWriter& home = keeps ? frame_.declarations : writer;
    const int count = deal_.rounds * deal_.lines;
    sums_ = home.declare_chunks(keeps ? numbered("kept", stage_.node->outputs[0]) : "acc",
                                Chunk::kFour, static_cast<uint32_t>(count));
    const Expr i = home.unrolled_for_("i", count);
    home.assign(body.element(sums_, i), frame_.four_zeros());
    home.end();

    const DealtTask task = open_tasks(frame_, writer, deal_, lane);
    const Expr r =
        writer.for_("r", frame_.index(0), [&](Expr next) { return next < frame_.count; });
    const Expr right = writer.let(
        "right", frame_.shared_four(r * (right_.stride / 4) + task.column + right_.offset / 4));
    const Expr q = writer.unrolled_for_("q", deal_.lines / 4);
    const Expr line = lesser(task.first_line / 4 + q, frame_.index(ceil_div(left_.width, 4) - 1));
    const Expr left =
        writer.let("left", frame_.shared_four(r * (left_.stride / 4) + line + left_.offset / 4));
    const Expr t = writer.unrolled_for_("t", 4);
    const Expr sum = body.element(sums_, task.round * deal_.lines + frame_.index(4) * q + t);
    writer.assign(
        sum, body.multiply_add(body.fill(Chunk::kFour, body.chunk_element(left, t)), right, sum));
    for (int scope = 0; scope < 3; ++scope) writer.end();
    close_tasks(writer);

    if (!keeps) {
        store_sums(writer, lane);
        return writer.take();
    }
    frame_.ends.block();
    store_sums(frame_.ends, frame_.let_lane(frame_.ends, first_thread));
    frame_.ends.end();
    return writer.take();
}

void GradientStage::store_sums(KernelWriter& to, Expr lane) {
    Body& body = *frame_.body;
    const ValueId v = stage_.node->outputs[0];
    const uint32_t buffer = frame_.buffer(v);
    frame_.note_store(v);
    const int lines = left_.width, width = right_.width;
    const bool adds = !frame_.plan.is_single && !frame_.keeps_gradients;
    const DealtTask task = open_tasks(frame_, to, deal_, lane);
    const Expr i = to.unrolled_for_("i", deal_.lines);
    const Expr m = to.let("m", task.first_line + i);
    to.if_(m < lines);
    const Expr sum =
        to.declare_chunk("sum", Chunk::kFour, body.element(sums_, task.round * deal_.lines + i));
    const Expr line = frame_.group * lines + m;
    if (width % 4 == 0) {
        const Expr at = line * (width / 4) + task.column;
        if (adds) {
            to.if_(frame_.first != frame_.begin);
            to.accumulate(sum, body.load_chunk_at(Chunk::kFour, buffer, at));
            to.end();
        }
        to.store_chunk(buffer, at, sum);
    } else {
        const Expr t = to.unrolled_for_("t", 4);
        const Expr column = frame_.index(4) * task.column;
        to.if_(column + t < width);
        const Expr at = line * width + column + t, own = body.chunk_element(sum, t);
        to.store(
            buffer, at,
            adds ? select(frame_.first != frame_.begin, body.load(buffer, at) + own, own) : own);
        to.end();
        to.end();
    }
    to.end();
    to.end();
    close_tasks(to);
    if (adds) frame_.store_zeros_without_rows(buffer, lines * width);
}

// --------------------------------------------------------------------------------- other sums

RowSumStage::RowSumStage(NetworkFrame& frame, const NetworkStage& stage)
    : Stage(frame, stage), scope_(frame, stage), sum_(stage.node->outputs[0]) {
    constexpr int kFewTerms = 64;
    const Shape& in = frame.graph.value(stage.node->inputs[0]).shape;
    const std::vector<int64_t>& axes = stage.node->attrs.integers("axes");
    for (int i = 1; i < in.rank(); ++i) {
        const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
        (is_reduced ? reduced_ : kept_).push_back(in[i]);
    }
    const NetworkPlan& plan = frame.plan;
    columns_ = static_cast<int>(kept_.element_count().count);
    length_ = static_cast<int>(reduced_.element_count().count);
    rounds_ = ceil_div(columns_, plan.threads);
    is_alone_ = frame.holds_weights() && plan.is_single && plan.tile_rows * length_ <= kFewTerms;
    is_single_ = columns_ == 1 && !is_alone_;
    // Rows are dealt to as many threads as there are, in turns.
    while (!is_alone_ && columns_ > 1 && 2 * slices_ * columns_ <= plan.threads &&
           2 * slices_ <= plan.tile_rows)
        slices_ *= 2;
}

std::vector<Statement> RowSumStage::write() {
    Body& body = *frame_.body;
    KernelWriter& writer = scope_.writer;
    const NetworkFrame::Kept kept = frame_.keep(sum_, [&] {
        KernelWriter& home = frame_.declarations;
        const Expr totals = home.declare_array(numbered("total", sum_), ScalarType::kF32,
                                               static_cast<uint32_t>(rounds_));
        const Expr i = home.unrolled_for_("i", rounds_);
        home.assign(body.element(totals, i), frame_.zero());
        home.end();
        return totals;
    });
    totals_ = kept.sums;

    const Scalar column = scope_.arena.symbol(ScalarType::kI32);
    const Scalar k = scope_.arena.symbol(ScalarType::kI32);
    const int first_thread =
        frame_.take_threads(is_single_ ? frame_.plan.threads : columns_ * slices_);
    const int scopes = open_terms(frame_.let_lane(writer, first_thread));
    scope_.open_row(in_tile_);
    writer.bind(column, column_);
    writer.bind(k, term_);
    const Coords<Scalar> kept_at = coords_of(scope_.arena, {column, {}}, kept_);
    const Coords<Scalar> reduced_at = coords_of(scope_.arena, {k, {}}, reduced_);
    const ValueId in = stage_.node->inputs[0];
    const std::vector<int64_t>& axes = stage_.node->attrs.integers("axes");
    ScalarPlace place;
    place.coords.emplace();
    place.coords->axis.push_back(scope_.row);
    int next_kept = 0, next_reduced = 0;
    for (int axis = 1; axis < frame_.graph.value(in).shape.rank(); ++axis) {
        const bool is_reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
        place.coords->axis.push_back(is_reduced ? reduced_at[next_reduced++]
                                                : kept_at[next_kept++]);
    }
    const Expr term = writer.emit(scope_.expressions.read(in, place));
    writer.accumulate(body.element(totals_, round_),
                      is_alone_ ? select(in_tile_ < frame_.count, term, frame_.zero()) : term);
    for (int scope = 0; scope < scopes; ++scope) writer.end();
    if (!kept.is_new) return writer.take();
    frame_.note_store(sum_);
    if (slices_ > 1)
        store_slices(first_thread);
    else if (is_single_)
        store_total(frame_, sum_, totals_);
    else
        store_columns(first_thread);
    return writer.take();
}

int RowSumStage::open_terms(Expr lane) {
    KernelWriter& writer = scope_.writer;
    const int threads = frame_.plan.threads;
    const auto each = [&](const char* name, Expr first, Expr end, Expr amount = {}) {
        return writer.for_(
            name, first, [&](Expr next) { return next < end; }, amount);
    };
    if (is_single_) {
        const Expr e = each("e", lane, frame_.count * length_, frame_.index(threads));
        in_tile_ = writer.let("r", e / length_);
        term_ = writer.let("k", e % length_);
        column_ = writer.let("column", frame_.index(0));
        round_ = writer.let("round", frame_.index(0));
        return 1;
    }
    round_ = writer.unrolled_for_("round", rounds_);
    column_ = writer.let("column", slices_ > 1 ? lane % columns_ : lane + round_ * threads);
    const Expr slice = writer.let("slice", slices_ > 1 ? lane / columns_ : frame_.index(0));
    writer.if_(slices_ > 1 ? slice < slices_ : column_ < columns_);
    in_tile_ = is_alone_ ? writer.unrolled_for_("r", frame_.plan.tile_rows)
                         : each("r", slice, frame_.count, frame_.index(slices_));
    term_ = each("k", frame_.index(0), frame_.index(length_));
    return 4;
}

void store_total(NetworkFrame& frame, ValueId v, Expr totals) {
    KernelWriter& ends = frame.ends;
    const int top = frame.plan.threads;
    HEARTH_ASSERT(std::has_single_bit(static_cast<uint32_t>(top)));
    const Expr scratch = frame.index(frame.plan.scratch_offset), own = scratch + frame.thread;
    ends.barrier();
    frame.put_shared(ends, own, frame.body->element(totals, frame.index(0)));
    const Expr width = ends.for_(
        "width", frame.index(top / 2), [&](Expr w) { return w > 0; }, frame.index(2),
        ScalarOp::kDiv);
    ends.barrier();
    ends.if_(frame.thread < width);
    frame.put_shared(ends, own, frame.shared(own) + frame.shared(own + width));
    ends.end();
    ends.end();
    ends.if_(frame.thread == 0);
    ends.store(frame.buffer(v), frame.group, frame.shared(scratch));
    ends.end();
}

void RowSumStage::store_columns(int first_thread) {
    KernelWriter& ends = frame_.ends;
    ends.block();
    const Expr lane = frame_.let_lane(ends, first_thread);
    const Expr round = ends.unrolled_for_("round", rounds_);
    const Expr column = ends.let("column", lane + round * frame_.plan.threads);
    ends.if_(column < columns_);
    ends.store(frame_.buffer(sum_), frame_.group * columns_ + column,
               frame_.body->element(totals_, round));
    ends.end();
    ends.end();
    ends.end();
}

/// The sums of those who shared a column.
void RowSumStage::store_slices(int first_thread) {
    KernelWriter& ends = frame_.ends;
    ends.barrier();
    ends.block();
    const Expr lane = frame_.let_lane(ends, first_thread);
    const Expr own = frame_.index(frame_.plan.scratch_offset) + lane;
    frame_.put_shared(ends, own, frame_.body->element(totals_, frame_.index(0)));
    ends.barrier();
    ends.if_(lane < columns_);
    const Expr sum = ends.declare("sum", ScalarType::kF32, frame_.shared(own));
    const Expr s = ends.for_("s", frame_.index(1), [&](Expr next) { return next < slices_; });
    ends.accumulate(sum, frame_.shared(own + s * columns_));
    ends.end();
    ends.store(frame_.buffer(sum_), frame_.group * columns_ + lane, sum);
    ends.end();
    ends.end();
}

}  // namespace hearth
