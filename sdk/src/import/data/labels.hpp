// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Labels of classes as numbers.

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <span>
#include <string>
#include <vector>

namespace hearth {

struct Labels {
    HostTensor numbers;                ///< i32 [n]
    std::vector<std::string> classes;  ///< empty: the labels were numbers
};

/// Numbers labels by their position in `classes`; if that is empty, whole numbers are taken as they
/// are, and names by their position among those that occur, sorted.
/// Errors: kInvalidArgument naming the first sample with an unknown class.
Result<Labels> number_labels(std::span<const std::string> labels, std::vector<std::string> classes);

}  // namespace hearth
