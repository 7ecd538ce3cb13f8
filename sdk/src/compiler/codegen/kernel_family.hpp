// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernel families: each writes kernels of one algorithm, with parameters (tiles, blocks) that are enumerated and
// estimated before one of them is written.  Families of kernels for CPUs are in cpu_families().

#pragma once

#include "compiler/codegen/group_kernels.hpp"
#include "compiler/ops/cpu_conv_strips.hpp"

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace hearth {

/// A group of nodes to write a kernel of; `node` is the one that decides about its loops.
struct KernelTask {
    const Graph& graph;
    const Group& group;
    const Node& node;
    const std::vector<bool>& inlined;
    const LowerOptions& options;
};

/// Parameters of a family's kernel. std::monostate: the family has one kernel for a task.
using KernelChoice = std::variant<std::monostate, ConvStrip, ProductLayout>;

struct KernelFamily {
    const char* name;
    /// True if the family has a kernel for groups around this node; then it has a candidate as well.
    bool (*matches)(const Graph& graph, const Node& node, const DeviceCaps& caps);
    /// Parameters of all kernels that the family can write for the task.
    std::vector<KernelChoice> (*candidates)(const KernelTask& task);
    /// Estimated time of one of them, comparable within the task's candidates.
    double (*cost)(const KernelTask& task, const KernelChoice& choice);
    KernelDraft (*write)(const KernelTask& task, const KernelChoice& choice);
};

/// The families of CPUs; of several that match, the first one writes the kernel.
std::span<const KernelFamily> cpu_families();
/// The first of cpu_families() that matches, or null.
const KernelFamily* cpu_family(const Graph& graph, const Node& node, const DeviceCaps& caps);

/// "turned", "12x2x16 tiles, 4x56 windows, ...": equal for equal choices.
std::string to_string(const KernelChoice& choice);

/// The candidates worth a trial, the one of least cost first; the task must have one.
std::vector<KernelChoice> variants_of(const KernelFamily& family, const KernelTask& task);

/// The kernel of the measured variant (LowerOptions::variants) if there is one, else of least cost.
KernelDraft best_kernel(const KernelFamily& family, const KernelTask& task);

}  // namespace hearth
