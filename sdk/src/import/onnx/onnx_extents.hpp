// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shape arithmetic on extents that depend on the number of rows.  Exporters write shapes as little
// computations on integers (Shape, Gather, Concat, Reshape ...).  With fixed shapes these are
// folded like any other constants; with rows they are followed here, as lists of Dim.

#pragma once

#include "import/onnx/onnx_model.hpp"

#include <hearth/types.hpp>

#include <optional>
#include <span>
#include <vector>

namespace hearth {

/// A scalar or vector of integers, some of them multiples of the number of rows.
struct Extents {
    std::vector<Dim> dims;
    bool is_scalar = false;

    bool has_rows() const;
    /// As an i64 tensor; has_rows() must be false.
    HostTensor as_tensor() const;
    /// The contents of a small integer tensor of rank 0 or 1.
    static std::optional<Extents> from(const HostTensor& tensor);
};

/// Evaluates `node` on extents; nothing if the operator or these operands are beyond it.
/// inputs: one for each of the node's inputs; nothing for those that are absent.
std::optional<Extents> evaluate_extents(const OnnxNode& node,
                                        std::span<const std::optional<Extents>> inputs);

}  // namespace hearth
