// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A GRU's steps as a stage: between operands that may be rows of the tile, in the network's shared memory.

#include "compiler/codegen/fused_network/stages.hpp"

namespace hearth {

WalkStage::WalkStage(NetworkFrame& frame, const NetworkStage& stage)
    : Stage(frame, stage),
      GruSteps(*frame.body, writer_, frame.plan.walks[static_cast<size_t>(stage.walk)].walk),
      writer_(frame.writer()) {}

std::vector<Statement> WalkStage::write() {
    thread_ = frame_.thread;
    first_ = frame_.first;
    count_ = frame_.count;
    last_row_ = frame_.last_row;
    shared_offset_ = frame_.plan.walks[static_cast<size_t>(stage_.walk)].offset;
    has_resets_ = stage_.node->attrs.flag("resets");
    stores_check_rows_ = true;
    put_zeros_behind();
    write_steps();
    return writer_.take();
}

/// What is read four at a time has zeros behind it.
void WalkStage::put_zeros_behind() {
    for (ValueId v : stage_.node->outputs) {
        const RowTile* tile = frame_.plan.tile_for(v);
        const int pad = tile == nullptr ? 0 : tile->padded() - tile->width;
        if (pad == 0) continue;
        const int64_t all = int64_t{frame_.plan.tile_rows} * pad;
        const Expr e = writer_.for_(
            "e", frame_.thread, [&](Expr next) { return next < all; },
            frame_.index(frame_.plan.threads));
        frame_.put_shared(writer_,
                          e / pad * tile->stride + e % pad + (int64_t{tile->width} + tile->offset),
                          frame_.zero());
        writer_.end();
    }
}

void WalkStage::read(size_t input, std::initializer_list<Expr> place_at, Expr to, const Row& row) {
    const ValueId v = stage_.node->inputs[input];
    NetworkScope scope(frame_, stage_);
    if (row.in_whole) scope.name_row(row.in_tile, row.in_whole);
    ScalarPlace at;
    at.coords.emplace();
    for (const Expr coordinate : place_at) {
        const bool is_row = coordinate.id == row.in_whole.id;
        const Scalar axis = is_row ? scope.row : scope.arena.symbol(ScalarType::kI32);
        if (!is_row) scope.writer.bind(axis, coordinate);
        at.coords->axis.push_back(axis);
    }
    Expr value = scope.writer.emit(scope.expressions.read(v, at));
    if (to.type() == ScalarType::kBool && value.type() != ScalarType::kBool)
        value = frame_.body->operation(ScalarOp::kToBool, value);
    scope.writer.assign(to, value);
    writer_.block();
    writer_.append(scope.writer.take());
    writer_.end();
}

void WalkStage::store(size_t output, Expr content, Expr inner, const Row& row) {
    NetworkScope scope(frame_, stage_);
    scope.name_row(row.in_tile, row.in_whole);
    scope.store(stage_.node->outputs[output], content, inner);
    writer_.append(scope.writer.take());
}

bool WalkStage::asks_for(size_t output) const {
    return frame_.is_made[stage_.node->outputs[output]];
}

Expr WalkStage::load_from_memory(size_t input, Expr element) {
    return frame_.body->load(frame_.buffer(stage_.node->inputs[input]), element);
}

void WalkStage::store_in_memory(size_t output, Expr element, Expr content) {
    const ValueId v = stage_.node->outputs[output];
    frame_.note_store(v);
    writer_.store(frame_.buffer(v), element, content);
}

Expr WalkStage::shared(Expr i) const {
    return frame_.shared(i);
}

void WalkStage::put_shared(Expr i, Expr value) {
    frame_.put_shared(writer_, i, value);
}

}  // namespace hearth
