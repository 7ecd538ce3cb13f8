// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Narrow weights on devices whose buffers hold no narrow elements.

#pragma once

#include "compiler/ir/graph.hpp"

#include <span>

namespace hearth {

/// Replaces narrow constants, and with_params narrow params, by packed words where `storage` does
/// not cover their type: each reader unpacks the elements that it loads. A param `w` of f16 becomes
/// the param `w.f16` of words.
Result<Graph> pack_leaves(const Graph& graph, NarrowStorage storage, bool with_params);

/// As above for the entries of one Program; with params if no entry updates anything.
Status pack_leaves(std::span<Graph> graphs, NarrowStorage storage);

}  // namespace hearth
