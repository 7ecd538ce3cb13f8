// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// For looking at values: runs what a tensor is made of, and returns its contents.
//
//     Trace trace("t");
//     const Tensor x = trace.constant(HostTensor::of({3}, std::vector<float>{1, 2, 3}));
//     eval(softmax(x))->get(0);   // 0.0900306

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hearth {

struct EvalOptions {
    NamedTensors inputs;   ///< those that the tensors depend on, with `rows` rows
    NamedTensors weights;  ///< contents of params and states; others are as first declared
    int64_t rows = 1;
    /// Runs an entry with these inputs and returns its outputs by name; for a device: compile() it
    /// and record it.  Params and states are declared with `weights` as first contents.  Empty: the
    /// reference interpreter, without compiling.
    std::function<Result<NamedTensors>(Trace& entry, const NamedTensors& inputs, int64_t rows)>
        runner;
};

/// The contents of the tensors, which are of one trace; assignments of the trace do not happen, and
/// it can go on being built.  Errors: the trace's first; kInvalidArgument naming an input or weight
/// that is missing or differs; the runner's.
Result<std::vector<HostTensor>> eval(std::span<const Tensor> tensors,
                                     const EvalOptions& options = {});
Result<HostTensor> eval(const Tensor& tensor, const EvalOptions& options = {});

}  // namespace hearth
