// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks gradients against finite differences, in double.

#pragma once

#include <hearth/op/op_def.hpp>

#include <functional>
#include <span>
#include <vector>

namespace hearth {

struct GradcheckOptions {
    int64_t rows = 1;            ///< batch size
    double step = 1e-5;          ///< of the central differences
    double tolerance = 1e-6;     ///< relative to max(1, |gradient|)
    int64_t most_elements = 24;  ///< maximum number of elements checked per input, spread evenly
};

/// Function to differentiate: builds tensors from traced inputs.
using TracedFunction = std::function<std::vector<Tensor>(Trace&, std::span<const Tensor>)>;

/// Checks the gradient of `f` at `inputs`, for each floating-point input, with fixed pseudo-random
/// cotangents for its floating-point outputs.  types: of the inputs as `f` sees them (floats as
/// f64); inputs: their contents.
/// Errors: the trace's, or the first element that differs, with its input and both values.
Status gradcheck(const TracedFunction& f, std::span<const TensorType> types,
                 std::span<const HostTensor> inputs, const GradcheckOptions& options = {});

}  // namespace hearth
