// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX import of resizing, padding and sampling. Each function handles all versions of its
// operator.

#pragma once

#include <hearth/op/onnx_call.hpp>

#include <vector>

namespace hearth {

std::vector<Tensor> import_affine_grid(OnnxCall& call);
std::vector<Tensor> import_center_crop_pad(OnnxCall& call);
std::vector<Tensor> import_grid_sample(OnnxCall& call);
std::vector<Tensor> import_max_roi_pool(OnnxCall& call);
std::vector<Tensor> import_resize(OnnxCall& call);
std::vector<Tensor> import_roi_align(OnnxCall& call);
std::vector<Tensor> import_upsample(OnnxCall& call);

}  // namespace hearth
