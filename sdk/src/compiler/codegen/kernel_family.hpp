// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernel families: each writes kernels of one algorithm, with parameters (tiles, blocks) that are enumerated and
// estimated before one of them is written.  CPUs and GPUs are tiles and writers of the same family; which of them
// match follows from the device model.

#pragma once

#include "compiler/codegen/group_kernels.hpp"
#include "compiler/ops/cpu_conv_strips.hpp"

#include <hearth/status.hpp>

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace hearth {

/// A group of nodes to write a kernel of.
struct KernelTask {
    const Graph& graph;
    const Group& group;
    const std::vector<bool>& inlined;
    const LowerOptions& options;

    /// The node that decides about the kernel's loops: the product, the operator with a custom
    /// kernel, else the last one.
    const Node& node() const;
};

/// Parameters of a family's kernel. std::monostate: the family has one kernel for a task.
using KernelChoice = std::variant<std::monostate, ConvStrip, ProductLayout>;

struct KernelFamily {
    const char* name;
    /// True if the family has a kernel for the task; then it has a candidate as well.
    bool (*matches)(const KernelTask& task);
    /// Parameters of all kernels that the family can write for the task.
    std::vector<KernelChoice> (*candidates)(const KernelTask& task);
    /// Estimated time of one of them, comparable within the task's candidates.
    double (*cost)(const KernelTask& task, const KernelChoice& choice);
    KernelDraft (*write)(const KernelTask& task, const KernelChoice& choice);
};

/// All families; of several that match, the first one writes the kernel.
std::span<const KernelFamily> kernel_families();
/// The first family that matches, or null.
const KernelFamily* kernel_family(const KernelTask& task);

/// Errors: kUnsupported naming the operator without a kernel on the device.
Status check_lowerable(const KernelTask& task);

/// "turned", "12x2x16 tiles, 4x56 windows, ...": equal for equal choices.
std::string to_string(const KernelChoice& choice);

/// The candidates worth a trial, the one of least cost first; the task must have one.
std::vector<KernelChoice> variants_of(const KernelFamily& family, const KernelTask& task);

/// The kernel of the measured variant (LowerOptions::variants) if there is one, else of least cost.
KernelDraft best_kernel(const KernelFamily& family, const KernelTask& task);

}  // namespace hearth
