// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX operators without a counterpart in Hearth; each is composed from others.

#pragma once

#include <hearth/op/op_def.hpp>

#include <span>
#include <vector>

namespace hearth {

/// Operators with an import function.
std::span<const OnnxMapping> onnx_compositions();
/// Further ones: quantization, signals, random numbers, selections.
std::span<const OnnxMapping> onnx_data_operators();
/// Operators of other domains; names begin with the domain: "com.microsoft.QLinearAdd".
std::span<const OnnxMapping> onnx_contrib_operators();
/// Operators of the domain ai.onnx.ml.
std::span<const OnnxMapping> onnx_ml_operators();

/// Rules shared by ONNX's own operators and those of other domains.
std::vector<Tensor> import_quantize_linear(OnnxCall& call);
std::vector<Tensor> import_dequantize_linear(OnnxCall& call);

/// bool [1, .., K, .., 1], K the extent of `axis`: true for its first `count` elements, the others
/// being padding.
Tensor used_elements(const Shape& shape, int axis, const Tensor& count);

}  // namespace hearth
