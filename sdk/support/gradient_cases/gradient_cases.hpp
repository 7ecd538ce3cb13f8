// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Values and gradients that PyTorch computed in double, one JSON file each:
//
//     {"name": ..., "inputs": [{"shape": [...], "data": [...]}, ...], "output": {...},
//      "grad_output": [...], "grad_inputs": [[...], ...]}
//
// and the computation of each name, as graphs.

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::gradient_cases {

using Inputs = std::span<const Tensor>;

struct GradientCase {
    std::string_view name;
    Tensor (*build)(Inputs);
};

/// All known cases, sorted by name.
std::span<const GradientCase> all_cases();
/// Returns the case of this name, or null.
const GradientCase* find_case(std::string_view name);

/// One file's data, as f64.
struct GradientData {
    std::string name;
    std::vector<HostTensor> inputs;
    HostTensor output;
    HostTensor grad_output;               ///< shaped like the output
    std::vector<HostTensor> grad_inputs;  ///< shaped like the inputs

    /// Expected outputs of the case's graph, by name.
    NamedTensors expected(DType dtype) const;
    /// Inputs of the case's graph, by name.
    NamedTensors named_inputs(DType dtype) const;
};

/// Parses a JSON file.
/// Errors: kNotFound, kCorruptData.
Result<nlohmann::json> read_json(const std::filesystem::path& path);
/// Converts a list of numbers, or {"shape": [...], "data": [...]}, to an f64 tensor. May throw
/// nlohmann::json's exceptions.
HostTensor f64_tensor(const Shape& shape, const nlohmann::json& numbers);
HostTensor f64_tensor(const nlohmann::json& object);

/// Errors: kNotFound; kCorruptData for other files.
Result<GradientData> read_data(const std::filesystem::path& path);

/// Traces the case as "main" with inputs "x0", "x1", ..., the output "y" and the gradients "g0",
/// "g1", ..., all of this element type.
std::unique_ptr<Trace> trace_case(const GradientCase& c, const GradientData& data, DType dtype);

}  // namespace hearth::gradient_cases
