// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels of a program, compiled as they are added; calls with equal kernels share one.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/lower_options.hpp"
#include "compiler/codegen/lowered_program.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/ir/graph.hpp"

#include <hearth/status.hpp>

#include <string>
#include <unordered_map>

namespace hearth {

class KernelTable {
  public:
    /// program: receives kernels and bodies; outlives the table.
    KernelTable(const LowerOptions& options, LoweredProgram& program)
        : options_(options), program_(program) {}

    /// Returns the kernel's index among the program's; 0 where kernels are not compiled.
    /// label: names the kernel's call in errors.
    Result<uint32_t> add(const Graph& graph, const KernelDraft& kernel, const OperandLayout& layout,
                         const std::string& label);

    /// Adds kCopyKernel where copies between kernels are faster as a kernel.
    Status add_copy_kernel();

    size_t size() const { return program_.kernels.size(); }
    /// Removes the kernels from `first` on.
    void truncate(size_t first);

  private:
    uint32_t add_body(const KernelDraft& kernel, const OperandLayout& layout);
    Result<uint32_t> add_compiled(const Graph& graph, const KernelDraft& draft,
                                  const OperandLayout& layout, const std::string& label);
    Result<Kernel> compile(const Graph& graph, const KernelDraft& draft,
                           const OperandLayout& layout, const std::string& text,
                           const std::string& label) const;
    uint32_t equal_kernel(const Kernel& kernel) const;

    const LowerOptions& options_;
    LoweredProgram& program_;
    std::unordered_map<std::string, uint32_t> by_source_;       ///< kernels
    std::unordered_multimap<uint64_t, uint32_t> by_code_hash_;  ///< shared ones
};

}  // namespace hearth
