// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// From graphs to kernels: fuses each graph into groups and turns each group into one kernel call.

#pragma once

#include "compiler/codegen/lowered_program.hpp"
#include "compiler/fusion/fuse.hpp"
#include "compiler/ir/graph.hpp"
#include "core/device_model.hpp"

#include <map>
#include <span>
#include <string>

namespace hearth {

struct LowerOptions {
    DeviceCaps caps;
    BindingModel binding_model = BindingModel::kDeviceAddress;
    uint64_t rows_capacity = 1;
    bool fuse = true;
    bool fused_networks = true;  ///< where a region of rows is one
    bool spare_memory = false;   ///< see FusionOptions
    bool compile_kernels =
        true;                 ///< else they have no code, and bodies alone are of use; as on CPUs
    bool keep_source = true;  ///< keep the GLSL in the Program, for people to read
    std::map<std::string, std::string> variants;  ///< of kernels, where measured: Tuning::variants
};

/// Defines ROLLED, which heads loops that drivers on the CPU had better not unroll.  They do unroll
/// loops of up to 32 turns, and a load is a loop over lanes there: what compiles in 70 ms as loops
/// takes 240 ms unrolled and runs no faster.
std::string rolled_loops(const DeviceCaps& caps);

/// Lowers graphs without composites.  Kernels with equal text are shared among all entries.
/// Errors: kUnsupported naming the operator that has no kernel, or the type no kernel can hold.
Result<LoweredProgram> lower(std::span<const Graph> graphs, const LowerOptions& options);

}  // namespace hearth
