// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Simple, GRU and LSTM cells over sequences. The inputs' contribution is one matrix product for all
// elements of a sequence; a step is then one product with the hidden weights and one element-wise
// kernel.

#include "compiler/ops/functions/recurrent.hpp"

#include "compiler/ops/kernels/gru_walk.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <utility>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

bool is_given(const Tensor& t) {
    return t.trace() != nullptr;
}

class Recurrence {
  public:
    Recurrence(const RecurrentCell& cell, const RecurrentWeights& weights)
        : cell_(cell), weights_(weights), hidden_(weights.hidden.dim(-1).count) {}

    Status check(const Tensor& x) const {
        const int64_t rows = cell_.gate_count() * hidden_;
        const auto fits = [rows](const Tensor& t) {
            return !is_given(t) || t.shape() == Shape{rows};
        };
        const Dim in = x.dim(-1);
        if (x.rank() < 2 || weights_.input.shape() != Shape{rows, in} ||
            weights_.hidden.shape() != Shape{rows, hidden_} || !fits(weights_.input_bias) ||
            !fits(weights_.hidden_bias) ||
            (is_given(weights_.peepholes) && weights_.peepholes.shape() != Shape{3 * hidden_}))
            return invalid_argument("recurrent cell: x " + to_string(x.shape()) + ", weights " +
                                    to_string(weights_.input.shape()) + " and " +
                                    to_string(weights_.hidden.shape()) + ", biases " +
                                    to_string(weights_.input_bias.shape()) + " and " +
                                    to_string(weights_.hidden_bias.shape()));
        return {};
    }

    /// Contribution of x [..., in] to the gates, including biases that are only added.
    Tensor projected(const Tensor& x) const {
        Tensor bias = weights_.input_bias;
        if (!keeps_hidden_bias() && is_given(weights_.hidden_bias))
            bias = is_given(bias) ? bias + weights_.hidden_bias : weights_.hidden_bias;
        return linear(x, weights_.input, bias);
    }

    RecurrentState start(const Tensor& x, int batch_axis, const RecurrentState& given) const {
        const auto zeros = [&] {
            return expand(constant_like(x, 0), {x.dim(batch_axis), hidden_});
        };
        RecurrentState state;
        state.h = is_given(given.h) ? given.h : zeros();
        if (cell_.kind == RecurrentKind::kLstm) state.c = is_given(given.c) ? given.c : zeros();
        return state;
    }

    /// `from_x`: one element of the result of projected().
    RecurrentState step(const Tensor& from_x, const RecurrentState& state) const {
        switch (cell_.kind) {
            case RecurrentKind::kSimple:
                return {activated(0, from_x + linear(state.h, weights_.hidden)), Tensor()};
            case RecurrentKind::kGru:
                return {cell_.reset_after ? gru_reset_after(from_x, state.h)
                                          : gru_reset_before(from_x, state.h),
                        Tensor()};
            case RecurrentKind::kLstm:
                return lstm(from_x, state);
        }
        return state;
    }

  private:
    /// True if the hidden bias is kept apart: the reset gate multiplies the candidate's.
    bool keeps_hidden_bias() const {
        return cell_.kind == RecurrentKind::kGru && cell_.reset_after;
    }

    Tensor activated(size_t which, const Tensor& x) const {
        return cell_.activations[which](cell_.clip > 0 ? clamp(x, -cell_.clip, cell_.clip) : x);
    }

    /// Splits stacked gates, in the order of RecurrentCell::order.
    Tensors gates(const Tensor& stacked) const {
        if (!stacked.ok()) return Tensors(cell_.order.size(), stacked);
        const auto count = static_cast<size_t>(stacked.dim(-1).count / hidden_);
        const Tensors pieces = split(stacked, std::vector<int64_t>(count, hidden_), -1);
        Tensors ordered;
        for (size_t place : cell_.order)
            if (place < count) ordered.push_back(pieces[place]);
        return ordered;
    }

    // Cho et al., "Learning phrase representations using RNN encoder-decoder", 2014; as implemented
    // by cuDNN and PyTorch, with the reset gate after the product.
    Tensor gru_reset_after(const Tensor& from_x, const Tensor& h) const {
        const Tensors x = gates(from_x);
        const Tensors y = gates(linear(h, weights_.hidden, weights_.hidden_bias));
        const Tensor reset = activated(0, x[0] + y[0]), update = activated(0, x[1] + y[1]);
        return mixed(update, activated(1, x[2] + reset * y[2]), h);
    }

    // As in the paper: the candidate's product comes after the gates.
    Tensor gru_reset_before(const Tensor& from_x, const Tensor& h) const {
        const Tensors x = gates(from_x);
        const int64_t end = 3 * hidden_;
        const Tensors y = gates(linear(h, slice(weights_.hidden, 0, 0, 2 * hidden_)));
        const Tensor reset = activated(0, x[0] + y[0]), update = activated(0, x[1] + y[1]);
        const Tensor from_h = linear(reset * h, slice(weights_.hidden, 0, 2 * hidden_, end));
        return mixed(update, activated(1, x[2] + from_h), h);
    }

