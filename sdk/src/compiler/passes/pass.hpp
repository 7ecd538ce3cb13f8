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
    uint64_t max_batch_size = 1;
    DeviceCaps caps = {};
    bool fused_networks = true;  ///< true if code generation will try them
    bool any_operands = true;    ///< true if kernels may use more operands than push constants hold
    Precision precision = Precision::kF32;
    /// Parts of a sum at most, each of which takes the memory of the result.  0: as many as keep the
    /// device busy.
    int64_t most_parts = 0;
};

struct Pass {
    std::string_view name;
    Result<Graph> (*run)(const Graph&, const PassOptions&);
};

/// The passes in execution order.
std::span<const Pass> passes();

/// Called with the graph after each pass, e.g. to print it.
using PassObserver = std::function<void(std::string_view pass, const Graph&)>;

/// Runs all passes with verify() between.  Errors name the pass.
Result<Graph> run_passes(Graph graph, const PassOptions& options = {},
                         const PassObserver& observer = {});

/// Replaces composites, and operators without a kernel of their own for these operands, by their
/// decompositions until none is left.
Result<Graph> decompose(const Graph& graph, const PassOptions& options = {});

/// Evaluates nodes whose inputs are all constants, with the CPU reference.
Result<Graph> fold_constants(const Graph& graph, const PassOptions& options = {});

/// With Precision::kF16: makes products of f32 read f16; each tensor is rounded once.
Result<Graph> mix_precision(const Graph& graph, const PassOptions& options = {});

/// Rewrites sums and matrix products with few results and many terms as partial sums (split-K) and
/// a short final sum; see compiler/ops/records/partial.ops.cpp.
Result<Graph> split_sums(const Graph& graph, const PassOptions& options = {});

/// Rewrites sums over the rows of the graph's row region as partial sums over a fixed number of
/// ranges of rows, and a short final sum; see compiler/fusion/row_region.hpp.
Result<Graph> split_rows(const Graph& graph, const PassOptions& options = {});

/// Rewrites reductions of many scalars, such as the norm of all gradients, as one reduction. Splits
/// those of partially summed gradients, so that most of the work is done where the gradient is
/// computed; see compiler/passes/split_norms.cpp.
Result<Graph> split_norms(const Graph& graph, const PassOptions& options = {});

/// Merges equal nodes with equal inputs.
Result<Graph> share_common(const Graph& graph, const PassOptions& options = {});

/// Returns the graph with values recomputed for their late readers instead of kept, until the
/// estimated scratch memory is at most `budget_bytes` or no gain remains. Not among passes(): it
/// runs last, and only with a budget. See rematerialize.cpp.
Result<Graph> rematerialize(const Graph& graph, uint64_t budget_bytes,
                            const PassOptions& options = {});
/// The scratch memory of a graph as `rematerialize` estimates it.
uint64_t estimated_scratch_bytes(const Graph& graph, const PassOptions& options = {});

}  // namespace hearth
