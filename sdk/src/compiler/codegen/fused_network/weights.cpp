// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/weights.hpp"

#include "compiler/codegen/fused_network/scope.hpp"

namespace hearth {

namespace {

/// Lines of the tensor, and elements of a line.
int lines_of(const RowWeight& w) {
    return w.is_dot ? w.outer : w.inner;
}
int line_length_of(const RowWeight& w) {
    return w.is_dot ? w.inner : w.outer;
}

}  // namespace

int RowWeightCopies::quads(const RowWeight& w) const {
    if (frame_.has_matrices()) return w.padded_lines() * quads_of_line(w);
    // Of a chunk that ends beyond the inner extent only what products read is filled.
    return (w.is_dot ? w.outer : w.chunk) * quads_of_line(w);
}

RowWeightCopies::Quad RowWeightCopies::quad(KernelWriter& to, size_t index, Expr e, Expr from) {
    const RowWeight& w = frame_.plan.weights[index];
    const int each_line = quads_of_line(w);
    const Expr line = to.let("line", e / each_line), quad = to.let("quad", e % each_line);
    const Expr i = to.let("i", w.is_dot ? line : from + line);
    const Expr of_quad = frame_.index(length_of(chunk_of(w))) * quad;
    const Expr j = to.let("j", w.is_dot ? from + of_quad : of_quad);
    const Expr place =
        frame_.shared_quad(line * (w.stride / 4) + quad + frame_.index(w.offset / 4));
    return {frame_.has_matrices() ? eight_halves(index, i, j) : four_floats(index, i, j), place};
}

Expr RowWeightCopies::four_floats(size_t index, Expr i, Expr j) {
    const RowWeight& w = frame_.plan.weights[index];
    const int inner4 = ceil_div(w.inner, 4) * 4;
    const int i_end = lines_of(w), j_end = line_length_of(w);
    const bool may_exceed =
        w.is_dot ? !w.is_whole() && inner4 % w.chunk != 0 : w.inner % w.chunk != 0;
    if (!frame_.is_plain(w.value) || j_end % 4 != 0) {
        const Expr at[] = {i, j};
        return frame_.body->call(functions_of(index).four, at);
    }
    const Expr value = frame_.load_four(w.value, (i * j_end + j) >> 2);
    return may_exceed ? select(w.is_dot ? j < j_end : i < i_end, value, frame_.four_zeros())
                      : value;
}

/// All that products may read is filled.
Expr RowWeightCopies::eight_halves(size_t index, Expr i, Expr j) {
    const RowWeight& w = frame_.plan.weights[index];
    Body& body = *frame_.body;
    const int i_end = lines_of(w), j_end = line_length_of(w);
    const Expr element = i * j_end + j;
    const ValueId wide = rounded_from(w.value);
    Expr value;
    if (j_end % 8 == 0 && frame_.is_plain_half(w.value)) {
        value = body.load_chunk_at(Chunk::kHalves, frame_.buffer(w.value), element >> 3);
    } else if (j_end % 8 == 0 && wide != kInvalidId) {
        value = body.join(Chunk::kHalves, frame_.load_four(wide, element >> 2),
                          frame_.load_four(wide, (element >> 2) + 1));
    } else {
        const uint32_t four = functions_of(index).four;
        const Expr low[] = {i, j}, high[] = {i, j + 4};
        return body.join(Chunk::kHalves, body.call(four, low), body.call(four, high));
    }
    Expr inside;
    if (w.padded_lines() != i_end || !w.is_whole()) inside = i < i_end;
    if (w.line_width() != j_end || !w.is_whole())
        inside = inside ? logical_and(inside, j < j_end) : j < j_end;
    return inside ? select(inside, value, body.fill(Chunk::kHalves, frame_.zero())) : value;
}

ValueId RowWeightCopies::rounded_from(ValueId v) const {
    const Value& value = frame_.graph.value(v);
    if (value.kind != ValueKind::kNode || !frame_.inlined[value.node]) return kInvalidId;
    const Node& node = frame_.graph.nodes[value.node];
    return node.op->is_cast && frame_.is_plain(node.inputs[0]) ? node.inputs[0] : kInvalidId;
}

void RowWeightCopies::load(KernelWriter& to, size_t index, Expr from) {
    const int count = quads(frame_.plan.weights[index]);
    const Expr e = to.for_(
        "e", frame_.thread, [&](Expr next) { return next < count; },
        frame_.index(frame_.plan.threads));
    const Quad copied = quad(to, index, e, from);
    to.assign(copied.place, in_memory(copied.value));
    to.end();
}

Expr RowWeightCopies::open_chunks(KernelWriter& to, size_t index) {
    const RowWeight& w = frame_.plan.weights[index];
    const Expr chunk = to.for_(
        "k0", frame_.index(0), [&](Expr k) { return k < w.inner; }, frame_.index(w.chunk));
    if (!w.is_whole()) to.barrier();
    load(to, index, chunk);
    to.barrier();
    return chunk;
}

void RowWeightCopies::fetch(KernelWriter& to, size_t index) {
    const int count = quads(frame_.plan.weights[index]), threads = frame_.plan.threads;
    const int each = ceil_div(count, threads);
    const Expr held = to.declare_chunks(
        numbered("held", index), chunk_of(frame_.plan.weights[index]), static_cast<uint32_t>(each));
    held_[index] = held;
    const Expr k = to.unrolled_for_("k", each);
    const Expr e = to.let("e", frame_.thread + k * threads);
    to.if_(e < count);
    const Expr value = quad(to, index, e, frame_.index(0)).value;
    to.assign(frame_.body->element(held, k), value);
    to.end();
    to.end();
}

void RowWeightCopies::put(KernelWriter& to, size_t index) {
    const int count = quads(frame_.plan.weights[index]), threads = frame_.plan.threads;
    const Expr k = to.unrolled_for_("k", ceil_div(count, threads));
    const Expr e = to.let("e", frame_.thread + k * threads);
    to.if_(e < count);
    to.assign(quad(to, index, e, frame_.index(0)).place,
              in_memory(frame_.body->element(held_.at(index), k)));
    to.end();
    to.end();
}

bool RowWeightCopies::can_fetch(size_t index) const {
    constexpr int kMostHeld = 16;
    const RowWeight& w = frame_.plan.weights[index];
    const int all = w.padded_lines() * quads_of_line(w);
    return !frame_.is_software && ceil_div(all, frame_.plan.threads) <= kMostHeld;
}

HeldTurn open_held(const NetworkFrame& frame, KernelWriter& to, const RowWeight& w) {
    const int tasks = w.outer * w.slices, threads = frame.plan.threads;
    HeldTurn turn;
    turn.round = to.unrolled_for_("round", ceil_div(tasks, threads));
    turn.task = to.let("task", frame.thread + turn.round * threads);
    turn.column = to.let("n", turn.task / w.slices);
    const Expr slice = to.let("s", turn.task % w.slices);
    if (tasks % threads != 0) {
        to.if_(turn.task < tasks);
        ++turn.scopes;
    }
    const Expr m = to.unrolled_for_("m", w.held_quads);
    turn.quad = to.let("q", slice + m * w.slices);
    ++turn.scopes;
    if (w.inner_quads() % w.slices != 0) {
        to.if_(turn.quad < w.inner_quads());
        ++turn.scopes;
    }
    turn.place = turn.round * w.held_quads + m;
    return turn;
}

void RowWeightCopies::hold(KernelWriter& to, size_t index) {
    const RowWeight& w = frame_.plan.weights[index];
    const int rounds = ceil_div(w.outer * w.slices, frame_.plan.threads);
    const Expr held = to.declare_chunks(numbered("held", index), Chunk::kFour,
                                        static_cast<uint32_t>(rounds * w.held_quads));
    held_[index] = held;
    const HeldTurn turn = open_held(frame_, to, w);
    to.assign(frame_.body->element(held, turn.place), held_value(index, turn.column, turn.quad));
    for (int i = 0; i <= turn.scopes; ++i) to.end();
}

/// Elements of column `n` of the result, four of the inner extent.
Expr RowWeightCopies::held_value(size_t index, Expr n, Expr q) {
    const RowWeight& w = frame_.plan.weights[index];
    Body& body = *frame_.body;
    const int j_end = line_length_of(w);
    const Expr of_quad = frame_.index(4) * q;
    if (w.is_dot) {
        if (frame_.is_plain(w.value) && j_end % 4 == 0)
            return frame_.load_four(w.value, (n * j_end + of_quad) >> 2);
        const Expr at[] = {n, of_quad};
        return body.call(functions_of(index).four, at);
    }
    const bool is_plain = frame_.is_plain(w.value);
    std::vector<Expr> four;
    for (int t = 0; t < 4; ++t) {
        const Expr k = of_quad + t;
        const Expr at[] = {k, n};
        const Expr value = is_plain ? body.load(frame_.buffer(w.value), k * j_end + n)
                                    : body.call(functions_of(index).element, at);
        four.push_back(w.inner % 4 == 0 ? value : select(k < w.inner, value, frame_.zero()));
    }
    return body.compose(four);
}

const RowWeightCopies::Functions& RowWeightCopies::functions_of(size_t index) {
    const auto known = functions_.find(index);
    if (known != functions_.end()) return known->second;
    const RowWeight& w = frame_.plan.weights[index];
    Body& body = *frame_.body;
    const auto parameters = [&](BodyFunction& function) {
        const Expr i = body.new_local("i", LocalKind::kParameter, ScalarType::kI32);
        const Expr j = body.new_local("j", LocalKind::kParameter, ScalarType::kI32);
        function.parameters = {i.id, j.id};
        function.has_result = true;
        return std::pair(i, j);
    };
    const auto add = [&](BodyFunction function) {
        body.functions.push_back(std::move(function));
        return static_cast<uint32_t>(body.functions.size() - 1);
    };

    BodyFunction element;
    element.name = numbered("element_of_weights", index);
    const auto [i, j] = parameters(element);
    NetworkScope scope(frame_, {});
    ScalarPlace place;
    place.coords.emplace();
    for (const Expr at : {i, j}) {
        const Scalar axis = scope.arena.symbol(ScalarType::kI32);
        scope.writer.bind(axis, at);
        place.coords->axis.push_back(axis);
    }
    scope.writer.leave(scope.writer.emit(scope.expressions.read(w.value, place)));
    element.statements = scope.writer.take();
    Functions made;
    made.element = add(std::move(element));

    BodyFunction four;
    four.name = numbered("weights", index);
    four.result_chunk = Chunk::kFour;
    const auto [line, first] = parameters(four);
    KernelWriter writer = frame_.writer();
    const Expr v = writer.declare_chunk("v", Chunk::kFour, frame_.four_zeros());
    const Expr t = writer.unrolled_for_("t", 4);
    writer.if_(logical_and(line < lines_of(w), first + t < line_length_of(w)));
    const Expr at[] = {line, first + t};
    writer.assign(body.chunk_element(v, t), body.call(made.element, at));
    writer.end();
    writer.end();
    writer.leave(v);
    four.statements = writer.take();
    made.four = add(std::move(four));
    return functions_.emplace(index, made).first->second;
}

}  // namespace hearth
