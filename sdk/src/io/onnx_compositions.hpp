// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX operators that are no operator of Hearth's: each is written in terms of others.

#pragma once

#include <hearth/op/op_def.hpp>

#include <span>

namespace hearth {

/// Each with an import function.
std::span<const OnnxMapping> onnx_compositions();
/// More of them: quantization, signals, random numbers, selections.
std::span<const OnnxMapping> onnx_data_operators();

}  // namespace hearth
