// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What code generation hands to planning: kernels, and calls of them on values of a graph.
// No offsets and no order yet; those are the planner's.

#pragma once

#include "program/program.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct Body;

/// One value of the graph (or the run block) as a kernel's operand.
struct CallOperand {
    uint32_t value = kNoValue;  ///< value of the entry's graph; kNoValue: the run block
    Access access = Access::kRead;
    /// Each thread reads this operand only at the element that it also writes, so that a written
    /// operand of the same size may take over its bytes.
    bool is_elementwise = false;
    /// In a call made of independent parts, the one that uses this operand; 0: several do, or the
    /// call is not made of parts.  A part is element-wise on its own: none may take over the bytes
    /// that another one reads.
    uint32_t part = 0;
};

/// One dispatch.
struct KernelCall {
    uint32_t kernel = 0;  ///< index into LoweredProgram::kernels
    std::vector<CallOperand> operands;
    std::vector<uint32_t> words;
    std::array<GridAxis, 3> grid;
    std::string label;
    uint64_t flops = 0;
    uint64_t bytes_moved = 0;
    /// What its kernel does, where that is described (compiler/kernel/body.hpp); it names values of the graph.
    std::shared_ptr<const Body> body;
    /// Else, where it is a hand-written text: the functions by which that reaches its operands.
    std::shared_ptr<const Body> functions;
    std::vector<uint32_t> computes;  ///< values it computes, in order, intermediates included
};

/// The calls of one entry, in an order that respects data flow.
struct LoweredEntry {
    std::string name;
    std::vector<KernelCall> calls;
    /// One per value of the graph: the value whose bytes it shares (a reshape), or itself.
    std::vector<uint32_t> alias_of;
};

/// The kernel by this name, if there is one, copies as many words as its word says from operand 0 to
/// operand 1, each by an invocation.  No call uses it: it is there for copies that planning finds
/// necessary, and may be left out if there are none.
inline constexpr std::string_view kCopyKernel = "copy";

struct LoweredProgram {
    std::vector<Kernel> kernels;
    /// For CPUs: what each kernel does, which has no code.  Its buffers are operands in their order.
    std::vector<std::shared_ptr<const Body>> bodies;
    std::vector<LoweredEntry> entries;
    BindingModel binding_model = BindingModel::kDeviceAddress;
    std::string profile;
    std::vector<std::string> notes;    ///< for people: what was not done, and why
    std::vector<std::string> tunable;  ///< kernels that have variants
    /// Variants of fused networks and of kernels for CPUs, which depend on the graph, the shipped one
    /// first.
    std::map<std::string, std::vector<std::string>> listed_variants;
};

}  // namespace hearth
