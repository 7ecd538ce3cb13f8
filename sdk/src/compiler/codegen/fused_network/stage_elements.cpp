// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of a fused network that copy rows, compute element by element, or reduce within a row.

#include "compiler/codegen/fused_network/stages.hpp"
#include "compiler/codegen/fused_network/vec8.hpp"
#include "compiler/codegen/shared/fold.hpp"

#include <algorithm>

namespace hearth {

namespace {

/// The same, eight neighbours at a time.
std::vector<Statement> write_eights(NetworkFrame& frame, const NetworkStage& stage,
                                    std::span<const ValueId> values, int width, int padded) {
    EightScope scope(frame, stage);
    KernelWriter& writer = scope.writer;
    const int eights = ceil_div(padded, 8), count = frame.plan.tile_rows * eights;
    const Expr lane = frame.let_lane(writer, frame.take_threads(count));
    const Expr e = writer.for_(
        "e", lane, [&](Expr next) { return next < count; }, frame.index(frame.plan.threads));
    const Expr r = writer.let("r", e / eights), first = writer.let("n0", e % eights * 8);
    scope.open_row(r);
    scope.store_eight(values, first, width);
    writer.end();
    return writer.take();
}

/// Works out elements of each row of the tile, `width` of them and, where products read them, zeros
/// up to `padded`.
std::vector<Statement> write_elements(NetworkFrame& frame, const NetworkStage& stage,
                                      std::span<const ValueId> values, int width, int padded) {
    if (std::any_of(values.begin(), values.end(),
                    [&](ValueId v) { return is_half_tile(frame.plan, v); }))
        return write_eights(frame, stage, values, width, padded);
    NetworkScope scope(frame, stage);
    KernelWriter& writer = scope.writer;
    const int count = frame.plan.tile_rows * padded;
    const Expr lane = frame.let_lane(writer, frame.take_threads(count));
    const NetworkFrame::Tasks tasks = frame.each_task(writer, lane, count);
    const Expr r = writer.let("r", tasks.task / padded), j = writer.let("j", tasks.task % padded);
    scope.open_row(r);
    const Scalar inner = scope.arena.symbol(ScalarType::kI32);
    if (padded == width) {
        writer.bind(inner, j);
        scope.store_row(values, inner, j);
    } else {
        writer.bind(inner, writer.let("jj", lesser(j, frame.index(width - 1))));
        scope.store_row(values, inner, j, j < width);
    }
    NetworkFrame::close(writer, tasks);
    return writer.take();
}

/// Rows of f16 as they lie in their buffer.
std::vector<Statement> copy_eights(NetworkFrame& frame, const RowTile& tile) {
    KernelWriter writer = frame.writer();
    Body& body = *frame.body;
    const int eights = tile.padded() / 8, inside = tile.width / 8;
    const int count = frame.plan.tile_rows * eights;
    const Expr lane = frame.let_lane(writer, frame.take_threads(count));
    const Expr e = writer.for_(
        "e", lane, [&](Expr next) { return next < count; }, frame.index(frame.plan.threads));
    const Expr r = writer.let("r", e / eights), q = writer.let("q", e % eights);
    const Expr is_there =
        inside < eights ? logical_and(r < frame.count, q < inside) : r < frame.count;
    const Expr halves = body.load_chunk_at(Chunk::kHalves, frame.buffer(tile.value),
                                           (frame.first + r) * inside + q);
    writer.assign(
        frame.shared_quad(r * (tile.stride / 4) + q + tile.offset / 4),
        body.reinterpret(select(is_there, halves, body.fill(Chunk::kHalves, frame.zero()))));
    writer.end();
    return writer.take();
}

/// Rows as they lie in their buffer.
std::vector<Statement> copy_fours(NetworkFrame& frame, const RowTile& tile) {
    KernelWriter writer = frame.writer();
    const int quads = tile.width / 4, count = frame.plan.tile_rows * quads;
    const Expr lane = frame.let_lane(writer, frame.take_threads(count));
    const NetworkFrame::Tasks tasks = frame.each_task(writer, lane, count);
    const Expr e = tasks.task;
    const Expr row = lesser(frame.first + e / quads, frame.last_row);
    writer.assign(
        frame.shared_four(e / quads * (tile.stride / 4) + e % quads + frame.index(tile.offset / 4)),
        frame.load_four(tile.value, row * quads + e % quads));
    NetworkFrame::close(writer, tasks);
    return writer.take();
}

}  // namespace

std::vector<Statement> FillStage::write() {
    const RowTile& tile = frame_.plan.tiles[static_cast<size_t>(stage_.left)];
    if (tile.is_half() && frame_.is_plain_half(tile.value) && tile.width % 8 == 0)
        return copy_eights(frame_, tile);
    if (!frame_.has_matrices() && frame_.is_plain(tile.value) && tile.width % 4 == 0)
        return copy_fours(frame_, tile);
    return write_elements(frame_, stage_, {{tile.value}}, tile.width, tile.padded());
}

std::vector<Statement> MapStage::write() {
    int width = 0, padded = 0;
    for (ValueId v : stage_.group->stores) {
        width = frame_.row_width(v);
        if (const RowTile* tile = frame_.plan.tile_for(v))
            padded = std::max(padded, tile->padded());
    }
    return write_elements(frame_, stage_, stage_.group->stores, width, std::max(padded, width));
}

// -------------------------------------------------------------------------------- reductions

ReductionStage::ReductionStage(NetworkFrame& frame, const NetworkStage& stage)
    : Stage(frame, stage), scope_(frame, stage) {
    const Group& group = *stage.group;
    for (int i = 1; i < group.space.rank(); ++i) {
        const bool is_reduced =
            std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
        (is_reduced ? reduced_ : outer_).push_back(group.space[i]);
    }
    outer_count_ = static_cast<int>(outer_.element_count().count);
    length_ = static_cast<int>(reduced_.element_count().count);
}

std::vector<Statement> ReductionStage::write() {
    constexpr int kMostLanes = 32;
    KernelWriter& writer = scope_.writer;
    const int tasks = frame_.plan.tile_rows * outer_count_, threads = frame_.plan.threads;
    while (lanes_ < kMostLanes && 4 * lanes_ <= length_ && 2 * lanes_ * tasks <= threads)
        lanes_ *= 2;
    const Expr base = writer.for_(
        "base", frame_.index(0), [&](Expr b) { return b < tasks; }, frame_.index(threads / lanes_));
    const Expr own = base + frame_.thread / lanes_;
    const Expr task = writer.let("task", lesser(own, frame_.index(tasks - 1)));
    sub_ = writer.let("sub", frame_.thread % lanes_);
    is_mine_ = writer.let("is_mine", own < tasks);
    in_tile_ = writer.let("r", task / outer_count_);
    outer_name_ = writer.let("o", task % outer_count_);
    scope_.open_row(in_tile_);
    outer_index_ = scope_.arena.symbol(ScalarType::kI32);
    writer.bind(outer_index_, outer_name_);
    outer_at_ = coords_of(scope_.arena, {outer_index_, {}}, outer_);

    int reductions = 0;
    for (NodeId n : stage_.group->nodes) {
        const Node& node = frame_.graph.nodes[n];
        if (node.op->op_class != OpClass::kReduce) continue;
        const DType dtype = frame_.graph.value(node.outputs[0]).dtype;
        const ScalarType type = scalar_type(dtype);
        const Expr sum =
            writer.declare("sum" + std::to_string(reductions++), type,
                           frame_.body->constant(fold_start(node.op->reduce, dtype), type));
        const ScalarPlace place = open_line();
        const Expr element = writer.emit(scope_.expressions.read(node.inputs[0], place));
        writer.assign(sum, fold_step(node.op->reduce, sum, element));
        writer.end();
        if (lanes_ > 1) fold_lanes(node.op->reduce, sum);
        const Scalar result = scope_.arena.symbol(type);
        writer.bind(result, sum);
        scope_.expressions.define(node.outputs[0], result);
    }
    store_results();
    writer.end();
    return writer.take();
}

/// Opens a thread's turns over the elements that are reduced, and gives the place of one.
ScalarPlace ReductionStage::open_line() {
    const Group& group = *stage_.group;
    const Scalar k = scope_.arena.symbol(ScalarType::kI32);
    scope_.writer.bind(
        k, scope_.writer.for_(
               "k", sub_, [&](Expr next) { return next < length_; }, frame_.index(lanes_)));
    const Coords<Scalar> inner_at = coords_of(scope_.arena, {k, {}}, reduced_);
    ScalarPlace place;
    place.coords.emplace();
    place.coords->axis.push_back(scope_.row);
    int next_outer = 0, next_inner = 0;
    for (int i = 1; i < group.space.rank(); ++i) {
        const bool is_reduced =
            std::find(group.axes.begin(), group.axes.end(), i) != group.axes.end();
        place.coords->axis.push_back(is_reduced ? inner_at[next_inner++] : outer_at_[next_outer++]);
    }
    return place;
}

/// Folds the numbers of neighbouring threads and gives each of them the result.
void ReductionStage::fold_lanes(ReduceOp fold, Expr sum) {
    KernelWriter& writer = scope_.writer;
    const Expr own = frame_.index(frame_.plan.scratch_offset) + frame_.thread;
    frame_.put_shared(writer, own, sum);
    writer.barrier();
    for (int width = lanes_ / 2; width > 0; width /= 2) {
        writer.if_(sub_ < width);
        frame_.put_shared(writer, own,
                          fold_step(fold, frame_.shared(own, sum.type()),
                                    frame_.shared(own + width, sum.type())));
        writer.end();
        writer.barrier();
    }
    writer.assign(sum, frame_.shared(own - sub_, sum.type()));
    writer.barrier();
}

void ReductionStage::store_results() {
    std::vector<ValueId> full, single;
    for (ValueId v : stage_.group->stores)
        (frame_.row_width(v) == outer_count_ ? single : full).push_back(v);
    KernelWriter& writer = scope_.writer;
    if (!full.empty()) {
        const ScalarPlace place = open_line();
        Coords<Scalar> rest;
        for (int i = 1; i < place.coords->rank(); ++i) rest.axis.push_back((*place.coords)[i]);
        const Scalar inner = linear_of(scope_.arena, {{}, rest}, without_rows(stage_.group->space));
        std::vector<Expr> contents;
        for (ValueId v : full) contents.push_back(writer.emit(scope_.expressions.read(v, place)));
        const Expr at = writer.let("at", writer.emit(inner));
        writer.if_(is_mine_);
        for (size_t i = 0; i < full.size(); ++i) scope_.store(full[i], contents[i], at);
        writer.end();
        writer.end();
        for (ValueId v : full)
            put_zeros_behind(v, logical_and(logical_and(is_mine_, sub_ == 0), outer_name_ == 0));
    }
    if (single.empty()) return;
    writer.if_(logical_and(is_mine_, sub_ == 0));
    scope_.store_row(single, outer_index_, outer_name_);
    for (ValueId v : single) put_zeros_behind(v, outer_name_ == 0);
    writer.end();
}

/// What is read four at a time has zeros behind it.
void ReductionStage::put_zeros_behind(ValueId v, Expr condition) {
    const RowTile* tile = frame_.plan.tile_for(v);
    if (tile == nullptr || tile->padded() == tile->width) return;
    KernelWriter& writer = scope_.writer;
    writer.if_(condition);
    const Expr k = writer.for_("k", frame_.index(tile->width),
                               [&](Expr next) { return next < tile->padded(); });
    frame_.put_shared(writer, in_tile_ * tile->stride + k + tile->offset, frame_.zero());
    writer.end();
    writer.end();
}

}  // namespace hearth
