// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Results of PyTorch in double, kept outside the repository: HEARTH_CASES names their folder.

#pragma once

#include <hearth/host_tensor.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace hearth::test {

/// The file at this path below HEARTH_CASES; nothing if the variable is not set or the file is not
/// there, and `why` tells which.
std::optional<nlohmann::json> read_case(const std::string& path, std::string& why);

/// A list of numbers as an f64 tensor of this shape.
HostTensor f64_tensor(const Shape& shape, const nlohmann::json& numbers);
/// {"shape": [...], "data": [...]}
HostTensor f64_tensor(const nlohmann::json& object);

}  // namespace hearth::test
