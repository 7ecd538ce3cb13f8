// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace hearth {

/// What a kernel rule sees of a node.
class NodeContext {
  public:
    NodeContext(const Graph& graph, const Node& node, const DeviceCaps& caps,
                uint64_t rows_capacity, std::string_view variant = {});
    NodeContext(const NodeContext&) = delete;
    NodeContext& operator=(const NodeContext&) = delete;

  private:
    std::vector<TensorType> inputs_, outputs_;

  public:
    const KernelRuleContext context;
};

/// Returns the kernel that the rule of a node's operator (class kKernel) makes; nullopt if it
/// declines.  variant  KernelRuleContext::variant.
std::optional<CustomKernel> custom_kernel_of(const Graph& graph, const Node& node,
                                             const DeviceCaps& caps, uint64_t rows_capacity,
                                             std::string_view variant = {});

/// True if that kernel is a body, which every target can compile.
bool has_body(const Graph& graph, const Node& node, const DeviceCaps& caps, uint64_t rows_capacity);

}  // namespace hearth
