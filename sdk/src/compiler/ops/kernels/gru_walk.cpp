// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ops/kernels/gru_walk.hpp"

#include "core/device_model.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

/// Beyond this, a step has enough arithmetic for a separate matrix product, which shares weights
/// between all sequences; here each workgroup reads all weights.
constexpr int64_t kMostHidden = 256;

int ceil_of(int64_t a, int64_t b) {
    return static_cast<int>((a + b - 1) / b);
}

}  // namespace

GruWalk GruWalk::of(bool is_backward, int64_t hidden, int64_t steps, int sequences, int threads,
                    const DeviceCaps& caps) {
    // Per thread; beyond this, registers spill.
    constexpr int kMostHeldFloats = 96, kMostSlices = 8;
    GruWalk walk;
    walk.is_backward = is_backward;
    walk.hidden = static_cast<int>(hidden);
    walk.steps = static_cast<int>(steps);
    walk.sequences = sequences;
    walk.threads = threads;
    // A CPU device runs a workgroup's threads one after the other: nothing to share.
    if (is_software(caps)) return walk;
    while (2 * walk.slices <= kMostSlices && 2 * walk.slices * walk.units() <= threads &&
           8 * walk.slices <= walk.hidden)
        walk.slices *= 2;
    const int held_floats = walk.terms_each() * (is_backward ? 1 : 3);
    walk.held = walk.units() * walk.slices <= threads && held_floats <= kMostHeldFloats;
    return walk;
}

int GruWalk::terms_each() const {
    return ceil_of(is_backward ? 3 * hidden : hidden, slices);
}

int64_t GruWalk::shared_floats() const {
    const int64_t all = units();
    return is_backward ? all * (4 + slices) : all * (1 + 3 * slices);
}

std::optional<GruWalk> GruWalk::of_kernel(const Graph& graph, const Node& node,
                                          const DeviceCaps& caps, uint64_t max_batch_size) {
    constexpr int64_t kMostThreads = 256;
    const bool is_backward = node.op->traits.walk == WindowWalk::kBackward;
    const Value& rows = graph.value(node.inputs[0]);
    const size_t weight = is_backward ? size_t{kGruBackWeight} : size_t{kGruWeight};
    const int64_t hidden = graph.value(node.inputs[weight]).shape[1].count,
                  length = node.attrs.integer("length");
    // A CPU's products of matrices are faster than a workgroup whose invocations take turns.
    if (device_model(caps).keeps_bodies || rows.dtype == DType::kF64 || hidden > kMostHidden)
        return {};
    const Dim windows{rows.shape[0].count / length, rows.shape[0].is_batch};
    const auto threads =
        static_cast<int>(std::min<int64_t>(kMostThreads, max_workgroup_size(caps)));
    // Narrow states leave room for several sequences per workgroup once the device is occupied.
    const int64_t many =
        windows.resolve(static_cast<int64_t>(max_batch_size)) / device_model(caps).enough_groups();
    const auto sequences =
        static_cast<int>(std::clamp<int64_t>(many, 1, std::max<int64_t>(1, threads / hidden)));
    const GruWalk walk = of(is_backward, hidden, length, sequences, threads, caps);
    const int64_t bytes = walk.shared_floats() * static_cast<int64_t>(sizeof(float));
    if (bytes > caps.max_compute_shared_memory_size) return {};
    return walk;
}

}  // namespace hearth
