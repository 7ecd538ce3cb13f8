// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs imported models on concrete data: by the reference interpreter or on a GPU.

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/io.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace hearth::tool {

class Runner {
  public:
    virtual ~Runner() = default;
    virtual std::string_view name() const = 0;
    /// inputs: in the order of the model's, with its types and its shapes at `rows` rows.  Returns
    /// its outputs.  Errors: kUnsupported for what this device cannot do; all others are failures.
    virtual Result<std::vector<HostTensor>> run(const ImportedModel& model,
                                                std::span<const HostTensor> inputs,
                                                int64_t rows) = 0;
};

/// The reference interpreter.
std::unique_ptr<Runner> make_cpu_runner();

/// Compiles each model and runs the planned Program on the CPU, at its real arena offsets.
std::unique_ptr<Runner> make_program_runner();

/// Compiles each model and runs it on one GPU of the machine (hearth info lists them; negative: the
/// default).  Never falls back to the CPU.  Errors: kNotFound and others if there is no device that
/// Hearth can use.
Result<std::unique_ptr<Runner>> make_gpu_runner(int device_index);

/// The model alone in a trace: inputs "input_0", ... and outputs "output_0", ..., whatever the file
/// calls them, so that an output may have an input's name.
std::unique_ptr<Trace> trace_of(const ImportedModel& model, std::string_view name);
NamedTensors named_inputs(std::span<const HostTensor> inputs);
/// The outputs in order.  Errors: kInternal if one is missing.
Result<std::vector<HostTensor>> take_outputs(const ImportedModel& model, NamedTensors& found);

}  // namespace hearth::tool
