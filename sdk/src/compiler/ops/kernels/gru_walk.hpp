// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A GRU's steps over a window: how a workgroup shares them, in a kernel of their own
// (compiler/codegen/recurrent/gru_kernel.cpp) or as a stage of a fused network.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/types.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth {

/// Operators by name, and their operands.
inline constexpr std::string_view kGruWindow = "gru_window";
inline constexpr std::string_view kGruWindowBackward = "gru_window_backward";
enum GruInput : size_t { kGruFromX, kGruWeight, kGruBias, kGruStart, kGruResets };
enum GruOutput : size_t { kGruH, kGruBefore, kGruGates };
enum GruBackwardInput : size_t {
    kGruCotangent,
    kGruBackBefore,
    kGruBackGates,
    kGruBackWeight,
    kGruBackResets
};
enum GruBackwardOutput : size_t { kGruToX, kGruToHidden, kGruToStart };

/// Distribution of the work over a workgroup.
struct GruWalk {
    bool is_backward = false;
    int hidden = 0, steps = 0;
    int sequences = 1;  ///< per workgroup at a time
    int threads = 1;
    int slices = 1;     ///< threads that share a unit's dot product
    bool held = false;  ///< weights stay in registers

    /// Chooses slices and register use for this number of sequences at a time.
    static GruWalk of(bool is_backward, int64_t hidden, int64_t steps, int sequences, int threads,
                      const DeviceCaps& caps);
    /// Of a node's kernel of its own; nothing if the device has none: then the operator is decomposed.
    static std::optional<GruWalk> of_kernel(const Graph& graph, const Node& node,
                                            const DeviceCaps& caps, uint64_t max_batch_size);
    /// Terms that each thread of a dot product accumulates.
    int terms_each() const;
    int units() const { return sequences * hidden; }
    /// Shared memory in floats.
    int64_t shared_floats() const;
};

}  // namespace hearth
