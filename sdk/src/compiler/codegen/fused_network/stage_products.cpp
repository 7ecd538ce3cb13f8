// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Products of a fused network by weights in shared memory.  A thread works out tasks of some rows by
// four columns each.

#include "compiler/codegen/fused_network/stages.hpp"

#include <algorithm>

namespace hearth {

namespace {

Deal deal_product(const NetworkPlan& plan, int width) {
    constexpr int kMostRowsEach = 8;  // by four columns each
    int lines = 1;
    const int columns = ceil_div(width, 4);
    while (2 * lines <= kMostRowsEach && plan.tile_rows % (2 * lines) == 0 &&
           plan.tile_rows / (2 * lines) * columns >= plan.threads)
        lines *= 2;
    return Deal(plan.tile_rows, width, lines, plan.threads);
}

}  // namespace

DealtTask open_tasks(const NetworkFrame& frame, KernelWriter& to, const Deal& deal, Expr lane) {
    DealtTask dealt;
    dealt.round = to.unrolled_for_("round", deal.rounds);
    const Expr task = to.let("task", lane + dealt.round * frame.plan.threads);
    to.if_(task < deal.tasks);
    dealt.column = to.let("c", task % deal.columns);
    dealt.first_line = to.let("r0", task / deal.columns * deal.lines);
    return dealt;
}

void close_tasks(KernelWriter& to) {
    to.end();
    to.end();
}

SharedProductStage::SharedProductStage(NetworkFrame& frame, const NetworkStage& stage,
                                       RowWeightCopies& weights)
    : Stage(frame, stage),
      weights_(weights),
      weight_(frame.plan.weights[static_cast<size_t>(stage.weight)]),
      deal_(deal_product(frame.plan, weight_.outer)),
      in_chunks_(frame.plan.mode == RowWeights::kChunked),
      writer_(frame.writer()) {}

std::vector<Statement> SharedProductStage::write() {
    const Expr lane = frame_.let_lane(writer_, frame_.take_threads(deal_.tasks));
    const int count = deal_.rounds * deal_.lines;
    sums_ = writer_.declare_chunks("acc", Chunk::kFour, static_cast<uint32_t>(count));
    const Expr i = writer_.unrolled_for_("i", count);
    writer_.assign(frame_.body->element(sums_, i), frame_.four_zeros());
    writer_.end();
    if (in_chunks_) chunk_ = weights_.open_chunks(writer_, static_cast<size_t>(stage_.weight));
    multiply(open_tasks(frame_, writer_, deal_, lane));
    close_tasks(writer_);
    if (in_chunks_) writer_.end();
    store_results(lane);
    return writer_.take();
}

void SharedProductStage::multiply(const DealtTask& task) {
    Body& body = *frame_.body;
    const RowTile& x = frame_.plan.tiles[static_cast<size_t>(stage_.left)];
    const int quads = std::min(weight_.chunk, ceil_div(weight_.inner, 4) * 4) / 4;
    // The last chunk may be shorter than the others.
    const auto end = [&] {
        return weight_.is_whole()
                   ? frame_.index(quads)
                   : lesser(frame_.index(weight_.chunk / 4),
                            (frame_.index(ceil_div(weight_.inner, 4) * 4) - chunk_) / 4);
    };
    const Expr q = writer_.for_("q", frame_.index(0), [&](Expr next) { return next < end(); });
    const Expr rows = writer_.declare_chunks("x", Chunk::kFour, static_cast<uint32_t>(deal_.lines));
    Expr i = writer_.unrolled_for_("i", deal_.lines);
    Expr from = (task.first_line + i) * (x.stride / 4) + q + x.offset / 4;
    if (in_chunks_) from = from + chunk_ / 4;
    writer_.assign(body.element(rows, i), frame_.shared_four(from));
    writer_.end();
    const Expr t = writer_.unrolled_for_("t", 4);
    const int stride = weight_.stride / 4;
    const Expr of_weight = weight_.is_dot ? (task.column + t * deal_.columns) * stride + q
                                          : (frame_.index(4) * q + t) * stride + task.column;
    const Expr at = of_weight + weight_.offset / 4;
    const Expr w = writer_.let(
        "w", weight_.is_dot ? frame_.shared_four_or_anything(at) : frame_.shared_four(at));
    i = writer_.unrolled_for_("i", deal_.lines);
    const Expr sum = body.element(sums_, task.round * deal_.lines + i);
    const Expr row = body.element(rows, i);
    if (weight_.is_dot)
        writer_.accumulate(body.chunk_element(sum, t), body.dot(row, w));
    else
        writer_.assign(
            sum, body.multiply_add(body.fill(Chunk::kFour, body.chunk_element(row, t)), w, sum));
    for (int scope = 0; scope < 3; ++scope) writer_.end();
}

void SharedProductStage::store_results(Expr lane) {
    const DealtTask task = open_tasks(frame_, writer_, deal_, lane);
    NetworkScope scope(frame_, stage_);
    KernelWriter& writer = scope.writer;
    const Scalar sum = scope.arena.symbol(ScalarType::kF32);
    const Scalar inner = scope.arena.symbol(ScalarType::kI32);
    scope.expressions.define(stage_.node->outputs[0], sum);
    const bool is_padded = weight_.outer % 4 != 0;
    const Expr t = writer.unrolled_for_("t", 4);
    const Expr n = writer.let(
        "n", weight_.is_dot ? task.column + t * deal_.columns : frame_.index(4) * task.column + t);
    writer.bind(inner,
                is_padded ? writer.let("nn", lesser(n, frame_.index(weight_.outer - 1))) : n);
    const Expr i = writer.unrolled_for_("i", deal_.lines);
    scope.open_row(writer.let("r", task.first_line + i));
    const Expr four = frame_.body->element(sums_, task.round * deal_.lines + i);
    writer.bind(sum, writer.let("sum", frame_.body->chunk_element(four, t)));
    scope.store_row(stage_.group->stores, inner, n, is_padded ? n < weight_.outer : Expr{});
    writer.end();
    writer.end();
    writer_.append(writer.take());
    close_tasks(writer_);
}

}  // namespace hearth
