// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Products of a fused network of few rows.  A thread holds the weights of a column, or of a slice of
// it, in registers, where they come straight from their buffer some levels ahead, and multiplies all
// of the tile's rows by them.  Slices' sums are added up behind a barrier, by the threads that then
// have an element each of the result.

#include "compiler/codegen/fused_network/stages.hpp"

namespace hearth {

RegisterProductStage::RegisterProductStage(NetworkFrame& frame, const NetworkStage& stage,
                                           const RowWeightCopies& weights)
    : Stage(frame, stage),
      weights_(weights),
      weight_(frame.plan.weights[static_cast<size_t>(stage.weight)]),
      scope_(frame, stage),
      sum_(scope_.arena.symbol(ScalarType::kF32)),
      inner_(scope_.arena.symbol(ScalarType::kI32)) {
    scope_.expressions.define(stage.node->outputs[0], sum_);
}

void RegisterProductStage::prepare(KernelWriter& to) {
    Body& body = *frame_.body;
    const RowTile& x = frame_.plan.tiles[static_cast<size_t>(stage_.left)];
    const int rows = frame_.plan.tile_rows, tasks = weight_.outer * weight_.slices;
    const int count = ceil_div(tasks, frame_.plan.threads) * rows;
    const std::string number = std::to_string(stage_.weight);
    sums_ = to.declare_array("acc" + number, ScalarType::kF32, static_cast<uint32_t>(count));
    const Expr i = to.unrolled_for_("i", count);
    to.assign(body.element(sums_, i), frame_.zero());
    to.end();
    const HeldTurn turn = open_held(frame_, to, weight_);
    const Expr w =
        to.let("w", body.element(weights_.held(static_cast<size_t>(stage_.weight)), turn.place));
    const auto sum_of = [&](Expr r) { return body.element(sums_, turn.round * rows + r); };
    Expr r = to.unrolled_for_("r", rows);
    to.accumulate(sum_of(r),
                  body.dot(frame_.shared_four(r * (x.stride / 4) + turn.quad + x.offset / 4), w));
    to.end();
    for (int scope = 0; scope < turn.scopes; ++scope) to.end();
    if (weight_.slices > 1) {
        to.if_(turn.task < tasks);
        r = to.unrolled_for_("r", rows);
        frame_.put_shared(to, r * tasks + turn.task + weight_.offset, sum_of(r));
        to.end();
        to.end();
    }
    to.end();
}

std::vector<Statement> RegisterProductStage::write() {
    if (weight_.slices > 1)
        store_sums_of_slices();
    else
        store_own();
    return scope_.writer.take();
}

/// Names column "n" of the result as expressions call it.
void RegisterProductStage::bind_column(Expr n) {
    const bool is_padded = weight_.outer % 4 != 0;
    if (is_padded) inside_ = n < weight_.outer;
    column_ = is_padded ? scope_.writer.let("nn", lesser(n, frame_.index(weight_.outer - 1))) : n;
    scope_.writer.bind(inner_, column_);
}

/// Each thread has whole columns.
void RegisterProductStage::store_own() {
    KernelWriter& writer = scope_.writer;
    const int padded = weight_.padded_outer(), threads = frame_.plan.threads;
    const int rows = frame_.plan.tile_rows;
    const Expr round = writer.unrolled_for_("round", ceil_div(padded, threads));
    const Expr n = writer.let("n", frame_.thread + round * threads);
    const bool is_guarded = padded % threads != 0;
    if (is_guarded) writer.if_(n < padded);
    bind_column(n);
    const Expr r = writer.unrolled_for_("r", rows);
    scope_.open_row(r);
    writer.bind(sum_, writer.let("sum", frame_.body->element(sums_, round * rows + r)));
    scope_.store_row(stage_.group->stores, inner_, n, inside_);
    writer.end();
    if (is_guarded) writer.end();
    writer.end();
}

void RegisterProductStage::store_sums_of_slices() {
    KernelWriter& writer = scope_.writer;
    Body& body = *frame_.body;
    const int padded = weight_.padded_outer(), threads = frame_.plan.threads;
    const int tasks = frame_.plan.tile_rows * padded;
    const Expr lane = frame_.let_lane(writer, frame_.take_threads(tasks));
    const Expr round = writer.unrolled_for_("round", ceil_div(tasks, threads));
    const Expr e = writer.let("e", lane + round * threads);
    const bool is_guarded = tasks % threads != 0;
    if (is_guarded) writer.if_(e < tasks);
    const Expr r = writer.let("r", e / padded), n = writer.let("n", e % padded);
    bind_column(n);
    scope_.open_row(r);
    const Expr from = (r * weight_.outer + column_) * weight_.slices + weight_.offset;
    if (weight_.slices % 4 == 0) {
        const Expr quad = from >> 2;
        const Expr four = writer.declare_chunk("four", Chunk::kFour, frame_.shared_four(quad));
        for (int s = 4; s < weight_.slices; s += 4)
            writer.accumulate(four, frame_.shared_four(quad + s / 4));
        const auto at = [&](int i) { return body.chunk_element(four, frame_.index(i)); };
        writer.bind(sum_, writer.let("sum", (at(0) + at(1)) + (at(2) + at(3))));
    } else {
        writer.bind(sum_, writer.let("sum", frame_.shared(from) + frame_.shared(from + 1)));
    }
    scope_.store_row(stage_.group->stores, inner_, n, inside_);
    if (is_guarded) writer.end();
    writer.end();
}

}  // namespace hearth
