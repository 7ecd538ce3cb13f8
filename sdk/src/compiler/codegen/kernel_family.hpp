// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernel families: each writes kernels of one algorithm, with parameters (tiles, blocks) that are enumerated and
// estimated before one of them is written.  CPUs and GPUs are tiles and writers of the same family; which of them
// match follows from the device model.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/ops/kernels/attention_tiles.hpp"
#include "compiler/ops/kernels/conv_tiles.hpp"
#include "compiler/ops/kernels/cpu_conv_strips.hpp"

#include <hearth/status.hpp>

#include <string>
#include <variant>
#include <vector>

namespace hearth {

/// Parameters of a family's kernel. std::monostate: the family has one kernel for a task.
using KernelChoice =
    std::variant<std::monostate, AttentionTile, ConvStrip, ConvTile, ProductLayout, MatmulTile>;

struct KernelFamily {
    const char* name;
    /// True if the family has a kernel for the task.
    bool (*matches)(const KernelTask& task);
    KernelDraft (*write)(const KernelTask& task, const KernelChoice& choice);
    /// Parameters of all kernels that the family can write for the task, at least one of them.
    std::vector<KernelChoice> (*candidates)(const KernelTask& task) = only_choice;
    /// Estimated time of one of them, comparable within the task's candidates.
    double (*cost)(const KernelTask& task, const KernelChoice& choice) = equal_cost;
    /// The key of a task whose candidates the tuner finds by it, in the order of preference.  Empty:
    /// the program lists the variants under the key of kernel_problem(), ordered by cost.
    std::string (*tuning_key)(const KernelTask& task) = no_key;

    static std::vector<KernelChoice> only_choice(const KernelTask&) { return {KernelChoice()}; }
    static double equal_cost(const KernelTask&, const KernelChoice&) { return 0; }
    static std::string no_key(const KernelTask&) { return ""; }
};

/// The first family of the table in kernel_families.cpp that matches, or null.
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
