// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// NumPy's .npy files.

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace hearth {

/// NumPy's format versions 1 to 3, little-endian, C order.
/// Errors: kCorruptData; kUnsupported for other orders and element types.
Result<HostTensor> read_npy(std::span<const std::byte> bytes);

/// Writes format version 1.  bf16, which NumPy does not have, becomes f32.
std::vector<std::byte> write_npy(const HostTensor& tensor);

}  // namespace hearth
