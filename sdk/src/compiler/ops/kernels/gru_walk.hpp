// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A GRU's steps over a window: how a workgroup shares them, and GLSL for a separate kernel
// (gru.ops.cpp). Stages of a fused network generate the same steps as a body
// (compiler/codegen/fused_network/stage_walk.cpp). See shaders/recurrent.

#pragma once

#include <hearth/types.hpp>

#include <cstdint>
#include <string>
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
    /// Terms that each thread of a dot product accumulates.
    int terms_each() const;
    int units() const { return sequences * hidden; }
    /// Shared memory in floats.
    int64_t shared_floats() const;
};

/// Statements that read and write operands, using the names of shaders/recurrent.
struct GruAccess {
    std::string read_weight;  ///< sets `weight` to the element at (line, column)
    std::string
        read_reset;  ///< sets `is_reset` for row `reset_row`, `reset_r` of the tile; may be empty
    std::string store;  ///< the results of row `row`, `r` of the tile, unit `j`
    // Forward:
    std::string read_start, read_from_x, read_bias;  ///< set `state`; `x`; `y`
    // Backward:
    std::string read_cotangent, read_before, read_gates;  ///< set `g`; `before`; `gates`
    std::string store_start;  ///< stores `back` of `window`; empty: nothing reads it
};

/// Statements of a workgroup's walk, for a separate kernel. In scope: tid; first (the tile's first
/// row); last_row; SHARED and PUT_SHARED of floats, of which those from `shared_offset` on belong
/// to the walk; UNROLL.
std::string gru_walk_text(const GruWalk& walk, const GruAccess& access, int64_t shared_offset);

}  // namespace hearth
