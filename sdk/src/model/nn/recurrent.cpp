// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Recurrent layers: RNN, GRU and LSTM over sequences, and single steps of their cells.

#include "compiler/ops/functions/recurrent.hpp"

#include "compiler/ir/graph.hpp"

#include <hearth/nn.hpp>

#include <cmath>

namespace hearth::nn {

namespace {

/// Declares the params of one cell; `suffix` identifies layer and direction, as in PyTorch.
RecurrentWeights weights_of(Trace& trace, std::string_view name, const std::string& suffix,
                            const RecurrentCell& cell, const Tensor& x, int64_t hidden,
                            const RecurrentOptions& options) {
    const int64_t rows = cell.gate_count() * hidden;
    const double bound = 1 / std::sqrt(static_cast<double>(hidden));
    const auto param = [&](const char* what, const Shape& shape) {
        return trace.param(join_name(name, what + suffix), shape,
                           Init::uniform(-bound, bound, options.seed), x.dtype());
    };
    RecurrentWeights w;
    w.input = param("weight_ih", {rows, x.dim(-1)});
    w.hidden = param("weight_hh", {rows, hidden});
    if (options.bias) {
        w.input_bias = param("bias_ih", {rows});
        w.hidden_bias = param("bias_hh", {rows});
    }
    return w;
}

bool is_sound(Trace& trace, std::string_view name, const Tensor& x, int rank, int64_t hidden) {
    if (!x.ok()) return false;
    if (x.rank() == rank && !x.dim(-1).is_batch && hidden > 0) return true;
    trace.fail(invalid_argument("recurrent layer '" + std::string(name) + "': x is " +
                                to_string(x.shape()) + ", hidden " + std::to_string(hidden) +
                                "; expected rank " + std::to_string(rank) +
                                " and a fixed number of features"));
    return false;
}

/// The state, zeroed where `resets` [n] is true.
RecurrentState where_kept(const Tensor& resets, const Tensor& x, const RecurrentState& state) {
    const auto kept = [&](const Tensor& s) {
        if (resets.trace() == nullptr || s.trace() == nullptr || !s.ok()) return s;
        if (!resets.ok()) return resets;
        if (resets.dtype() != DType::kBool || resets.shape() != Shape{x.dim(0)}) {
            s.trace()->fail(invalid_argument(
                "recurrent layer: episode_starts is " + std::string(name_of(resets.dtype())) +
                to_string(resets.shape()) + ", expected bool" + to_string(Shape{x.dim(0)})));
            return Tensor(s.trace(), kInvalidId);
        }
        return where(unsqueeze(resets, {1}), 0.0, s);
    };
    return {kept(state.h), kept(state.c)};
}

RecurrentState one_step(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                        RecurrentKind kind, const RecurrentState& state,
                        const RecurrentOptions& options) {
    if (!is_sound(trace, name, x, 2, hidden)) return {{&trace, kInvalidId}, {&trace, kInvalidId}};
    const RecurrentCell cell = RecurrentCell::of(kind);
    const RecurrentState begin = where_kept(options.episode_starts, x, state);
    return recurrent_step(cell, weights_of(trace, name, "_l0", cell, x, hidden, options), x, begin);
}

/// Layers of a unidirectional GRU, each one operator.
RecurrentResult gru_windows(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                            const RecurrentOptions& options) {
    const RecurrentCell cell = RecurrentCell::of(RecurrentKind::kGru);
    const int64_t length = x.dim(1).count;
    Tensor sequence = x;
    std::vector<Tensor> last;
    for (int layer = 0; layer < options.layers; ++layer) {
        const RecurrentWeights weights =
            weights_of(trace, name, "_l" + std::to_string(layer), cell, sequence, hidden, options);
        const Tensor start = options.h.trace() == nullptr
                                 ? Tensor()
                                 : squeeze(slice(options.h, 0, layer, layer + 1), {0});
        sequence = hearth::gru(sequence, start, weights.input, weights.hidden, weights.input_bias,
                               weights.hidden_bias, options.episode_starts);
        if (!sequence.ok()) return {sequence, sequence, sequence};
        last.push_back(squeeze(slice(sequence, 1, length - 1, length), {1}));
    }
    return {sequence, stack(last), Tensor()};
}

RecurrentResult whole_sequence(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                               RecurrentKind kind, const RecurrentOptions& options) {
    const Tensor failed(&trace, kInvalidId);
    if (!is_sound(trace, name, x, 3, hidden)) return {failed, failed, failed};
    if (kind == RecurrentKind::kGru && !options.bidirectional && options.layers > 0 &&
        options.lengths.trace() == nullptr && !x.dim(1).is_batch && x.dim(1).count > 1)
        return gru_windows(trace, name, x, hidden, options);
    const RecurrentCell cell = RecurrentCell::of(kind);
    const bool is_lstm = kind == RecurrentKind::kLstm;
    std::vector<Tensor> last_h, last_c;
    Tensor sequence = swapaxes(x, 0, 1);
    for (int layer = 0; layer < options.layers; ++layer) {
        std::vector<Tensor> outputs;
        for (const bool reverse : {false, true}) {
            if (reverse && !options.bidirectional) continue;
            const std::string suffix = "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
            const auto place = static_cast<int64_t>(last_h.size());
            const auto part = [place](const Tensor& whole) {
                return whole.trace() == nullptr ? whole
                                                : squeeze(slice(whole, 0, place, place + 1), {0});
            };
            const RecurrentRun run = run_recurrent(
                cell, weights_of(trace, name, suffix, cell, sequence, hidden, options), sequence,
                {part(options.h), is_lstm ? part(options.c) : Tensor()}, options.lengths, reverse,
                options.episode_starts);
            outputs.push_back(run.output);
            last_h.push_back(run.last.h);
            if (is_lstm) last_c.push_back(run.last.c);
        }
        sequence = outputs.size() == 1 ? outputs[0] : concat(outputs, -1);
    }
    return {swapaxes(sequence, 0, 1), stack(last_h), is_lstm ? stack(last_c) : Tensor()};
}

}  // namespace

Tensor gru_cell(Trace& trace, std::string_view name, const Tensor& x, const Tensor& h,
                int64_t hidden, const RecurrentOptions& options) {
    return one_step(trace, name, x, hidden, RecurrentKind::kGru, {h, {}}, options).h;
}

LstmState lstm_cell(Trace& trace, std::string_view name, const Tensor& x, const LstmState& state,
                    int64_t hidden, const RecurrentOptions& options) {
    return one_step(trace, name, x, hidden, RecurrentKind::kLstm, state, options);
}

RecurrentResult rnn(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                    const RecurrentOptions& options) {
    return whole_sequence(trace, name, x, hidden, RecurrentKind::kSimple, options);
}

RecurrentResult gru(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                    const RecurrentOptions& options) {
    return whole_sequence(trace, name, x, hidden, RecurrentKind::kGru, options);
}

RecurrentResult lstm(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                     const RecurrentOptions& options) {
    return whole_sequence(trace, name, x, hidden, RecurrentKind::kLstm, options);
}

}  // namespace hearth::nn