    static Tensor mixed(const Tensor& update, const Tensor& candidate, const Tensor& h) {
        return candidate + update * (h - candidate);
    }

    // Gers, Schraudolph and Schmidhuber, "Learning precise timing with LSTM recurrent networks",
    // 2002, with or without peepholes.
    RecurrentState lstm(const Tensor& from_x, const RecurrentState& state) const {
        const Tensor h = cell_.rounds_state ? dynamically_rounded(state.h) : state.h;
        const Tensors g = gates(from_x + linear(h, weights_.hidden));
        Tensors peepholes(3);
        if (is_given(weights_.peepholes))
            peepholes = split(weights_.peepholes, std::vector<int64_t>(3, hidden_), 0);
        const auto gate = [&](size_t of, size_t peephole, const Tensor& c) {
            return activated(
                0, is_given(peepholes[peephole]) ? g[of] + peepholes[peephole] * c : g[of]);
        };
        const Tensor input = gate(0, 0, state.c);
        const Tensor forget = cell_.input_forget ? 1.0 - input : gate(1, 2, state.c);
        const Tensor c = forget * state.c + input * activated(1, g[2]);
        return {gate(3, 1, c) * cell_.activations[2](c), c};
    }

    const RecurrentCell& cell_;
    const RecurrentWeights& weights_;
    int64_t hidden_;
};

bool all_ok(const RecurrentWeights& w, const Tensor& x, const RecurrentState& state) {
    for (const Tensor& t : {w.input, w.hidden, x})
        if (!t.ok()) return false;
    for (const Tensor& t : {w.input_bias, w.hidden_bias, w.peepholes, state.h, state.c})
        if (is_given(t) && !t.ok()) return false;
    return true;
}

/// Takes `next` for running sequences and keeps `state` for those that have ended.
RecurrentState where_running(const Tensor& running, const RecurrentState& next,
                             const RecurrentState& state) {
    return {where(running, next.h, state.h),
            is_given(next.c) ? where(running, next.c, state.c) : Tensor()};
}

}  // namespace

Tensor dynamically_rounded(const Tensor& x) {
    const DynamicQuantized q = dynamic_quantize_linear(x);
    return dequantize_linear(q.values, q.scale, q.zero_point);
}

RecurrentCell RecurrentCell::of(RecurrentKind kind) {
    const auto sigmoid_of = [](const Tensor& x) { return sigmoid(x); };
    const auto tanh_of = [](const Tensor& x) { return tanh(x); };
    RecurrentCell cell;
    cell.kind = kind;
    for (size_t i = 0; i < static_cast<size_t>(cell.gate_count()); ++i) cell.order.push_back(i);
    if (kind == RecurrentKind::kSimple)
        cell.activations = {tanh_of};
    else
        cell.activations = {sigmoid_of, tanh_of, tanh_of};
    return cell;
}

int64_t RecurrentCell::gate_count() const {
    return kind == RecurrentKind::kSimple ? 1 : kind == RecurrentKind::kGru ? 3 : 4;
}

RecurrentState recurrent_step(const RecurrentCell& cell, const RecurrentWeights& weights,
                              const Tensor& x, const RecurrentState& state) {
    const RecurrentState failed{failed_like(x), failed_like(x)};
    if (!all_ok(weights, x, state)) return failed;
    const Recurrence recurrence(cell, weights);
    if (Status s = recurrence.check(x); !s.ok()) {
        fail(x, std::move(s));
        return failed;
    }
    return recurrence.step(recurrence.projected(x), recurrence.start(x, 0, state));
}

