// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A kernel as code generation describes it, before it is compiled.

#pragma once

#include "compiler/codegen/lowered_program.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/kernel/body.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hearth {

/// A kernel before compilation, with its one call.
struct KernelDraft {
    std::string name;
    Status status;  ///< why there is no kernel: a fault of the operator's rule
    std::shared_ptr<const Body> described;  ///< what it does; null: `spirv` says it
    /// A hand-written text: what is ahead of the functions that `described` is then, and behind.
    std::string head, text;
    bool may_divide_inexactly = false;  ///< exact quotients would cost too much
    bool has_matrices = false;          ///< it multiplies matrices
    bool uses_subgroups = false;        ///< of Body::subgroup_size
    std::vector<uint32_t> part_of;      ///< per buffer, in a batched kernel; see CallOperand
    std::vector<uint32_t> spirv;        ///< finished code instead of the body
    BufferTable buffers;
    std::vector<bool> is_elementwise;  ///< per buffer; see CallOperand
    std::vector<ValueId> stores;       ///< of a fused network: the buffers that it writes
    /// Of a text whose matrices belong to the workgroup: what it multiplies at once.
    std::optional<MatrixShape> workgroup_matrix;
    std::array<uint32_t, 3> local_size{1, 1, 1};
    std::array<GridAxis, 3> grid;
    uint64_t flops = 0;
    /// Its matrices are sums and factors at once, which only VK_NV_cooperative_matrix has.
    bool prefers_nv_matrices = false;
    std::string tunable;                ///< Compiled::tunable_kernels; empty: there is one variant
    std::vector<std::string> variants;  ///< LoweredProgram::listed_variants

    /// True if the kernel is hand-written text, with functions of a body ahead of it.
    bool is_text() const { return !text.empty(); }
};

/// The body's operands: values of the graph.
std::vector<uint32_t> operand_values(const Body& body);

/// Sets what follows from the body.
void set_body(KernelDraft& kernel, std::shared_ptr<Body> body);
/// Likewise, of a body that is functions alone, which a text calls.
void set_functions(KernelDraft& kernel, std::shared_ptr<Body> body);

/// True if drivers compile the kernel quickly enough (DeviceModel::max_instructions).
bool compiles_quickly(const KernelDraft& kernel, const DeviceCaps& caps);

}  // namespace hearth
