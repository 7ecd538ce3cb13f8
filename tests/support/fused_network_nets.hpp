// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Small networks that become one kernel, a fused network, when they act and when they learn: with
// weights in registers, in shared memory and there in chunks, with reductions, several heads and
// windows; and on matrix cores, with rows in shared memory and in registers.

#pragma once

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace hearth::test::fused_networks {

inline Tensor regression(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 5}), {8, 64, 3}, relu, {.seed = 1});
    t.output("y", y);
    return mse_loss(y, t.input("target", {kBatch, 3}));
}

inline Tensor odd_widths(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 33}), {40, 17, 1}, tanh, {.seed = 2});
    t.output("y", y);
    return huber_loss(y, t.input("target", {kBatch, 1}), 0.3);
}

inline Tensor classes(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 6}), {20, 20, 7}, relu, {.seed = 5});
    t.output("probabilities", softmax(y, -1));
    return cross_entropy(y, t.input("labels", {kBatch}, DType::kI32));
}

inline Tensor two_heads(Trace& t) {
    const Tensor x = t.input("x", {kBatch, 6}), gains = t.input("gains", {kBatch, 1});
    const Tensor actor = nn::mlp(t, "actor", x, {16, 16, 5}, tanh, {.seed = 6});
    const Tensor hidden = nn::mlp(t, "critic", x, {12, 6}, tanh, {.seed = 7});
    const Tensor value = nn::mlp(t, "head", concat({hidden, x + hidden}, 1), {1}, tanh);
    t.output("value", value);
    const Tensor entropy = neg(sum(softmax(actor, -1) * log_softmax(actor, -1), {-1}, true));
    return neg(mean((gains - mean(gains)) * entropy)) + mean(square(value - gains)) * 0.5;
}

/// Inputs, targets and outputs of f16.
inline Tensor deep(Trace& t) {
    const auto input = [&](const char* name) {
        return cast(t.input(name, {kBatch, 16}, DType::kF16), DType::kF32);
    };
    const Tensor y = nn::mlp(t, "net", input("x"), {16, 16, 16}, relu, {.seed = 8});
    t.output("y", cast(y, DType::kF16));
    return mse_loss(y, input("target")) * 64.0;
}

template <int64_t kLength, int64_t kHidden>
Tensor windows(Trace& t) {
    const Dim rows(kLength, true);
    const Tensor seen =
        tanh(nn::linear(t, "in", reshape(t.input("x", {kBatch, kLength, 5}), {rows, 5}), 9));
    const Tensor resets = greater(t.input("resets", {kBatch, kLength}), 0.5);
    const Tensor h =
        nn::gru(t, "gru", reshape(seen, {kBatch, kLength, 9}), kHidden,
                {.seed = 12, .h = t.input("h", {1, kBatch, kHidden}), .episode_starts = resets})
            .output;
    const Tensor y = nn::linear(t, "head", reshape(h, {rows, kHidden}), 2);
    t.output("y", y);
    return mse_loss(y, t.input("target", {rows, 2}));
}

struct Net {
    const char* name;
    Tensor (*build)(Trace&);  ///< outputs what it acts by, and returns the loss
    int64_t rows;             ///< enough to find its faults
    uint64_t capacity;
    uint32_t shared_bytes = 48 << 10;  ///< of the device
    bool has_matrices = false;         ///< is for matrix cores, and so of f16
};

inline void PrintTo(const Net& net, std::ostream* out) {
    *out << net.name;
}

inline constexpr Net kNets[] = {
    {"WeightsInRegisters", regression, 21, 21},
    {"WeightsInSharedMemory", regression, 40, 3000},
    {"WeightsInChunks", regression, 40, 1100, 8192},
    {"OddWidths", odd_widths, 19, 40},
    {"OddWidthsOfManyRows", odd_widths, 35, 5000},
    {"Classes", classes, 30, 50},
    {"TwoHeads", two_heads, 20, 70, 16384},
    {"WindowsOfThree", windows<3, 7>, 5, 40},
    {"WindowsOfTwoWide", windows<2, 65>, 3, 9},
    {"Matrices", regression, 21, 21, 48 << 10, true},
    {"MatricesOfManyRows", regression, 40, 3000, 48 << 10, true},
    {"MatricesInChunks", regression, 40, 1100, 8192, true},
    {"MatricesOfOddWidths", odd_widths, 19, 40, 48 << 10, true},
    {"MatricesOfClasses", classes, 30, 50, 48 << 10, true},
    {"MatricesOfTwoHeads", two_heads, 20, 70, 16384, true},
    {"MatricesInRegisters", regression, 70, 20000, 48 << 10, true},
    {"MatricesOfFewRowsInRegisters", regression, 5, 20000, 48 << 10, true},
    {"MatricesOfOddWidthsInRegisters", odd_widths, 70, 20000, 48 << 10, true},
    {"MatricesOfHalvesInRegisters", deep, 70, 20000, 48 << 10, true},
};

/// Traces what the network acts by, or its gradients and its loss.
inline void trace(const Net& net, bool learns, Trace& t) {
    const Tensor loss = net.build(t);
    if (!learns) return;
    const std::vector<Tensor> gradients = grad(loss, t.params());
    for (size_t i = 0; i < gradients.size(); ++i)
        t.output("gradient" + std::to_string(i), gradients[i]);
    t.output("loss", loss);
}

}  // namespace hearth::test::fused_networks