RecurrentRun run_recurrent(const RecurrentCell& cell, const RecurrentWeights& weights,
                           const Tensor& x, const RecurrentState& start, const Tensor& lengths,
                           bool reverse, const Tensor& resets) {
    const RecurrentRun failed{failed_like(x), {failed_like(x), failed_like(x)}};
    if (!all_ok(weights, x, start) || (is_given(lengths) && !lengths.ok()) ||
        (is_given(resets) && !resets.ok()))
        return failed;
    const Recurrence recurrence(cell, weights);
    Status status = recurrence.check(x);
    if (status.ok() && (x.rank() != 3 || x.dim(0).is_batch || x.dim(0).count < 1))
        status = invalid_argument("recurrent network: x is " + to_string(x.shape()) +
                                  ", expected [length, n, in] with a fixed length");
    if (status.ok() && is_given(resets) &&
        (resets.dtype() != DType::kBool || resets.shape() != Shape{x.dim(1), x.dim(0)}))
        status = invalid_argument("recurrent network: the resets are " +
                                  std::string(name_of(resets.dtype())) + to_string(resets.shape()) +
                                  ", expected bool" + to_string(Shape{x.dim(1), x.dim(0)}));
    if (!status.ok()) {
        fail(x, std::move(status));
        return failed;
    }
    const int64_t length = x.dim(0).count;
    // The simplest cell has at least these values per step: product, sum, activation.
    constexpr uint64_t kLeastValues = 4;
    if (!x.trace()->has_room(kLeastValues * static_cast<uint64_t>(length))) return failed;
    const Tensors elements =
        split(recurrence.projected(x), std::vector<int64_t>(static_cast<size_t>(length), 1), 0);
    Tensors outputs(elements.size());
    RecurrentRun run;
    run.last = recurrence.start(x, 1, start);
    for (int64_t i = 0; i < length; ++i) {
        const int64_t at = reverse ? length - 1 - i : i;
        const auto place = static_cast<size_t>(at);
        if (!x.trace()->status().ok()) return failed;
        RecurrentState before = run.last;
        if (is_given(resets)) {
            const Tensor is_first = slice(resets, 1, at, at + 1);
            before.h = where(is_first, 0.0, before.h);
            if (is_given(before.c)) before.c = where(is_first, 0.0, before.c);
        }
        RecurrentState next = recurrence.step(squeeze(elements[place], {0}), before);
        outputs[place] = next.h;
        if (is_given(lengths)) {
            const Tensor running = unsqueeze(greater(lengths, static_cast<double>(at)), {1});
            outputs[place] = where(running, next.h, 0.0);
            next = where_running(running, next, run.last);
        }
        run.last = next;
    }
    run.output = stack(outputs, 0);
    return run;
}

Tensor gru(const Tensor& x, const Tensor& h, const Tensor& input_weight,
           const Tensor& hidden_weight, const Tensor& input_bias, const Tensor& hidden_bias,
           const Tensor& episode_starts) {
    const RecurrentWeights weights{input_weight, hidden_weight, input_bias, hidden_bias, {}};
    if (!all_ok(weights, x, {h, {}}) || (is_given(episode_starts) && !episode_starts.ok()))
        return failed_like(x);
    const auto type_of = [](const Tensor& t) {
        return std::string(name_of(t.dtype())) + to_string(t.shape());
    };
    if (x.rank() != 3 || x.dim(1).is_batch || x.dim(1).count < 1)
        return fail(x, invalid_argument("gru: x is " + type_of(x) +
                                        ", expected [n, length, in] with a fixed length"));
    const Dim n = x.dim(0), length = x.dim(1), hidden = hidden_weight.dim(-1);
    const Dim rows(n.count * length.count, n.is_batch);
    if (is_given(episode_starts) &&
        (episode_starts.dtype() != DType::kBool || episode_starts.shape() != Shape{n, length}))
        return fail(x, invalid_argument("gru: the resets are " + type_of(episode_starts) +
                                        ", expected bool" + to_string(Shape{n, length})));
    // A device without room for the operator's kernel runs it step by step.
    constexpr uint64_t kLeastValues = 4;
    if (!x.trace()->has_room(kLeastValues * static_cast<uint64_t>(length.count)))
        return failed_like(x);
    const auto zeros = [&](const Shape& shape) { return expand(constant_like(x, 0), shape); };
    Tensors in{linear(reshape(x, {rows, x.dim(2)}), input_weight, input_bias), hidden_weight,
               is_given(hidden_bias) ? hidden_bias : zeros({hidden_weight.dim(0)}),
               is_given(h) ? h : zeros({n, hidden})};
    if (is_given(episode_starts)) in.push_back(reshape(episode_starts, {rows}));
    const Attrs attrs{{"length", length.count}, {"resets", int64_t{is_given(episode_starts)}}};
    const Tensor states = apply(op(kGruWindow), in, attrs)[kGruH];
    return states.ok() ? reshape(states, {n, length, hidden}) : states;
}

Tensor rnn_cell(const Tensor& x, const Tensor& h, const Tensor& input_weight,
                const Tensor& hidden_weight, const Tensor& input_bias, const Tensor& hidden_bias) {
    return recurrent_step(RecurrentCell::of(RecurrentKind::kSimple),
                          {input_weight, hidden_weight, input_bias, hidden_bias, {}}, x, {h, {}})
        .h;
}

Tensor gru_cell(const Tensor& x, const Tensor& h, const Tensor& input_weight,
                const Tensor& hidden_weight, const Tensor& input_bias, const Tensor& hidden_bias) {
    return recurrent_step(RecurrentCell::of(RecurrentKind::kGru),
                          {input_weight, hidden_weight, input_bias, hidden_bias, {}}, x, {h, {}})
        .h;
}

LstmState lstm_cell(const Tensor& x, const LstmState& state, const Tensor& input_weight,
                    const Tensor& hidden_weight, const Tensor& input_bias,
                    const Tensor& hidden_bias) {
    return recurrent_step(RecurrentCell::of(RecurrentKind::kLstm),
                          {input_weight, hidden_weight, input_bias, hidden_bias, {}}, x, state);
}

}  // namespace hearth
