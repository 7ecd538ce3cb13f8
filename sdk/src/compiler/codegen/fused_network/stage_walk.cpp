// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The same steps as shaders/recurrent, which are a GRU's kernels of their own.  A step is two phases:
// some threads share each unit's products, then one thread for each unit works out the gates, or on
// the way back the other way round.  States and sums lie in shared memory.

#include "compiler/codegen/fused_network/stages.hpp"

namespace hearth {

WalkStage::WalkStage(NetworkFrame& frame, const NetworkStage& stage)
    : Stage(frame, stage),
      plan_(frame.plan.walks[static_cast<size_t>(stage.walk)]),
      walk_(plan_.walk),
      writer_(frame.writer()) {}

std::vector<Statement> WalkStage::write() {
    put_zeros_behind();
    writer_.block();
    if (plan_.is_backward)
        go_backward();
    else
        go_forward();
    writer_.end();
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

// ------------------------------------------------------------------------------------ operands

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

/// A variable with a weight, which is zero where the condition does not hold.
Expr WalkStage::read_weight(size_t input, Expr line, Expr column, Expr condition) {
    const Expr weight = writer_.declare("weight", ScalarType::kF32, number(0));
    if (condition) writer_.if_(condition);
    read(input, {line, column}, weight);
    if (condition) writer_.end();
    return weight;
}

void WalkStage::read_reset(size_t input, Expr to, const Row& row) {
    if (stage_.node->inputs.size() > input) read(input, {row.in_whole}, to, row);
}

void WalkStage::store(ValueId v, Expr content, Expr inner, const Row& row) {
    NetworkScope scope(frame_, stage_);
    scope.name_row(row.in_tile, row.in_whole);
    scope.store(v, content, inner);
    writer_.append(scope.writer.take());
}

Expr WalkStage::place(int64_t of_units, Expr i) const {
    return frame_.index(plan_.offset + of_units * walk_.units()) + i;
}

Expr WalkStage::each_unit() {
    return writer_.for_(
        "e", frame_.thread, [&](Expr e) { return e < walk_.units(); }, frame_.index(walk_.threads));
}

Expr WalkStage::each_task() {
    return writer_.for_(
        "e", frame_.thread, [&](Expr e) { return e < int64_t{walk_.units()} * walk_.slices; },
        frame_.index(walk_.threads));
}

Expr WalkStage::each_gate(int count) {
    return writer_.for_("gate", frame_.index(0), [&](Expr gate) { return gate < count; });
}

Expr WalkStage::element_of_gate(Expr gate, Expr j) {
    return gate * walk_.hidden + j;
}

Expr WalkStage::element_in_memory(const Row& row, Expr gate, Expr j) {
    return (row.in_whole * 4 + gate) * walk_.hidden + j;
}

WalkStage::Row WalkStage::row_of_step(Expr e, Expr step) {
    const Expr window = e / walk_.hidden * walk_.steps;
    const Expr in_tile = writer_.let("r", step ? window + step : window);
    return {in_tile, writer_.let("row", lesser(frame_.first + in_tile, frame_.last_row))};
}

void WalkStage::hold_weights() {
    Body& body = *frame_.body;
    const int hidden = walk_.hidden, each = walk_.terms_each();
    const int64_t tasks = int64_t{walk_.units()} * walk_.slices;
    const auto count = static_cast<uint32_t>(each);
    held_ = plan_.is_backward ? writer_.declare_array("held", ScalarType::kF32, count)
                              : writer_.declare_chunks("held", Chunk::kThree, count);
    const Expr k = writer_.unrolled_for_("k", each);
    const Expr e = writer_.let("e", lesser(frame_.thread, frame_.index(tasks - 1)));
    const Expr held = body.element(held_, k);
    if (plan_.is_backward) {
        const Expr column = writer_.let("column", e % hidden);
        const Expr line = writer_.let("line", e / walk_.units() * each + k);
        writer_.assign(held, read_weight(kGruBackWeight, line, column, line < 3 * hidden));
    } else {
        const Expr column = writer_.let("column", e / walk_.units() * each + k);
        writer_.assign(held, body.fill(Chunk::kThree, number(0)));
        const Expr gate = writer_.unrolled_for_("gate", 3);
        const Expr line = writer_.let("line", gate * hidden + e % hidden);
        writer_.assign(at(held, gate), read_weight(kGruWeight, line, column, column < hidden));
        writer_.end();
    }
    writer_.end();
}

// ------------------------------------------------------------------------------------- forward

// Of each unit: its state, and three sums of each slice.
constexpr int64_t kStates = 0, kForwardSums = 1;

void WalkStage::go_forward() {
    first_states();
    if (walk_.held) hold_weights();
    writer_.barrier();
    const Expr step =
        writer_.for_("step", frame_.index(0), [&](Expr next) { return next < walk_.steps; });
    sums_forward();
    writer_.barrier();
    gates_forward(step);
    writer_.barrier();
    writer_.end();
}

void WalkStage::first_states() {
    const Expr e = each_unit();
    const Expr j = writer_.let("j", e % walk_.hidden);
    const Row row = row_of_step(e, {});
    const Expr window = writer_.let("window", row.in_whole / walk_.steps);
    const Row reset{writer_.let("reset_r", row.in_tile), writer_.let("reset_row", row.in_whole)};
    const Expr state = writer_.declare("state", ScalarType::kF32, number(0));
    const Expr is_reset =
        writer_.declare("is_reset", ScalarType::kBool, frame_.body->constant(0, ScalarType::kBool));
    read(kGruStart, {window, j}, state);
    read_reset(kGruResets, is_reset, reset);
    frame_.put_shared(writer_, place(kStates, e), select(is_reset, number(0), state));
    writer_.end();
}

/// Sums of a unit's three products with the state before, of some of its terms.
void WalkStage::sums_forward() {
    Body& body = *frame_.body;
    const int hidden = walk_.hidden, units = walk_.units(), each = walk_.terms_each();
    const Expr zeros = body.fill(Chunk::kThree, number(0));
    const Expr e = each_task();
    const Expr unit = writer_.let("unit", e % units);
    const Expr from = writer_.let("from", unit / hidden * hidden);
    const Expr begin = writer_.let("begin", e / units * each);
    const Expr sum = writer_.declare_chunk("sum", Chunk::kThree, zeros);
    if (walk_.held) {
        const Expr k = writer_.unrolled_for_("k", each);
        const Expr state = place(kStates, from) + lesser(begin + k, frame_.index(hidden - 1));
        writer_.accumulate(sum, body.scale(body.element(held_, k), frame_.shared(state)));
        writer_.end();
    } else {
        const Expr column = writer_.for_("column", begin, [&](Expr next) {
            return next < lesser(begin + each, frame_.index(hidden));
        });
        const Expr lines = writer_.declare_chunk("lines", Chunk::kThree, zeros);
        const Expr gate = each_gate(3);
        const Expr line = writer_.let("line", gate * hidden + e % hidden);
        writer_.assign(at(lines, gate), read_weight(kGruWeight, line, column));
        writer_.end();
        writer_.accumulate(sum, body.scale(lines, frame_.shared(place(kStates, from) + column)));
        writer_.end();
    }
    const Expr gate = each_gate(3);
    frame_.put_shared(writer_, place(kForwardSums, (e / units * 3 + gate) * units) + unit,
                      at(sum, gate));
    writer_.end();
    writer_.end();
}

void WalkStage::gates_forward(Expr step) {
    Body& body = *frame_.body;
    const auto sigmoid = [&](Expr x) {
        const Expr negative = body.operation(ScalarOp::kNeg, x);
        return number(1) / (number(1) + body.operation(ScalarOp::kExp, negative));
    };
    const Expr e = each_unit();
    const Expr j = writer_.let("j", e % walk_.hidden);
    const Row row = row_of_step(e, step);
    const Expr zeros = body.fill(Chunk::kThree, number(0));
    const Expr x = writer_.declare_chunk("x", Chunk::kThree, zeros);
    const Expr y = writer_.declare_chunk("y", Chunk::kThree, zeros);
    Expr gate = each_gate(3);
    const Expr element = element_of_gate(gate, j);
    read(kGruFromX, {row.in_whole, element}, at(x, gate), row);
    writer_.end();
    gate = each_gate(3);
    read(kGruBias, {element_of_gate(gate, j)}, at(y, gate));
    writer_.end();
    const Expr slice =
        writer_.for_("slice", frame_.index(0), [&](Expr next) { return next < walk_.slices; });
    gate = each_gate(3);
    writer_.accumulate(at(y, gate),
                       frame_.shared(place(kForwardSums, (slice * 3 + gate) * walk_.units()) + e));
    writer_.end();
    writer_.end();

    const Expr before = writer_.let("before", frame_.shared(place(kStates, e)));
    const Expr reset = writer_.let("reset", sigmoid(at(x, 0) + at(y, 0)));
    const Expr update = writer_.let("update", sigmoid(at(x, 1) + at(y, 1)));
    const Expr candidate =
        writer_.let("candidate", body.operation(ScalarOp::kTanh, at(x, 2) + reset * at(y, 2)));
    const Expr h = writer_.let("h", candidate + update * (before - candidate));
    const Expr all[] = {reset, update, candidate, at(y, 2)};
    const Expr gates = writer_.let("gates", body.compose(all));
    const Node& node = *stage_.node;
    writer_.block();
    store(node.outputs[kGruH], h, j, row);
    store(node.outputs[kGruBefore], before, j, row);
    if (const ValueId kept = node.outputs[kGruGates]; frame_.is_made[kept]) {
        frame_.note_store(kept);
        writer_.if_(row.in_tile < frame_.count);
        gate = each_gate(4);
        writer_.store(frame_.buffer(kept), element_in_memory(row, gate, j), at(gates, gate));
        writer_.end();
        writer_.end();
    }
    writer_.end();

    const Row next{writer_.let("reset_r", row.in_tile + 1),
                   writer_.let("reset_row", lesser(row.in_whole + 1, frame_.last_row))};
    const Expr is_reset =
        writer_.declare("is_reset", ScalarType::kBool, body.constant(0, ScalarType::kBool));
    writer_.if_(step + 1 < walk_.steps);
    read_reset(kGruResets, is_reset, next);
    writer_.end();
    frame_.put_shared(writer_, place(kStates, e), select(is_reset, number(0), h));
    writer_.end();
}

// ------------------------------------------------------------------------------------ backward

// Of each unit: what goes to the state before without the products, the cotangents of its three
// lines, and a sum of each slice.
constexpr int64_t kDirect = 0, kLines = 1, kBackwardSums = 4;

void WalkStage::go_backward() {
    const bool asks_for_start = frame_.is_made[stage_.node->outputs[kGruToStart]];
    if (walk_.held) hold_weights();
    const Expr last_step = frame_.index(asks_for_start ? -1 : 0);
    const Expr step = writer_.for_(
        "step", frame_.index(walk_.steps - 1), [&](Expr next) { return next >= last_step; }, {},
        ScalarOp::kSub);
    cotangents(step);
    writer_.barrier();
    writer_.if_(step == last_step);
    writer_.leave_loop();
    writer_.end();
    sums_backward();
    writer_.barrier();
    writer_.end();
}

/// What the step behind this one gives to the state that it began with.
Expr WalkStage::cotangent_of_state(Expr step, Expr e, const Row& row) {
    Body& body = *frame_.body;
    const Expr back = writer_.declare("back", ScalarType::kF32, number(0));
    writer_.if_(step < walk_.steps - 1);
    const Expr is_first = step < 0;
    const Row reset{writer_.let("reset_r", select(is_first, row.in_tile, row.in_tile + 1)),
                    writer_.let("reset_row", select(is_first, row.in_whole,
                                                    lesser(row.in_whole + 1, frame_.last_row)))};
    const Expr is_reset =
        writer_.declare("is_reset", ScalarType::kBool, body.constant(0, ScalarType::kBool));
    read_reset(kGruBackResets, is_reset, reset);
    writer_.assign(back, frame_.shared(place(kDirect, e)));
    const Expr slice =
        writer_.for_("slice", frame_.index(0), [&](Expr next) { return next < walk_.slices; });
    writer_.accumulate(back, frame_.shared(place(kBackwardSums, slice * walk_.units()) + e));
    writer_.end();
    writer_.if_(is_reset);
    writer_.assign(back, number(0));
    writer_.end();
    writer_.end();
    return back;
}

/// Of what the gates' activations see.
void WalkStage::cotangents(Expr step) {
    Body& body = *frame_.body;
    const Node& node = *stage_.node;
    const int hidden = walk_.hidden;
    const Expr e = each_unit();
    const Expr j = writer_.let("j", e % hidden);
    const Row row = row_of_step(e, body.operation(ScalarOp::kMax, step, frame_.index(0)));
    const Expr window = writer_.let("window", row.in_whole / walk_.steps);
    const Expr back = cotangent_of_state(step, e, row);
    writer_.if_(step < 0);
    if (const ValueId start = node.outputs[kGruToStart]; frame_.is_made[start]) {
        frame_.note_store(start);
        writer_.if_(row.in_tile < frame_.count);
        writer_.store(frame_.buffer(start), window * hidden + j, back);
        writer_.end();
    }
    writer_.end();
    writer_.else_();
    const Expr g = writer_.declare("g", ScalarType::kF32, number(0));
    const Expr before = writer_.declare("before", ScalarType::kF32, number(0));
    const Expr gates = writer_.declare_chunk("gates", Chunk::kFour, frame_.four_zeros());
    read(kGruCotangent, {row.in_whole, j}, g, row);
    read(kGruBackBefore, {row.in_whole, j}, before, row);
    // Of rows beyond the last another workgroup may be writing them.
    writer_.if_(row.in_tile < frame_.count);
    Expr gate = each_gate(4);
    writer_.assign(at(gates, gate), body.load(frame_.buffer(node.inputs[kGruBackGates]),
                                              element_in_memory(row, gate, j)));
    writer_.end();
    writer_.end();
    const Expr reset = writer_.let("reset", at(gates, 0));
    const Expr update = writer_.let("update", at(gates, 1));
    const Expr candidate = writer_.let("candidate", at(gates, 2));
    writer_.accumulate(g, back);
    const auto one_less = [&](Expr x) { return number(1) - x; };
    const Expr to_candidate =
        writer_.let("to_candidate", g * one_less(update) * one_less(candidate * candidate));
    const Expr to_update =
        writer_.let("to_update", g * (before - candidate) * update * one_less(update));
    const Expr to_reset =
        writer_.let("to_reset", to_candidate * at(gates, 3) * reset * one_less(reset));
    const Expr of_x[] = {to_reset, to_update, to_candidate};
    const Expr of_hidden[] = {to_reset, to_update, to_candidate * reset};
    const Expr to_x = writer_.let("to_x", body.compose(of_x));
    const Expr to_hidden = writer_.let("to_hidden", body.compose(of_hidden));
    gate = each_gate(3);
    store(node.outputs[kGruToX], at(to_x, gate), element_of_gate(gate, j), row);
    store(node.outputs[kGruToHidden], at(to_hidden, gate), element_of_gate(gate, j), row);
    writer_.end();
    frame_.put_shared(writer_, place(kDirect, e), g * update);
    gate = each_gate(3);
    frame_.put_shared(writer_, place(kLines, (e / hidden * 3 + gate) * hidden) + j,
                      at(to_hidden, gate));
    writer_.end();
    writer_.end();
    writer_.end();
}

/// Sums of a unit's product with the transposed weights, of some of its terms.
void WalkStage::sums_backward() {
    Body& body = *frame_.body;
    const int hidden = walk_.hidden, units = walk_.units(), each = walk_.terms_each();
    const Expr e = each_task();
    const Expr unit = writer_.let("unit", e % units);
    const Expr from = writer_.let("from", unit / hidden * 3 * hidden);
    const Expr begin = writer_.let("begin", e / units * each);
    const Expr sum = writer_.declare("sum", ScalarType::kF32, number(0));
    const auto line_at = [&](Expr line) { return frame_.shared(place(kLines, from) + line); };
    if (walk_.held) {
        const Expr k = writer_.unrolled_for_("k", each);
        writer_.accumulate(
            sum, body.element(held_, k) * line_at(lesser(begin + k, frame_.index(3 * hidden - 1))));
    } else {
        const Expr column = writer_.let("column", e % hidden);
        const Expr line = writer_.for_("line", begin, [&](Expr next) {
            return next < lesser(begin + each, frame_.index(3 * hidden));
        });
        writer_.accumulate(sum, read_weight(kGruBackWeight, line, column) * line_at(line));
    }
    writer_.end();
    frame_.put_shared(writer_, place(kBackwardSums, e), sum);
    writer_.end();
}

}  // namespace hearth
