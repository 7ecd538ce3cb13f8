// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The passes between tracing and code generation, each Graph -> Graph.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/compile.hpp>

#include <functional>
#include <span>
#include <string_view>

namespace hearth {

struct PassOptions {
    uint64_t rows_capacity = 1;
    DeviceCaps caps = {};
    bool fused_networks = true;  ///< whether code generation will try them
    bool any_operands = true;    ///< whether a kernel may have more than push constants hold
    Precision precision = Precision::kF32;
};

struct Pass {
    std::string_view name;
    Result<Graph> (*run)(const Graph&, const PassOptions&);
};

/// In the order in which they run.
std::span<const Pass> passes();

/// Called with the graph after each pass, e.g. to print it.
using PassObserver = std::function<void(std::string_view pass, const Graph&)>;

/// Runs all passes with verify() between.  Errors name the pass.
Result<Graph> run_passes(Graph graph, const PassOptions& options = {},
                         const PassObserver& observer = {});

/// Replaces composites, and operators whose own kernel declines, by their decompositions, until
/// none is left.
Result<Graph> decompose(const Graph& graph, const PassOptions& options = {});

/// Evaluates nodes whose inputs are all constants, with the CPU reference.
Result<Graph> fold_constants(const Graph& graph, const PassOptions& options = {});

/// With Precision::kF16: lets products of f32 read f16, each tensor rounded once.
Result<Graph> mix_precision(const Graph& graph, const PassOptions& options = {});

/// Rewrites sums and matrix products with few results and many terms as many partial ones and a
/// short sum of them; see compiler/ops/partial.ops.cpp.
Result<Graph> split_sums(const Graph& graph, const PassOptions& options = {});

/// Rewrites sums over the rows of the graph's row region as one part for each of a fixed number of
/// stretches of rows, and a short sum of those; see compiler/fusion/row_region.hpp.
Result<Graph> split_rows(const Graph& graph, const PassOptions& options = {});

/// Rewrites folds of many numbers, such as the norm of all gradients, as one, and those of gradients
/// that come in parts so that most is done where the gradient is made; see compiler/passes/split_norms.cpp.
Result<Graph> split_norms(const Graph& graph, const PassOptions& options = {});

/// Lets equal nodes on equal inputs be one node.
Result<Graph> share_common(const Graph& graph, const PassOptions& options = {});

/// The graph with values computed again for their late readers instead of kept, until the estimated
/// scratch memory is at most `budget_bytes` or nothing more is to be gained.  Not among passes():
/// it comes last, and only where there is a budget.  See recompute.cpp.
Result<Graph> rematerialize(const Graph& graph, uint64_t budget_bytes,
                            const PassOptions& options = {});
/// What `rematerialize` takes the scratch memory of a graph to be.
uint64_t estimated_scratch_bytes(const Graph& graph, const PassOptions& options = {});

}  // namespace hearth
