// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What an operator's own kernel computes, as text: the key under which a measured variant is kept,
// and from which a trial is made.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// A call of an operator that has a kernel of its own.  Extents are those at capacity.
struct KernelProblem {
    const OpDef* op = nullptr;
    std::vector<TensorType> inputs;
    Attrs attrs;

    /// "conv f32 8x3x224x224, f32 64x3x3x3, dilations 1x1, ...": equal for equal problems.
    std::string key() const;
};

KernelProblem kernel_problem(const Graph& graph, const Node& node, uint64_t rows_capacity);

/// Nothing if the text names no operator and its operands.
std::optional<KernelProblem> parse_kernel_problem(std::string_view key);

/// CustomKernel::variants; none if the rule declines.
std::vector<std::string> variants_of(const KernelProblem& problem, const DeviceCaps& caps);

}  // namespace hearth
