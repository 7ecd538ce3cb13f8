// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Graphs as bytes: what a package keeps, so that it can be cooked again for another device, by
// another version, or with other settings.  Operators go by name, so the format outlives the
// tables of any one version.

#pragma once

#include "compiler/ir/graph.hpp"

#include <functional>

namespace hearth {

/// Changes whenever the layout changes; load_graphs reads every version up to this one.
inline constexpr uint32_t kGraphFormatVersion = 2;

/// Stores the contents of tensors somewhere and says where.
using StoreData = std::function<uint64_t(std::span<const std::byte>)>;

/// Little-endian bytes of the graphs; the contents of their tensors go through `store`.
std::vector<std::byte> save_graphs(std::span<const Graph> graphs, const StoreData& store);

/// Reads untrusted bytes.  `data` is what `store` stored into.  Errors: kCorruptData, or
/// kUnsupported for another version or an operator that this one does not have.  The graphs are
/// verified.
Result<std::vector<Graph>> load_graphs(std::span<const std::byte> bytes,
                                       std::span<const std::byte> data);

}  // namespace hearth
