// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Recurrent networks over sequences of a fixed length: the cells of PyTorch and of ONNX, and the
// settings in which they differ.

#pragma once

#include <hearth/ops.hpp>

#include <functional>
#include <vector>

namespace hearth {

enum class RecurrentKind { kSimple, kGru, kLstm };

/// Activation of gates and candidates: [n, hidden] -> [n, hidden].
using RecurrentActivation = std::function<Tensor(const Tensor&)>;

struct RecurrentCell {
    RecurrentKind kind = RecurrentKind::kSimple;
    /// Position of each gate in the stacked weights. GRU: reset, update, candidate (always last);
    /// LSTM: input, forget, candidate, output.
    std::vector<size_t> order;
    /// Simple: [result]; GRU: [gates, candidate]; LSTM: [gates, candidate, result].
    std::vector<RecurrentActivation> activations;
    double clip = 0;            ///< c > 0: the inputs of activations are clamped to [-c, c]
    bool reset_after = true;    ///< GRU: the reset gate applies after the hidden weights
    bool input_forget = false;  ///< LSTM: the forget gate is 1 - the input gate
    bool rounds_state = false;  ///< LSTM: the product with h reads dynamically_rounded(h)

    /// PyTorch's order: GRU r, z, n; LSTM i, f, g, o.
    static RecurrentCell of(RecurrentKind kind);
    int64_t gate_count() const;
};

/// Params of one direction of one layer; biases and peepholes may be empty.
struct RecurrentWeights {
    Tensor input;        ///< [gates * hidden, in]
    Tensor hidden;       ///< [gates * hidden, hidden]
    Tensor input_bias;   ///< [gates * hidden]
    Tensor hidden_bias;  ///< [gates * hidden]
    Tensor peepholes;    ///< LSTM: [3 * hidden], for the input, output and forget gate
};

/// h and c: [n, hidden]; c only for an LSTM. Empty tensors stand for zeros.
using RecurrentState = LstmState;

/// One step: x: [n, in].
RecurrentState recurrent_step(const RecurrentCell& cell, const RecurrentWeights& weights,
                              const Tensor& x, const RecurrentState& state);

/// x after dynamic quantization to u8, as floats.
Tensor dynamically_rounded(const Tensor& x);

struct RecurrentRun {
    Tensor output;  ///< [length, n, hidden]
    RecurrentState last;
};

/// x: [length, n, in]. lengths: integers [n] or empty; beyond its length, a sequence keeps its
/// state and outputs zeros. reverse: from the last element to the first.
RecurrentRun run_recurrent(const RecurrentCell& cell, const RecurrentWeights& weights,
                           const Tensor& x, const RecurrentState& start = {},
                           const Tensor& lengths = {}, bool reverse = false,
                           const Tensor& resets = {});

}  // namespace hearth
