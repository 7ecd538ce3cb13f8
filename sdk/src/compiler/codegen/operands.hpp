// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operands of kernels: which buffers a kernel touches, what their elements are in memory, and how it
// is given each of them.

#pragma once

#include "compiler/ir/graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

struct KernelDraft;
struct LowerOptions;

/// The buffers that one kernel touches, in the order in which its text first names them.  They are
/// named by position, so that equal kernels on different values have equal text.
struct BufferTable {
    std::vector<uint32_t> values;
    bool uses_rows = false;

    std::string name_of(uint32_t value);
};

/// Whether any of the buffers has elements of so many bytes.
bool holds(const Graph& graph, const BufferTable& buffers, NarrowStorage storage, uint32_t bytes);

/// Order in which a kernel's buffers become operands: first those that it locates itself, by their
/// places in the arena or the weights, then those whose addresses are pushed, or which are
/// descriptors.
struct OperandLayout {
    std::vector<size_t> order;  ///< positions in BufferTable::values
    uint32_t located_count = 0;
    bool uses_rows = false;  ///< the last operand holds the live rows

    uint32_t count() const { return static_cast<uint32_t>(order.size()) + (uses_rows ? 1 : 0); }
};

inline constexpr uint32_t kMaxBoundOperands = 14;  // addresses: 112 of 128 bytes; or descriptors

/// Operands that a kernel of several operators had better not exceed.
int most_fused_operands(const DeviceCaps& caps);

/// Addresses or descriptors that a kernel can have; 0: any number of operands.
int most_bound_operands(const DeviceCaps& caps);

OperandLayout operand_layout(const Graph& graph, const KernelDraft& kernel,
                             const LowerOptions& options);

/// True if one kernel can reach all its operands.
bool reaches_operands(const OperandLayout& layout, const DeviceCaps& caps);

}  // namespace hearth
