// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The network that is the cloth: a multi-resolution grid of features (Mueller et al., "Instant Neural
// Graphics Primitives", 2022), then a small multi-layer perceptron.  13,955 numbers.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/status.hpp>

#include <memory>
#include <vector>

namespace hearth::loom {

/// The entries of the program:
///
///     learn   picture [texels, 3], texel [rows] -> loss; one step of Adam on the texels of these numbers
///     judge   the same without the step
///     shade   place [rows, 2] in [0, 1], from the top left -> colour [rows, 3]
struct LoomTraces {
    std::unique_ptr<Trace> learn, judge, shade;
    std::vector<Trace*> entries() const { return {learn.get(), judge.get(), shade.get()}; }
};
LoomTraces trace_loom();

/// The options of the profile "gpu", or of "cpu": drivers that run on the CPU rather have a kernel for
/// each layer.
CompileOptions loom_options(bool for_cpu);

}  // namespace hearth::loom
