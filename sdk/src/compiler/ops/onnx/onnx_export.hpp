// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Export rules of operators whose ONNX form differs: OpDef::onnx_export of their records.

#pragma once

#include <hearth/op/onnx_export.hpp>

namespace hearth::onnx_export {

/// Writes the record's first ONNX operator with the same inputs and attributes.
bool same(OnnxExportCall& c);

bool arg(OnnxExportCall& c);
bool argsort(OnnxExportCall& c);
bool cast(OnnxExportCall& c);
bool clamp(OnnxExportCall& c);
bool conv(OnnxExportCall& c);
bool conv_transpose(OnnxExportCall& c);
bool cumprod(OnnxExportCall& c);
bool cumsum(OnnxExportCall& c);
bool expand(OnnxExportCall& c);
bool extent(OnnxExportCall& c);
bool flip(OnnxExportCall& c);
bool fmod(OnnxExportCall& c);
bool fold(OnnxExportCall& c);
bool gather(OnnxExportCall& c);
bool gather_nd(OnnxExportCall& c);
bool gelu_tanh(OnnxExportCall& c);
bool identity(OnnxExportCall& c);
bool iota(OnnxExportCall& c);
bool matmul(OnnxExportCall& c);
bool max_pool(OnnxExportCall& c);
bool mod(OnnxExportCall& c);
bool neg(OnnxExportCall& c);
bool not_equal(OnnxExportCall& c);
bool one_hot(OnnxExportCall& c);
bool pad(OnnxExportCall& c);
bool reduce(OnnxExportCall& c);
bool reshape(OnnxExportCall& c);
bool rsqrt(OnnxExportCall& c);
bool scatter_elements(OnnxExportCall& c);
bool scatter_nd(OnnxExportCall& c);
bool silu(OnnxExportCall& c);
bool slice(OnnxExportCall& c);
bool standardize(OnnxExportCall& c);
bool walk_trees(OnnxExportCall& c);
bool window_sum(OnnxExportCall& c);

/// AveragePool for a `window_sum` whose sums are divided by the number of elements in a window, and
/// a check whether ONNX has such windows.
bool write_average_pool(OnnxExportCall& c);
bool is_average_pool(const Attrs& attrs, const Shape& x, const Shape& y);

}  // namespace hearth::onnx_export
