// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The network that represents the cloth: a multi-resolution hash grid (Mueller et al., "Instant
// Neural Graphics Primitives", 2022), then a small multi-layer perceptron; 13,955 parameters.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/status.hpp>

#include <memory>
#include <vector>

namespace hearth::loom {

/// The entries of the program:
///
///     learn   picture [texels, 3], texel [batch] -> loss; one step of Adam on the texels with
///             these indices
///     judge   as above, without the step
///     shade   place [batch, 2] in [0, 1], from the top left -> colour [batch, 3]
///     shade   place [rows, 2] in [0, 1], from the top left -> colour [rows, 3]
struct LoomTraces {
    std::unique_ptr<Trace> learn, judge, shade;
    std::vector<Trace*> entries() const { return {learn.get(), judge.get(), shade.get()}; }
};
LoomTraces trace_loom();

/// The options of device target "gpu", or of "cpu": drivers that run on the CPU are faster with one
/// kernel per layer.
CompileOptions loom_options(bool for_cpu);

}  // namespace hearth::loom
