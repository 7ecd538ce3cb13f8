// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Products and weight gradients of a fused network on matrix cores.

#include "compiler/codegen/fused_network/matrix_stages.hpp"
#include "compiler/codegen/fused_network/vec8.hpp"
#include "core/device_model.hpp"

#include <algorithm>

namespace hearth {

namespace {

int matrix_m(const NetworkFrame& frame) {
    return static_cast<int>(frame.body->matrix.m);
}
int matrix_n(const NetworkFrame& frame) {
    return static_cast<int>(frame.body->matrix.n);
}
int matrix_k(const NetworkFrame& frame) {
    return static_cast<int>(frame.body->matrix.k);
}
int subgroup_size(const NetworkFrame& frame) {
    return static_cast<int>(frame.body->subgroup_size);
}

}  // namespace

FragmentTasks::FragmentTasks(const NetworkFrame& frame, KernelWriter& to, const FragmentDeal& deal,
                             Expr own, const char* column_name, const char* line_name,
                             bool with_barriers)
    : to_(to),
      with_barriers_(with_barriers),
      may_lack_(deal.tasks % frame.plan.subgroups != 0),
      tasks_(deal.tasks) {
    round = to.unrolled_for_("round", ceil_div(deal.tasks, frame.plan.subgroups));
    task = to.let("task", own + round * frame.plan.subgroups);
    if (!with_barriers) open_own();
    column = to.let(column_name, task % deal.columns);
    line = to.let(line_name, task / deal.columns);
}

void FragmentTasks::close() {
    if (!with_barriers_) close_own();
    to_.end();
}

void FragmentTasks::open_own() {
    if (may_lack_)
        to_.if_(task < tasks_);
    else
        to_.block();
}

void FragmentTasks::close_own() {
    to_.end();
}

void SpreadSums::store(KernelWriter& to, FragmentTasks& tasks, Expr sums) const {
    const NetworkPlan& plan = frame_.plan;
    tasks.open_own();
    to.store_fragment(sums, {frame_.pool,
                             frame_.subgroup * (matrix_m(frame_) * (plan.matrix_stride / 4)) +
                                 plan.matrix_offset / 4,
                             frame_.index(plan.matrix_stride / 4)});
    tasks.close_own();
    to.subgroup_barrier();
}

Expr SpreadSums::line(Expr i) const {
    return (frame_.subgroup * matrix_m(frame_) + i) * frame_.plan.matrix_stride +
           frame_.plan.matrix_offset;
}

// ------------------------------------------------------------------------------------ products

MatrixProductStage::MatrixProductStage(NetworkFrame& frame, const NetworkStage& stage,
                                       RowWeightCopies& weights)
    : Stage(frame, stage),
      weights_(weights),
      weight_(frame.plan.weights[static_cast<size_t>(stage.weight)]),
      writer_(frame.writer()) {
    const int down = frame.plan.tile_rows / matrix_m(frame);
    deal_.columns = weight_.padded_outer() / matrix_n(frame);
    lines_ = down % 2 == 0 && down * deal_.columns >= 2 * frame.plan.subgroups ? 2 : 1;
    deal_.tasks = down / lines_ * deal_.columns;
}

std::vector<Statement> MatrixProductStage::write() {
    Body& body = *frame_.body;
    const Expr own = frame_.let_own(writer_, frame_.take_subgroups(deal_.tasks));
    const int count = ceil_div(deal_.tasks, frame_.plan.subgroups) * lines_;
    sums_ = writer_.declare_chunks("acc", Chunk::kSums, static_cast<uint32_t>(count));
    const Expr i = writer_.unrolled_for_("i", count);
    writer_.assign(body.element(sums_, i), body.fill(Chunk::kSums, frame_.zero()));
    writer_.end();
    const bool in_chunks = frame_.plan.mode == RowWeights::kChunked;
    if (in_chunks) chunk_ = weights_.open_chunks(writer_, static_cast<size_t>(stage_.weight));
    FragmentTasks task(frame_, writer_, deal_, own, "c0", "r0");
    multiply(task);
    task.close();
    if (in_chunks) writer_.end();
    if (!frame_.is_whole_tile || !store_fragments(own)) store_elements(own);
    return writer_.take();
}

Expr MatrixProductStage::sum(const FragmentTasks& task, Expr i) const {
    return frame_.body->element(sums_, task.round * lines_ + i);
}

void MatrixProductStage::multiply(const FragmentTasks& task) {
    Body& body = *frame_.body;
    const int m = matrix_m(frame_), n = matrix_n(frame_), k_extent = matrix_k(frame_);
    const RowTile& x = frame_.plan.tiles[static_cast<size_t>(stage_.left)];
    const int steps = std::min(weight_.chunk, x.padded()) / k_extent;
    const int stride = weight_.stride / 4;
    // The last chunk may be shorter than the others.
    const Expr k = writer_.unrolled_for_("k", [&](Expr next) {
        return next < (weight_.is_whole() ? frame_.index(steps)
                                          : lesser(frame_.index(steps),
                                                   (frame_.index(x.padded()) - chunk_) / k_extent));
    });
    const Expr b = writer_.declare_chunk("b", Chunk::kRight);
    const Expr at = weight_.is_dot ? task.column * (n * stride) + k * (k_extent / 8)
                                   : k * (k_extent * stride) + task.column * (n / 8);
    writer_.load_fragment(
        b, {frame_.pool, at + weight_.offset / 4, frame_.index(stride), weight_.is_dot});
    const Expr i = writer_.unrolled_for_("i", lines_);
    const Expr a = writer_.declare_chunk("a", Chunk::kLeft);
    Expr from = (task.line * lines_ + i) * (m * (x.stride / 4)) + k * (k_extent / 8) + x.offset / 4;
    if (chunk_) from = from + chunk_ / 8;
    writer_.load_fragment(a, {frame_.pool, from, frame_.index(x.stride / 4)});
    writer_.assign(sum(task, i), body.multiply_add(a, b, sum(task, i)));
    writer_.end();
    writer_.end();
}

/// What follows the product, in fragments; not if that needs to know which element is which, or if a tile is
/// padded, with zeros.
bool MatrixProductStage::store_fragments(Expr own) {
    const std::span<const ValueId> values = stage_.group->stores;
    for (const ValueId v : values) {
        const RowTile* tile = frame_.plan.tile_for(v);
        const DType dtype = frame_.graph.value(v).dtype;
        if ((dtype != DType::kF16 && dtype != DType::kF32) ||
            frame_.row_width(v) % frame_.plan.edge != 0 ||
            (tile != nullptr && tile->is_half() != (dtype == DType::kF16)))
            return false;
    }
    KernelWriter writer = frame_.writer();
    FragmentTasks task(frame_, writer, deal_, own, "c0", "r0");
    const Expr i = writer.unrolled_for_("i", lines_);
    FragmentPlace place;
    place.m = writer.let("m", task.line * lines_ + i);
    place.c = writer.let("c", task.column);
    place.base = writer.let("base", frame_.index(0));
    FragmentScope scope(frame_, stage_, place);
    const auto outs = scope.work_out(values, sum(task, i));
    if (!outs) return false;
    for (size_t v = 0; v < values.size(); ++v) {
        const Chunk chunk = fragment_of(frame_.graph, values[v]);
        const Expr matrix = scope.writer.let(
            numbered("matrix", values[v]),
            chunk == Chunk::kSums ? (*outs)[v] : frame_.body->convert(chunk, (*outs)[v]));
        if (const RowTile* tile = frame_.plan.tile_for(values[v])) {
            const auto to = scope.memory().in_tile(*tile);
            if (!to) return false;
            scope.writer.store_fragment(matrix, *to);
        }
        scope.memory().store(values[v], matrix);
    }
    writer.append(scope.writer.take());
    writer.end();
    task.close();
    writer_.append(writer.take());
    return true;
}

/// Elements of sums as they come through shared memory, eight neighbours at a time.
void MatrixProductStage::store_elements(Expr own) {
    const SpreadSums spread(frame_);
    FragmentTasks task(frame_, writer_, deal_, own, "c0", "r0", true);
    const Expr i = writer_.unrolled_for_("i", lines_);
    spread.store(writer_, task, sum(task, i));
    task.open_own();
    const int m = matrix_m(frame_), n = matrix_n(frame_), eights = n / 8;
    EightScope scope(frame_, stage_);
    KernelWriter& writer = scope.writer;
    const Scalar result = scope.arena.symbol(ScalarType::kF32);
    scope.expressions.define(stage_.node->outputs[0], result);
    const Expr e = writer.for_(
        "e", frame_.subgroup_lane, [&](Expr next) { return next < m * eights; },
        frame_.index(subgroup_size(frame_)));
    const Expr r = writer.let("r", (task.line * lines_ + i) * m + e / eights);
    const Expr first = writer.let("n0", task.column * n + e % eights * 8);
    const Expr at = writer.let("at", spread.line(e / eights) + e % eights * 8);
    scope.open_row(r);
    const Expr sums = writer.declare_array("sums", ScalarType::kF32, 8);
    const Expr fours[] = {frame_.shared_four(at / 4), frame_.shared_four(at / 4 + 1)};
    writer.spread(sums, fours);
    const EightScope::Sums product{result, sums};
    scope.store_eight(stage_.group->stores, first, weight_.outer, &product);
    writer.end();
    writer_.append(writer.take());
    task.close_own();
    writer_.subgroup_barrier();
    writer_.end();
    task.close();
}

// ---------------------------------------------------------------------------- weight gradients

FragmentDeal deal_matrix_gradient(const NetworkFrame& frame, const NetworkStage& stage) {
    // Tiles may be padded by more than a fragment: to the matrix's longest edge.
    const auto width = [&](int tile) { return frame.plan.tiles[static_cast<size_t>(tile)].width; };
    FragmentDeal deal;
    deal.columns = ceil_div(width(stage.right), matrix_n(frame));
    deal.tasks = ceil_div(width(stage.left), matrix_m(frame)) * deal.columns;
    return deal;
}

bool keeps_matrix_gradients(const NetworkFrame& frame) {
    const NetworkPlan& plan = frame.plan;
    const int of_one = matrix_m(frame) * matrix_n(frame) / subgroup_size(frame);
    int floats = 0;
    for (const NetworkStage& stage : plan.stages)
        if (stage.kind == NetworkStageKind::kGradient)
            floats += ceil_div(deal_matrix_gradient(frame, stage).tasks, plan.subgroups) * of_one;
    const uint32_t registers = device_model(frame.options.caps).fragment_registers;
    return plan.in_registers || (!plan.is_single && floats <= most_kept_floats(registers));
}

MatrixGradientStage::MatrixGradientStage(NetworkFrame& frame, const NetworkStage& stage)
    : Stage(frame, stage),
      left_(frame.plan.tiles[static_cast<size_t>(stage.left)]),
      right_(frame.plan.tiles[static_cast<size_t>(stage.right)]),
      deal_(deal_matrix_gradient(frame, stage)),
      writer_(frame.writer()) {
    if (!frame.plan.in_registers) return;
    left_.offset = frame.plan.exchange[0];
    right_.offset = frame.plan.exchange[1];
}

std::vector<Statement> MatrixGradientStage::write() {
    const bool in_registers = frame_.plan.in_registers;
    const int first = in_registers ? 0 : frame_.take_subgroups(deal_.tasks);
    const Expr own = frame_.let_own(writer_, first);
    if (!frame_.keeps_gradients) {
        sums_ = clear(writer_, "acc");
        add_up(own);
        store(writer_, own);
        return writer_.take();
    }
    const ValueId v = stage_.node->outputs[0];
    const NetworkFrame::Kept kept =
        frame_.keep(v, [&] { return clear(frame_.declarations, numbered("kept", v).c_str()); });
    sums_ = kept.sums;
    add_up(own);
    if (kept.is_new) {
        KernelWriter& ends = frame_.ends;
        if (in_registers) ends.barrier();
        ends.block();
        store(ends, frame_.let_own(ends, first));
        ends.end();
    }
    return writer_.take();
}

Expr MatrixGradientStage::clear(KernelWriter& to, const char* name) {
    const int count = ceil_div(deal_.tasks, frame_.plan.subgroups);
    const Expr sums = to.declare_chunks(name, Chunk::kSums, static_cast<uint32_t>(count));
    const Expr i = to.unrolled_for_("i", count);
    to.assign(frame_.body->element(sums, i), frame_.body->fill(Chunk::kSums, frame_.zero()));
    to.end();
    return sums;
}

/// Adds the subgroup's fragments of left^T right.
void MatrixGradientStage::add_up(Expr own) {
    Body& body = *frame_.body;
    const int m = matrix_m(frame_), n = matrix_n(frame_), k = matrix_k(frame_);
    const auto load_right = [&](Expr r, Expr column) {
        const Expr b = writer_.declare_chunk("b", Chunk::kRight);
        writer_.load_fragment(
            b, {frame_.pool, r * (k * (right_.stride / 4)) + column * (n / 8) + right_.offset / 4,
                frame_.index(right_.stride / 4)});
        return b;
    };
    const auto multiply = [&](Expr r, const FragmentTasks& task, Expr b) {
        const Expr a = writer_.declare_chunk("a", Chunk::kLeft);
        writer_.load_fragment(
            a, {frame_.pool, r * (k * (left_.stride / 4)) + task.line * (m / 8) + left_.offset / 4,
                frame_.index(left_.stride / 4), true});
        const Expr sum = body.element(sums_, task.round);
        writer_.assign(sum, body.multiply_add(a, b, sum));
    };
    const int steps = frame_.plan.tile_rows / k;
    // All fragments of a subgroup may share their right factor.
    if (frame_.plan.subgroups % deal_.columns == 0) {
        const Expr column = writer_.let("n0", own % deal_.columns);
        const Expr r = writer_.unrolled_for_("r", steps);
        const Expr b = load_right(r, column);
        FragmentTasks task(frame_, writer_, deal_, own, "n0", "m0");
        multiply(r, task, b);
        task.close();
        writer_.end();
        return;
    }
    FragmentTasks task(frame_, writer_, deal_, own, "n0", "m0");
    const Expr r = writer_.unrolled_for_("r", steps);
    multiply(r, task, load_right(r, task.column));
    writer_.end();
    task.close();
}

void MatrixGradientStage::store(KernelWriter& to, Expr own) {
    Body& body = *frame_.body;
    const int m = matrix_m(frame_), n = matrix_n(frame_);
    const int lines = left_.width, width = right_.width;
    const ValueId v = stage_.node->outputs[0];
    const uint32_t buffer = frame_.buffer(v);
    frame_.note_store(v);
    const bool adds = !frame_.plan.is_single && !frame_.keeps_gradients;
    if (adds && frame_.keep(v, [] { return Expr(); }).is_new)
        frame_.store_zeros_without_rows(buffer, lines * width);
    FragmentTasks task(frame_, to, deal_, own, "n0", "m0", true);
    const Expr sums = body.element(sums_, task.round);
    if (!adds && lines % m == 0 && width % n == 0) {
        task.open_own();
        to.store_fragment(sums, {body.buffer(buffer),
                                 (frame_.group * lines + task.line * m) * width + task.column * n,
                                 frame_.index(width)});
        task.close_own();
        task.close();
        return;
    }
    const SpreadSums spread(frame_);
    spread.store(to, task, sums);
    task.open_own();
    const Expr e = to.for_(
        "e", frame_.subgroup_lane, [&](Expr next) { return next < m * n; },
        frame_.index(subgroup_size(frame_)));
    const Expr i = to.let("i", task.line * m + e / n), j = to.let("j", task.column * n + e % n);
    const Expr at = to.let("to", (frame_.group * lines + i) * width + j);
    const Expr sum = frame_.shared(spread.line(e / n) + e % n);
    to.if_(logical_and(i < lines, j < width));
    to.store(buffer, at,
             adds ? select(frame_.first != frame_.begin, body.load(buffer, at) + sum, sum) : sum);
    to.end();
    to.end();
    task.close_own();
    to.subgroup_barrier();
    task.close();
}

// ------------------------------------------------------------------------------ sums of columns

namespace {

bool sums_rows_alone(const NetworkFrame& frame, const NetworkStage& stage) {
    return frame.graph.value(stage.node->inputs[0]).shape.rank() == 2 &&
           stage.node->attrs.integers("axes").size() == 1;
}

const RowTile& summed_tile(const NetworkFrame& frame, const NetworkStage& stage) {
    return *frame.plan.tile_for(stage.node->inputs[0]);
}

/// The two f16 in word `word` of a line that begins with quad `first`.
Expr two_of_line(const NetworkFrame& frame, Expr first, Expr word) {
    const Expr quad = frame.shared_quad(first + word / 4);
    return frame.body->two_halves(frame.body->chunk_element(quad, word % 4));
}

}  // namespace

bool ColumnPairSumStage::fits(const NetworkFrame& frame, const NetworkStage& stage) {
    constexpr int kFewRows = 32;
    return is_half_tile(frame.plan, stage.node->inputs[0]) && frame.plan.is_single &&
           frame.plan.tile_rows <= kFewRows && sums_rows_alone(frame, stage);
}

std::vector<Statement> ColumnPairSumStage::write() {
    Body& body = *frame_.body;
    const RowTile& tile = summed_tile(frame_, stage_);
    const ValueId v = stage_.node->outputs[0];
    const int words = ceil_div(tile.width, 2);
    KernelWriter writer = frame_.writer();
    const Expr lane = frame_.let_lane(writer, frame_.take_threads(words));
    frame_.note_store(v);
    const Expr word = writer.for_(
        "word", lane, [&](Expr next) { return next < words; }, frame_.index(frame_.plan.threads));
    const Expr sum =
        writer.declare_chunk("sum", Chunk::kTwo, body.fill(Chunk::kTwo, frame_.zero()));
    const Expr r = writer.unrolled_for_("r", frame_.plan.tile_rows);
    writer.accumulate(sum, two_of_line(frame_, r * (tile.stride / 4) + tile.offset / 4, word));
    writer.end();
    const Expr to = frame_.group * tile.width + frame_.index(2) * word;
    const auto store = [&](int half) {
        writer.store(frame_.buffer(v), half == 0 ? to : to + half,
                     body.chunk_element(sum, frame_.index(half)));
    };
    store(0);
    const bool is_odd = tile.width % 2 != 0;
    if (is_odd) writer.if_(frame_.index(2) * word + 1 < tile.width);
    store(1);
    if (is_odd) writer.end();
    writer.end();
    return writer.take();
}

bool ColumnEightSumStage::fits(const NetworkFrame& frame, const NetworkStage& stage) {
    if (!is_half_tile(frame.plan, stage.node->inputs[0])) return false;
    const RowTile& tile = summed_tile(frame, stage);
    const int eights = tile.width / 8, threads = frame.plan.threads;
    return tile.width % 8 == 0 && std::has_single_bit(static_cast<uint32_t>(eights)) &&
           eights <= threads && 8 * threads <= frame.plan.shared_floats &&
           sums_rows_alone(frame, stage);
}

std::vector<Statement> ColumnEightSumStage::write() {
    Body& body = *frame_.body;
    const RowTile& tile = summed_tile(frame_, stage_);
    const ValueId v = stage_.node->outputs[0];
    const int eights = tile.width / 8, threads = frame_.plan.threads;
    int slices = 1;
    while (2 * slices <= frame_.plan.tile_rows && 2 * slices * eights <= threads) slices *= 2;
    const NetworkFrame::Kept kept = frame_.keep(v, [&] {
        KernelWriter& home = frame_.declarations;
        const Expr totals = home.declare_array(numbered("total", v), ScalarType::kF32, 8);
        const Expr t = home.unrolled_for_("t", 8);
        home.assign(body.element(totals, t), frame_.zero());
        home.end();
        return totals;
    });
    const int first = frame_.take_threads(slices * eights);
    KernelWriter writer = frame_.writer();
    const Expr lane = frame_.let_lane(writer, first);
    const Expr q = writer.let("q", lane % eights), slice = writer.let("slice", lane / eights);
    writer.if_(slice < slices);
    const Expr r = writer.for_(
        "r", slice, [&](Expr next) { return next < frame_.count; }, frame_.index(slices));
    const Expr near = writer.declare_array("near", ScalarType::kF32, 8);
    const Expr halves[] = {frame_.shared_halves(r * (tile.stride / 4) + q + tile.offset / 4)};
    writer.spread(near, halves);
    const Expr t = writer.unrolled_for_("t", 8);
    writer.accumulate(body.element(kept.sums, t), body.element(near, t));
    for (int scope = 0; scope < 3; ++scope) writer.end();
    if (!kept.is_new) return writer.take();

    frame_.note_store(v);
    KernelWriter& ends = frame_.ends;
    ends.barrier();
    ends.block();
    const Expr end_lane = frame_.let_lane(ends, first);
    ends.if_(end_lane / eights < slices);
    for (int half = 0; half < 2; ++half) {
        std::vector<Expr> four;
        for (int i = 0; i < 4; ++i)
            four.push_back(body.element(kept.sums, frame_.index(4 * half + i)));
        ends.assign(frame_.shared_quad(frame_.index(2) * end_lane + half),
                    body.operation(ScalarOp::kBitsToU32, body.compose(four)));
    }
    ends.end();
    ends.barrier();
    const Expr c = ends.for_(
        "c", frame_.thread, [&](Expr next) { return next < tile.width; }, frame_.index(threads));
    const Expr sum = ends.declare("sum", ScalarType::kF32, frame_.zero());
    const Expr s = ends.for_("s", frame_.index(0), [&](Expr next) { return next < slices; });
    ends.accumulate(sum, frame_.shared(s * tile.width + c));
    ends.end();
    ends.store(frame_.buffer(v), frame_.group * tile.width + c, sum);
    ends.end();
    ends.end();
    ends.barrier();
    return writer.take();
}

SharedFactorSumStage::SharedFactorSumStage(NetworkFrame& frame, const NetworkStage& stage,
                                           const NetworkStage& gradient)
    : Stage(frame, stage), tile_(summed_tile(frame, stage)) {
    const RowTile& left = frame.plan.tiles[static_cast<size_t>(gradient.left)];
    offset_ = frame.plan.exchange[left.value == tile_.value ? 0 : 1];
}

/// Two columns each thread, of some of the rows.
std::vector<Statement> SharedFactorSumStage::write() {
    Body& body = *frame_.body;
    const ValueId v = stage_.node->outputs[0];
    const int words = ceil_div(tile_.width, 2), threads = frame_.plan.threads;
    const int rows = frame_.plan.tile_rows, width = tile_.width;
    int slices = 1;
    while (2 * slices * words <= threads && 2 * slices <= rows) slices *= 2;
    const NetworkFrame::Kept kept = frame_.keep(v, [&] {
        return frame_.declarations.declare_chunk(numbered("total", v), Chunk::kTwo,
                                                 body.fill(Chunk::kTwo, frame_.zero()));
    });
    KernelWriter writer = frame_.writer();
    const Expr word = writer.let("word", frame_.thread % words);
    const Expr slice = writer.let("slice", frame_.thread / words);
    writer.if_(slice < slices);
    const Expr r = writer.unrolled_for_("r", rows / slices);
    const Expr line = (r * slices + slice) * (tile_.stride / 4) + offset_ / 4;
    writer.accumulate(kept.sums, two_of_line(frame_, line, word));
    writer.end();
    writer.end();
    if (!kept.is_new) return writer.take();

    frame_.note_store(v);
    KernelWriter& ends = frame_.ends;
    ends.barrier();
    // A word's sums of one slice lie side by side.
    ends.if_(frame_.thread / words < slices);
    for (int half = 0; half < 2; ++half) {
        const Expr twice = frame_.index(2) * frame_.thread;
        frame_.put_shared(ends, half == 0 ? twice : twice + half,
                          body.chunk_element(kept.sums, frame_.index(half)));
    }
    ends.end();
    ends.barrier();
    const Expr n = ends.for_(
        "n", frame_.thread, [&](Expr next) { return next < width; }, frame_.index(threads));
    const Expr sum = ends.declare("sum", ScalarType::kF32, frame_.zero());
    const Expr s = ends.for_("s", frame_.index(0), [&](Expr next) { return next < slices; });
    ends.accumulate(sum, frame_.shared(s * (2 * words) + n));
    ends.end();
    ends.store(frame_.buffer(v), frame_.group * width + n, sum);
    ends.end();
    return writer.take();
}

}  // namespace hearth
