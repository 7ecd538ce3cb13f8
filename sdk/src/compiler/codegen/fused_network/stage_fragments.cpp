// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stages of a fused network whose subgroups keep their rows in registers.

#include "compiler/codegen/fused_network/matrix_stages.hpp"

#include <algorithm>

namespace hearth {

namespace {

/// The array of a value's fragments, for the stages behind.
Expr declare_fragments(NetworkFrame& frame, KernelWriter& to, ValueId v) {
    const Chunk chunk = fragment_of(frame.graph, v);
    const int count = frame.plan.blocks * fragment_columns(frame, v);
    return frame.blocks.fragments[v] =
               to.declare_chunks(numbered(chunk == Chunk::kHalfSums ? "halfs" : "sums", v), chunk,
                                 static_cast<uint32_t>(count));
}

}  // namespace

std::unique_ptr<FragmentStage> make_fragment_stage(NetworkFrame& frame, const NetworkStage& stage) {
    switch (stage.kind) {
        case NetworkStageKind::kFill:
            if (!frame.is_plain_half(frame.plan.tiles[static_cast<size_t>(stage.left)].value))
                break;
            return std::make_unique<FragmentFillStage>(frame, stage);
        case NetworkStageKind::kProduct:
            return std::make_unique<FragmentProductStage>(frame, stage);
        case NetworkStageKind::kRowSum:
            return std::make_unique<FragmentTotalStage>(frame, stage);
        default:
            break;
    }
    return std::make_unique<FragmentStage>(frame, stage);
}

std::span<const ValueId> FragmentStage::values() const {
    if (stage_.kind != NetworkStageKind::kFill) return stage_.group->stores;
    return {&frame_.plan.tiles[static_cast<size_t>(stage_.left)].value, 1};
}

void FragmentStage::prepare(KernelWriter& to) {
    for (const ValueId v : values()) declare_fragments(frame_, to, v);
}

std::vector<Statement> FragmentStage::write() {
    write_values();
    return writer_.take();
}

FragmentPlace FragmentStage::open_fragments(int columns) {
    FragmentPlace place;
    place.base = frame_.blocks.base;
    place.m = writer_.unrolled_for_("m", frame_.plan.blocks);
    place.c = writer_.unrolled_for_("c", columns);
    place.index = writer_.let("i", place.m * columns + place.c);
    return place;
}

void FragmentStage::close_fragments() {
    writer_.end();
    writer_.end();
}

void FragmentStage::write_values(Expr products) {
    Body& body = *frame_.body;
    const FragmentPlace place = open_fragments(fragment_columns(frame_, values()[0]));
    FragmentScope scope(frame_, stage_, place);
    const auto outs =
        scope.work_out(values(), products ? body.element(products, place.index) : Expr{});
    if (!outs) {
        frame_.is_lost = true;
        return close_fragments();
    }
    for (size_t i = 0; i < outs->size(); ++i) {
        const ValueId v = values()[i];
        const Expr out = (*outs)[i];
        const Expr fragment = body.element(frame_.blocks.fragments.at(v), place.index);
        const bool is_half = fragment.chunk() == Chunk::kHalfSums;
        if (is_half) {
            scope.memory().mask_columns(out, frame_.row_width(v));
            mask_summed(scope.memory(), v, out);
        }
        scope.writer.assign(fragment, is_half ? body.convert(Chunk::kHalfSums, out) : out);
        scope.memory().store(v, fragment);
    }
    writer_.append(scope.writer.take());
    for (const NetworkStage* sum : sums_) add_total(*sum, place);
    close_fragments();
}

/// Makes zeros of rows that sums leave out, where that matters and they do not vanish by themselves.
void FragmentStage::mask_summed(FragmentMemory& memory, ValueId v, Expr sums) {
    if (is_summed_over_rows(frame_.plan, v) && frame_.blocks.vanishing.insert(v).second)
        memory.mask_rows(sums);
}

void FragmentStage::add_total(const NetworkStage& sum, const FragmentPlace& place) {
    Body& body = *frame_.body;
    const ValueId v = sum.node->outputs[0], in = sum.node->inputs[0];
    const NetworkFrame::Kept kept = frame_.keep(v, [&] {
        KernelWriter& home = frame_.declarations;
        const Expr totals = home.declare_array(numbered("total", v), ScalarType::kF32, 1);
        home.assign(body.element(totals, frame_.index(0)), frame_.zero());
        return totals;
    });
    if (kept.is_new) {
        frame_.note_store(v);
        store_total(frame_, v, kept.sums);
    }
    writer_.block(label_of(frame_.graph, frame_.plan, sum));
    FragmentScope scope(frame_, sum, place);
    const auto outs = scope.work_out({&in, 1});
    if (outs) {
        const Expr terms = (*outs)[0];
        scope.memory().mask_columns(terms, frame_.row_width(in));
        mask_summed(scope.memory(), in, terms);
        const Expr e = each_element(scope.writer, terms);
        scope.writer.accumulate(body.element(kept.sums, frame_.index(0)),
                                body.chunk_element(terms, e));
        scope.writer.end();
        writer_.append(scope.writer.take());
    }
    frame_.is_lost |= !outs;
    writer_.end();
}

std::vector<Statement> FragmentFillStage::write() {
    const ValueId v = values()[0];
    const FragmentPlace place = open_fragments(fragment_columns(frame_, v));
    FragmentMemory(frame_, writer_, place)
        .load_halves(v, frame_.body->element(frame_.blocks.fragments.at(v), place.index));
    close_fragments();
    return writer_.take();
}

std::vector<Statement> FragmentTotalStage::write() {
    add_total(stage_, open_fragments(fragment_columns(frame_, stage_.node->inputs[0])));
    close_fragments();
    return writer_.take();
}

// ------------------------------------------------------------------------------------ products

FragmentProductStage::FragmentProductStage(NetworkFrame& frame, const NetworkStage& stage)
    : FragmentStage(frame, stage),
      weight_(frame.plan.weights[static_cast<size_t>(stage.weight)]),
      left_(frame.plan.tiles[static_cast<size_t>(stage.left)]) {}

std::vector<Statement> FragmentProductStage::write() {
    Body& body = *frame_.body;
    const int n = static_cast<int>(body.matrix.n), k_extent = static_cast<int>(body.matrix.k);
    const int columns = weight_.padded_outer() / n, inner = left_.padded() / k_extent;
    const int blocks = frame_.plan.blocks, stride = weight_.stride / 4;
    const Expr sums = writer_.declare_chunks(numbered("acc", stage_.node->outputs[0]), Chunk::kSums,
                                             static_cast<uint32_t>(blocks * columns));
    writer_.block();
    const FragmentPlace place = open_fragments(columns);
    const Expr first = body.element(sums, place.index);
    if (const RowVector* bias = bias_of(frame_, stage_))
        FragmentMemory(frame_, writer_, place).load_vector(*bias, first);
    else
        writer_.assign(first, body.fill(Chunk::kSums, frame_.zero()));
    close_fragments();
    const Expr left = left_factors();
    const Expr k = writer_.unrolled_for_("k", inner), c = writer_.unrolled_for_("c", columns);
    const Expr b = writer_.declare_chunk("b", Chunk::kRight);
    const Expr at = weight_.is_dot ? c * (n * stride) + k * (k_extent / 8)
                                   : k * (k_extent * stride) + c * (n / 8);
    writer_.load_fragment(
        b, {frame_.pool, at + weight_.offset / 4, frame_.index(stride), weight_.is_dot});
    const Expr m = writer_.unrolled_for_("m", blocks);
    const Expr sum = body.element(sums, m * columns + c);
    writer_.assign(sum, body.multiply_add(body.element(left, m * inner + k), b, sum));
    for (int scope = 0; scope < 4; ++scope) writer_.end();
    write_values(sums);
    return writer_.take();
}

/// The fragments of a value as left factors: the same by one extension, by the other only through
/// memory.
Expr FragmentProductStage::left_factors() {
    Body& body = *frame_.body;
    const NetworkPlan& plan = frame_.plan;
    const int inner = left_.padded() / static_cast<int>(body.matrix.k), all = plan.blocks * inner;
    const Expr halves = frame_.blocks.fragments.at(left_.value);
    const Expr left = writer_.declare_chunks("left", Chunk::kLeft, static_cast<uint32_t>(all));
    if (plan.own_stride == 0) {
        const Expr i = writer_.unrolled_for_("i", all);
        writer_.assign(body.element(left, i), body.convert(Chunk::kLeft, body.element(halves, i)));
        writer_.end();
        return left;
    }
    const Expr m = writer_.unrolled_for_("m", plan.blocks);
    const auto each = [&](const auto& move) {
        writer_.subgroup_barrier();
        const Expr k = writer_.unrolled_for_("k", inner);
        const int m_extent = static_cast<int>(body.matrix.m);
        move(m * inner + k, KernelWriter::MatrixPlace{
                                frame_.pool,
                                frame_.subgroup * (m_extent * (plan.own_stride / 4)) +
                                    plan.own_offset / 4 + k * (static_cast<int>(body.matrix.k) / 8),
                                frame_.index(plan.own_stride / 4)});
        writer_.end();
    };
    each([&](Expr i, const auto& own) { writer_.store_fragment(body.element(halves, i), own); });
    each([&](Expr i, const auto& own) { writer_.load_fragment(body.element(left, i), own); });
    writer_.end();
    return left;
}

// ----------------------------------------------------------------------------- shared factors

namespace {

/// From registers or, what lies in memory as it is, from there.
void share_factor(NetworkFrame& frame, KernelWriter& to, const RowTile& tile, int place) {
    Body& body = *frame.body;
    const NetworkPlan& plan = frame.plan;
    const int stride = tile.stride / 4, eights = tile.padded() / 8;
    const int m_extent = static_cast<int>(body.matrix.m), n = static_cast<int>(body.matrix.n);
    const ValueId v = tile.value;
    const Expr own = frame.blocks.base * stride + place;
    to.block();
    if (frame.graph.value(v).kind == ValueKind::kInput && frame.is_plain_half(v) &&
        tile.width % 8 == 0) {
        const int quads = plan.blocks * m_extent * eights;
        const Expr e = to.for_(
            "e", frame.subgroup_lane, [&](Expr next) { return next < quads; },
            frame.index(body.subgroup_size));
        const Expr r = to.let("r", e / eights), q = to.let("q", e % eights);
        const Expr row = frame.blocks.start + r * frame.blocks.apart;
        Expr halves =
            body.load_chunk_at(Chunk::kHalves, frame.buffer(v), row * (tile.width / 8) + q);
        if (tile.padded() != tile.width)
            halves = select(q < tile.width / 8, halves, body.fill(Chunk::kHalves, frame.zero()));
        to.assign(frame.shared_quad(own + r * stride + q), body.reinterpret(halves));
        to.end();
    } else {
        const int columns = tile.padded() / n;
        const Expr m = to.unrolled_for_("m", plan.blocks), c = to.unrolled_for_("c", columns);
        const Expr fragment = body.element(frame.blocks.fragments.at(v), m * columns + c);
        to.store_fragment(fragment, {frame.pool, own + m * (m_extent * stride) + c * (n / 8),
                                     frame.index(stride)});
        to.end();
        to.end();
    }
    to.end();
}

}  // namespace

void share_factors(NetworkFrame& frame, KernelWriter& to, const NetworkStage& gradient) {
    const int tiles[] = {gradient.left, gradient.right};
    for (size_t side = 0; side < 2; ++side)
        share_factor(frame, to, frame.plan.tiles[static_cast<size_t>(tiles[side])],
                     frame.plan.exchange[side] / 4);
}

}  // namespace hearth
