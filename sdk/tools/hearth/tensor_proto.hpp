// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX's TensorProto files (.pb), which <hearth/io.hpp> reads.

#pragma once

#include <hearth/host_tensor.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace hearth::tool {

/// Serializes an onnx.TensorProto with raw data.
std::vector<std::byte> write_tensor_proto(std::string_view name, const HostTensor& tensor);

}  // namespace hearth::tool
