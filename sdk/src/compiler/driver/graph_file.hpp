// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Serialization of graphs in packages, so that they can be cooked again for another device, by
// another version, or with other settings.  Operators are stored by name, so the format does not
// depend on the operator table of a version.

#pragma once

#include "compiler/ir/graph.hpp"
#include "program/package.hpp"

#include <functional>

namespace hearth {

/// Incremented whenever the layout changes; load_graphs reads every version up to this one.
inline constexpr uint32_t kGraphFormatVersion = 2;

/// Stores the contents of a tensor and returns their offset.
using StoreData = std::function<uint64_t(std::span<const std::byte>)>;

/// Returns little-endian bytes of the graphs; the contents of their tensors go through `store`.
std::vector<std::byte> save_graphs(std::span<const Graph> graphs, const StoreData& store);

/// Reads untrusted bytes.  `data` is the data that `store` wrote.  Returns verified graphs.
/// Errors: kCorruptData, or kUnsupported for a newer version or an unknown operator.
Result<std::vector<Graph>> load_graphs(std::span<const std::byte> bytes,
                                       std::span<const std::byte> data);

/// As above: the graphs of a package.
Result<std::vector<Graph>> load_graphs(const PackageView& package);

}  // namespace hearth
