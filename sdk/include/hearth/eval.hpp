// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Evaluates tensors of a trace and returns their contents, for debugging and tests.
//
//     Trace trace("t");
//     const Tensor x = trace.constant(HostTensor::of({3}, std::vector<float>{1, 2, 3}));
//     eval(softmax(x))->get(0);   // 0.0900306

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hearth {

struct EvalOptions {
    NamedTensors inputs = {};   ///< inputs that the tensors depend on, for a batch of `batch_size`
    NamedTensors weights = {};  ///< contents of params and states; others have their initial values
    int64_t batch_size = 1;
    /// Backend that runs an entry with these inputs and returns its outputs by name; for a device:
    /// compile() it and record it.  Params and states have `weights` as initial values.  Empty: the
    /// reference interpreter, without compiling.
    std::function<Result<NamedTensors>(Trace& entry, const NamedTensors& inputs,
                                       int64_t batch_size)>
        backend;
};

/// Returns the contents of the tensors, which belong to one trace.  The trace's assignments are not
/// executed, and it can be extended afterwards.  Errors: the trace's first; kInvalidArgument naming
/// an input or weight that is missing or differs; the backend's.
Result<std::vector<HostTensor>> eval(std::span<const Tensor> tensors,
                                     const EvalOptions& options = {});
Result<HostTensor> eval(const Tensor& tensor, const EvalOptions& options = {});

/// A tensor's name, type, shape and elements as text, for printing while tracing:
///     std::puts(to_string(scores).c_str());   // f32[2, 3] = [[0.1, 0.7, 0.2], [0.3, 0.3, 0.4]]
/// Inputs that options.inputs lacks are drawn from the standard normal distribution (other types
/// than floats are zero), and the text says so.  Of long axes the first and last elements are shown.
/// Returns the error's text if eval() fails.
std::string to_string(const Tensor& tensor, const EvalOptions& options = {});

/// The params of a trace so far as a table: a line "NAME  f32[16, 4]  64" for each, and a line of
/// totals.
std::string parameter_table(const Trace& trace);

}  // namespace hearth
