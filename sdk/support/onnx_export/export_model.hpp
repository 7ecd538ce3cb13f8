// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes graphs and entries of packages, with trained weights, as ONNX models, and packages with
// trained weights: for the tool and the workbench.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/compile.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hearth {

/// Exports `graph`.
/// weights  bytes of a brain of `package`, a .safetensors file or a file of torch.save, with all of
///          the graph's params under their names; empty: the graph's own weights
/// package  the graph's package; empty where there is none, and then a brain is an error
/// Errors: kNotFound naming a param that the file lacks; those of the readers and of export_onnx.
Result<std::vector<std::byte>> export_with_weights(const Graph& graph,
                                                   std::span<const std::byte> weights,
                                                   std::span<const std::byte> package);

/// The graphs of a package, with its weights as initial values.
Result<std::vector<Graph>> package_graphs(std::span<const std::byte> package);

/// Exports the entry of this name from a package; with an empty name the only one, or "main".
/// weights: as above.  Errors: also kNotFound listing the entries.
Result<std::vector<std::byte>> export_package_entry(std::span<const std::byte> package,
                                                    const std::string& entry,
                                                    std::span<const std::byte> weights);

/// recook() of a package whose params and states have the values of `weights`, as far as those have
/// them; states of another shape (by agent) keep theirs.  Brains of the package fit the result.
/// Errors: kNotFound if it has none of the params; those of the readers and of recook().
Result<Cooked> recook_with_weights(std::span<const std::byte> package,
                                   std::span<const std::byte> weights, const CookOptions& options);

}  // namespace hearth
