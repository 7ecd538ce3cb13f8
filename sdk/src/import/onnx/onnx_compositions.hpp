// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX operators that are no operator of Hearth's: each is written in terms of others.

#pragma once

#include <hearth/op/op_def.hpp>

#include <span>
#include <vector>

namespace hearth {

/// Each with an import function.
std::span<const OnnxMapping> onnx_compositions();
/// More of them: quantization, signals, random numbers, selections.
std::span<const OnnxMapping> onnx_data_operators();
/// Those of other domains, which their names begin with: "com.microsoft.QLinearAdd".
std::span<const OnnxMapping> onnx_contrib_operators();

/// Rules that other domains share with ONNX's own.
std::vector<Tensor> import_quantize_linear(OnnxCall& call);
std::vector<Tensor> import_dequantize_linear(OnnxCall& call);

}  // namespace hearth
