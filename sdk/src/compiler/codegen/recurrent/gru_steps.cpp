// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/recurrent/gru_steps.hpp"

namespace hearth {

void GruSteps::write_steps() {
    writer_.block();
    if (walk_.is_backward)
        go_backward();
    else
        go_forward();
    writer_.end();
}

/// What is read and stored of rows that exist alone.
void GruSteps::open_row(const Row& row) {
    writer_.if_(row.in_tile < count_);
}

void GruSteps::open_stores(const Row& row) {
    if (stores_check_rows_)
        writer_.block();
    else
        open_row(row);
}

/// A variable with a weight, which is zero where the condition does not hold.
Expr GruSteps::read_weight(size_t input, Expr line, Expr column, Expr condition) {
    const Expr weight = writer_.declare("weight", ScalarType::kF32, number(0));
    if (condition) writer_.if_(condition);
    read(input, {line, column}, weight);
    if (condition) writer_.end();
    return weight;
}

void GruSteps::read_reset(size_t input, Expr to, const Row& row) {
    if (has_resets_) read(input, {row.in_whole}, to, row);
}

Expr GruSteps::place(int64_t of_units, Expr i) const {
    return index(shared_offset_ + of_units * walk_.units()) + i;
}

Expr GruSteps::each_unit() {
    return writer_.for_(
        "e", thread_, [&](Expr e) { return e < walk_.units(); }, index(walk_.threads));
}

Expr GruSteps::each_task() {
    return writer_.for_(
        "e", thread_, [&](Expr e) { return e < int64_t{walk_.units()} * walk_.slices; },
        index(walk_.threads));
}

Expr GruSteps::each_gate(int count) {
    return writer_.for_("gate", index(0), [&](Expr gate) { return gate < count; });
}

Expr GruSteps::element_of_gate(Expr gate, Expr j) {
    return gate * walk_.hidden + j;
}

Expr GruSteps::element_in_memory(const Row& row, Expr gate, Expr j) {
    return (row.in_whole * 4 + gate) * walk_.hidden + j;
}

GruSteps::Row GruSteps::row_of_step(Expr e, Expr step) {
    const Expr window = e / walk_.hidden * walk_.steps;
    const Expr in_tile = writer_.let("r", step ? window + step : window);
    return {in_tile, writer_.let("row", lesser(first_ + in_tile, last_row_))};
}

void GruSteps::hold_weights() {
    const int hidden = walk_.hidden, each = walk_.terms_each();
    const int64_t tasks = int64_t{walk_.units()} * walk_.slices;
    const auto count = static_cast<uint32_t>(each);
    held_ = walk_.is_backward ? writer_.declare_array("held", ScalarType::kF32, count)
                              : writer_.declare_chunks("held", Chunk::kThree, count);
    const Expr k = writer_.unrolled_for_("k", each);
    const Expr e = writer_.let("e", lesser(thread_, index(tasks - 1)));
    const Expr held = body_.element(held_, k);
    if (walk_.is_backward) {
        const Expr column = writer_.let("column", e % hidden);
        const Expr line = writer_.let("line", e / walk_.units() * each + k);
        writer_.assign(held, read_weight(kGruBackWeight, line, column, line < 3 * hidden));
    } else {
        const Expr column = writer_.let("column", e / walk_.units() * each + k);
        writer_.assign(held, body_.fill(Chunk::kThree, number(0)));
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

void GruSteps::go_forward() {
    first_states();
    if (walk_.held) hold_weights();
    writer_.barrier();
    const Expr step = writer_.for_("step", index(0), [&](Expr next) { return next < walk_.steps; });
    sums_forward();
    writer_.barrier();
    gates_forward(step);
    writer_.barrier();
    writer_.end();
}

void GruSteps::first_states() {
    const Expr e = each_unit();
    const Expr j = writer_.let("j", e % walk_.hidden);
    const Row row = row_of_step(e, {});
    const Expr window = writer_.let("window", row.in_whole / walk_.steps);
    const Row reset{writer_.let("reset_r", row.in_tile), writer_.let("reset_row", row.in_whole)};
    const Expr state = writer_.declare("state", ScalarType::kF32, number(0));
    const Expr is_reset =
        writer_.declare("is_reset", ScalarType::kBool, body_.constant(0, ScalarType::kBool));
    read(kGruStart, {window, j}, state);
    read_reset(kGruResets, is_reset, reset);
    put_shared(place(kStates, e), select(is_reset, number(0), state));
    writer_.end();
}

/// Sums of a unit's three products with the state before, of some of its terms.
void GruSteps::sums_forward() {
    const int hidden = walk_.hidden, units = walk_.units(), each = walk_.terms_each();
    const Expr zeros = body_.fill(Chunk::kThree, number(0));
    const Expr e = each_task();
    const Expr unit = writer_.let("unit", e % units);
    const Expr from = writer_.let("from", unit / hidden * hidden);
    const Expr begin = writer_.let("begin", e / units * each);
    const Expr sum = writer_.declare_chunk("sum", Chunk::kThree, zeros);
    if (walk_.held) {
        const Expr k = writer_.unrolled_for_("k", each);
        const Expr state = place(kStates, from) + lesser(begin + k, index(hidden - 1));
        add_product(sum, body_.element(held_, k), shared(state));
        writer_.end();
    } else {
        const Expr column = writer_.for_(
            "column", begin, [&](Expr next) { return next < lesser(begin + each, index(hidden)); });
        const Expr lines = writer_.declare_chunk("lines", Chunk::kThree, zeros);
        const Expr gate = each_gate(3);
        const Expr line = writer_.let("line", gate * hidden + e % hidden);
        writer_.assign(at(lines, gate), read_weight(kGruWeight, line, column));
        writer_.end();
        add_product(sum, lines, shared(place(kStates, from) + column));
        writer_.end();
    }
    const Expr gate = each_gate(3);
    put_shared(place(kForwardSums, (e / units * 3 + gate) * units) + unit, at(sum, gate));
    writer_.end();
    writer_.end();
}

void GruSteps::gates_forward(Expr step) {
    const auto sigmoid = [&](Expr x) {
        const Expr negative = body_.operation(ScalarOp::kNeg, x);
        return number(1) / (number(1) + body_.operation(ScalarOp::kExp, negative));
    };
    const Expr e = each_unit();
    const Expr j = writer_.let("j", e % walk_.hidden);
    const Row row = row_of_step(e, step);
    const Expr zeros = body_.fill(Chunk::kThree, number(0));
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
        writer_.for_("slice", index(0), [&](Expr next) { return next < walk_.slices; });
    gate = each_gate(3);
    writer_.accumulate(at(y, gate),
                       shared(place(kForwardSums, (slice * 3 + gate) * walk_.units()) + e));
    writer_.end();
    writer_.end();

    const Expr before = writer_.let("before", shared(place(kStates, e)));
    const Expr reset = writer_.let("reset", sigmoid(at(x, 0) + at(y, 0)));
    const Expr update = writer_.let("update", sigmoid(at(x, 1) + at(y, 1)));
    const Expr candidate =
        writer_.let("candidate", body_.operation(ScalarOp::kTanh, at(x, 2) + reset * at(y, 2)));
    const Expr h = writer_.let("h", candidate + update * (before - candidate));
    const Expr all[] = {reset, update, candidate, at(y, 2)};
    const Expr gates = writer_.let("gates", body_.compose(all));
    open_stores(row);
    store(kGruH, h, j, row);
    store(kGruBefore, before, j, row);
    if (asks_for(kGruGates)) {
        open_row(row);
        gate = each_gate(4);
        store_in_memory(kGruGates, element_in_memory(row, gate, j), at(gates, gate));
        writer_.end();
        writer_.end();
    }
    writer_.end();

    const Row next{writer_.let("reset_r", row.in_tile + 1),
                   writer_.let("reset_row", lesser(row.in_whole + 1, last_row_))};
    const Expr is_reset =
        writer_.declare("is_reset", ScalarType::kBool, body_.constant(0, ScalarType::kBool));
    writer_.if_(step + 1 < walk_.steps);
    read_reset(kGruResets, is_reset, next);
    writer_.end();
    put_shared(place(kStates, e), select(is_reset, number(0), h));
    writer_.end();
}

// ------------------------------------------------------------------------------------ backward

// Of each unit: what goes to the state before without the products, the cotangents of its three
// lines, and a sum of each slice.
constexpr int64_t kDirect = 0, kLines = 1, kBackwardSums = 4;

void GruSteps::go_backward() {
    const bool asks_for_start = asks_for(kGruToStart);
    if (walk_.held) hold_weights();
    const Expr last_step = index(asks_for_start ? -1 : 0);
    const Expr step = writer_.for_(
        "step", index(walk_.steps - 1), [&](Expr next) { return next >= last_step; }, {},
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
Expr GruSteps::cotangent_of_state(Expr step, Expr e, const Row& row) {
    const Expr back = writer_.declare("back", ScalarType::kF32, number(0));
    writer_.if_(step < walk_.steps - 1);
    const Expr is_first = step < 0;
    const Row reset{writer_.let("reset_r", select(is_first, row.in_tile, row.in_tile + 1)),
                    writer_.let("reset_row", select(is_first, row.in_whole,
                                                    lesser(row.in_whole + 1, last_row_)))};
    const Expr is_reset =
        writer_.declare("is_reset", ScalarType::kBool, body_.constant(0, ScalarType::kBool));
    read_reset(kGruBackResets, is_reset, reset);
    writer_.assign(back, shared(place(kDirect, e)));
    const Expr slice =
        writer_.for_("slice", index(0), [&](Expr next) { return next < walk_.slices; });
    writer_.accumulate(back, shared(place(kBackwardSums, slice * walk_.units()) + e));
    writer_.end();
    writer_.if_(is_reset);
    writer_.assign(back, number(0));
    writer_.end();
    writer_.end();
    return back;
}

/// Of what the gates' activations see.
void GruSteps::cotangents(Expr step) {
    const int hidden = walk_.hidden;
    const Expr e = each_unit();
    const Expr j = writer_.let("j", e % hidden);
    const Row row = row_of_step(e, body_.operation(ScalarOp::kMax, step, index(0)));
    const Expr window = writer_.let("window", row.in_whole / walk_.steps);
    const Expr back = cotangent_of_state(step, e, row);
    writer_.if_(step < 0);
    if (asks_for(kGruToStart)) {
        open_row(row);
        store_in_memory(kGruToStart, window * hidden + j, back);
        writer_.end();
    }
    writer_.end();
    writer_.else_();
    const Expr g = writer_.declare("g", ScalarType::kF32, number(0));
    const Expr before = writer_.declare("before", ScalarType::kF32, number(0));
    const Expr gates =
        writer_.declare_chunk("gates", Chunk::kFour, body_.fill(Chunk::kFour, number(0)));
    read(kGruCotangent, {row.in_whole, j}, g, row);
    read(kGruBackBefore, {row.in_whole, j}, before, row);
    // Of rows beyond the last another workgroup may be writing them.
    open_row(row);
    Expr gate = each_gate(4);
    writer_.assign(at(gates, gate),
                   load_from_memory(kGruBackGates, element_in_memory(row, gate, j)));
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
    const Expr to_x = writer_.let("to_x", body_.compose(of_x));
    const Expr to_hidden = writer_.let("to_hidden", body_.compose(of_hidden));
    open_stores(row);
    gate = each_gate(3);
    store(kGruToX, at(to_x, gate), element_of_gate(gate, j), row);
    store(kGruToHidden, at(to_hidden, gate), element_of_gate(gate, j), row);
    writer_.end();
    writer_.end();
    put_shared(place(kDirect, e), g * update);
    gate = each_gate(3);
    put_shared(place(kLines, (e / hidden * 3 + gate) * hidden) + j, at(to_hidden, gate));
    writer_.end();
    writer_.end();
    writer_.end();
}

/// Sums of a unit's product with the transposed weights, of some of its terms.
void GruSteps::sums_backward() {
    const int hidden = walk_.hidden, units = walk_.units(), each = walk_.terms_each();
    const Expr e = each_task();
    const Expr unit = writer_.let("unit", e % units);
    const Expr from = writer_.let("from", unit / hidden * 3 * hidden);
    const Expr begin = writer_.let("begin", e / units * each);
    const Expr sum = writer_.declare("sum", ScalarType::kF32, number(0));
    const auto line_at = [&](Expr line) { return shared(place(kLines, from) + line); };
    if (walk_.held) {
        const Expr k = writer_.unrolled_for_("k", each);
        add_product(sum, body_.element(held_, k),
                    line_at(lesser(begin + k, index(3 * hidden - 1))));
    } else {
        const Expr column = writer_.let("column", e % hidden);
        const Expr line = writer_.for_("line", begin, [&](Expr next) {
            return next < lesser(begin + each, index(3 * hidden));
        });
        add_product(sum, read_weight(kGruBackWeight, line, column), line_at(line));
    }
    writer_.end();
    put_shared(place(kBackwardSums, e), sum);
    writer_.end();
}

}  // namespace hearth
