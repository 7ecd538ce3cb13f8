// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tensor files: NumPy's .npy, and ONNX's TensorProto (.pb), which <hearth/io.hpp> reads.

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace hearth::tool {

/// NumPy's format versions 1 to 3, little-endian, C order.
/// Errors: kCorruptData; kUnsupported for other orders and element types.
Result<HostTensor> read_npy(std::span<const std::byte> bytes);

/// Writes format version 1.  bf16, which NumPy does not have, becomes f32.
std::vector<std::byte> write_npy(const HostTensor& tensor);

/// Serializes an onnx.TensorProto with raw data.
std::vector<std::byte> write_tensor_proto(std::string_view name, const HostTensor& tensor);

}  // namespace hearth::tool
