// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX import of convolution and pooling. Each function handles all versions of its operator.

#pragma once

#include <hearth/op/onnx_call.hpp>

#include <vector>

namespace hearth {

std::vector<Tensor> import_col2im(OnnxCall& call);
std::vector<Tensor> import_conv(OnnxCall& call);
std::vector<Tensor> import_conv_integer(OnnxCall& call);
std::vector<Tensor> import_conv_transpose(OnnxCall& call);
std::vector<Tensor> import_deform_conv(OnnxCall& call);
std::vector<Tensor> import_qlinear_conv(OnnxCall& call);

std::vector<Tensor> import_average_pool(OnnxCall& call);
std::vector<Tensor> import_lp_pool(OnnxCall& call);
std::vector<Tensor> import_max_pool(OnnxCall& call);
std::vector<Tensor> import_max_unpool(OnnxCall& call);

}  // namespace hearth
