// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels that are bodies of operators' samples, each with what it reads and what it should
// write.

#pragma once

#include "compiler/codegen/lower.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/reference/run_kernel.hpp"
#include "ops/op_cases.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hearth::test {

struct OpKernel {
    std::shared_ptr<const Body> body;
    KernelLaunch launch;
    std::vector<OperandMemory> operands;  ///< in the body's order, before it runs
    /// What it writes: the operand's index, and what the interpreter gives.
    std::vector<std::pair<size_t, HostTensor>> expected;
};

/// A variant's graph after the passes, its kernels, and what each value holds as the interpreter
/// says.
struct LoweredVariant {
    Graph graph;
    std::vector<KernelCall> calls;
    std::vector<HostTensor> values;
};
struct LowerSettings {
    bool fused_networks = false;
    uint64_t rows_capacity = 0;  ///< 0: a few more than the variant has
    Precision precision = Precision::kF32;
    std::map<std::string, std::string> variants = {};  ///< LowerOptions::variants
};
/// Lowered without code; none if that failed, which the test then does.
std::optional<LoweredVariant> lower_variant(const Variant& variant, const DeviceCaps& caps,
                                            const LowerSettings& settings = {});
bool writes_in_place(const KernelCall& call);
bool writes(const KernelCall& call, ValueId value);

/// Those of a variant's graph, compiled for such a device.  Kernels that write in place are left
/// out: what they found is gone.
std::vector<OpKernel> kernels_of(const Variant& variant, const DeviceCaps& caps,
                                 const LowerSettings& settings = {});

/// A GPU, and a driver that runs on the CPU.
DeviceCaps gpu_caps();
DeviceCaps cpu_caps();
/// A GPU with matrix cores, of subgroups and matrices small enough to be executed here.
DeviceCaps matrix_caps();

}  // namespace hearth::test
