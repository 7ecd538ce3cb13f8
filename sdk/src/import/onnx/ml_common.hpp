// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shared by the import rules of the domain ai.onnx.ml.  Strings are positions in the model's table
// of strings (ImportedModel::strings) when the rules see them.

#pragma once

#include <hearth/op/onnx_call.hpp>
#include <hearth/ops.hpp>

#include <vector>

namespace hearth {

/// Input 0 as [rows, features]: one axis is one row; integers and bools become f32.  A failed
/// tensor after failing the trace.
Tensor ml_features(OnnxCall& call);

/// Labels of the classes: the integers of `integers_attribute`, or classlabels_strings.
std::vector<int64_t> ml_class_labels(OnnxCall& call, std::string_view integers_attribute);

/// labels[index]: i64 of the shape of `index`.
Tensor ml_labels_at(OnnxCall& call, const std::vector<int64_t>& labels, const Tensor& index);

/// labels[1] where the condition holds, labels[0] elsewhere; 1 and 0 unless there are two labels.
Tensor ml_binary_labels(const std::vector<int64_t>& labels, const Tensor& condition);

/// The scores [rows, classes] after post_transform: NONE, SOFTMAX, SOFTMAX_ZERO, LOGISTIC, PROBIT.
Tensor ml_transformed(OnnxCall& call, const Tensor& scores);

/// A constant of floats of `dtype`; fails the trace and returns a failed tensor beyond the budget.
Tensor ml_constant(OnnxCall& call, const std::vector<double>& values, const Shape& shape,
                   DType dtype = DType::kF32);
Tensor ml_constant(OnnxCall& call, const std::vector<int64_t>& values, const Shape& shape,
                   DType dtype);

Tensor ml_in_f32(const Tensor& x);

std::vector<Tensor> import_tree_classifier(OnnxCall& call);
std::vector<Tensor> import_tree_regressor(OnnxCall& call);
std::vector<Tensor> import_tree_ensemble(OnnxCall& call);
std::vector<Tensor> import_linear_classifier(OnnxCall& call);
std::vector<Tensor> import_linear_regressor(OnnxCall& call);
std::vector<Tensor> import_svm_classifier(OnnxCall& call);
std::vector<Tensor> import_svm_regressor(OnnxCall& call);

}  // namespace hearth
