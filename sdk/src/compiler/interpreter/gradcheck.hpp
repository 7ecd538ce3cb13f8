// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Gradients against finite differences, in double.

#pragma once

#include <hearth/op/op_def.hpp>

#include <functional>
#include <span>
#include <vector>

namespace hearth {

struct GradcheckOptions {
    int64_t rows = 1;            ///< what symbolic extents stand for
    double step = 1e-5;          ///< of the central differences
    double tolerance = 1e-6;     ///< relative to max(1, |gradient|)
    int64_t most_elements = 24;  ///< of each input; of more, that many are picked evenly
};

/// Code to differentiate: builds tensors of traced inputs.
using TracedFunction = std::function<std::vector<Tensor>(Trace&, std::span<const Tensor>)>;

/// Checks the gradient of `f` at `inputs`, for each floating-point input, with fixed pseudo-random
/// cotangents for its floating-point outputs.  types: of the inputs, as `f` shall see them (floats
/// as f64); inputs: their contents. Errors: the trace's, or which element of which input differs,
/// with both values.
Status gradcheck(const TracedFunction& f, std::span<const TensorType> types,
                 std::span<const HostTensor> inputs, const GradcheckOptions& options = {});

}  // namespace hearth
