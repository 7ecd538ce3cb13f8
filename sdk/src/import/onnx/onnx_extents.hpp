// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shape arithmetic on extents that depend on the batch size.  Exporters write shapes as small
// integer computations (Shape, Gather, Concat, Reshape, ...).  With fixed shapes constant folding
// evaluates them; with a symbolic batch size they are evaluated here, on lists of Dim.

#pragma once

#include "import/onnx/onnx_model.hpp"

#include <hearth/types.hpp>

#include <optional>
#include <span>
#include <vector>

namespace hearth {

/// A scalar or vector of integers, each of which may be a multiple of the batch size, or the upper
/// bound of a number that depends on data.
struct Extents {
    std::vector<Dim> dims;
    bool is_scalar = false;
    std::vector<bool> bounds = {};  ///< which dims are bounds; empty: none

    bool has_rows() const;
    bool has_bounds() const;
    bool is_bound(size_t i) const { return i < bounds.size() && bounds[i]; }
    void append(Dim d, bool is_bound);
    /// As an i64 tensor; has_rows() must be false.
    HostTensor as_tensor() const;
    /// The contents of an integer tensor of rank 0 or 1, if it is small.
    static std::optional<Extents> from(const HostTensor& tensor);
};

/// Evaluates `node` on extents; nothing if the operator or its operands are not supported.
/// inputs: one per input of the node; nothing for absent inputs.
std::optional<Extents> evaluate_extents(const OnnxNode& node,
                                        std::span<const std::optional<Extents>> inputs);

}  // namespace hearth
