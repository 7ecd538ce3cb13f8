// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports operators of ai.onnx.ml that prepare features or name classes, and what the rules of that
// domain share.

#include "import/onnx/ml_common.hpp"
#include "import/onnx/onnx_compositions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hearth {

namespace {

using List = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

/// A list of integers as it is in the model: OnnxCall::integers limits their size.
List whole_list(OnnxCall& call, std::string_view name) {
    const AttrValue* value = call.attrs.find(name);
    const auto* list = value != nullptr ? std::get_if<List>(value) : nullptr;
    return list != nullptr ? *list : List();
}

template <class T>
Tensor constant_of(OnnxCall& call, const std::vector<T>& values, const Shape& shape, DType dtype) {
    if (!call.trace.has_room(1, values.size() * size_bytes(dtype)))
        return call.trace.constant(0, dtype);
    HostTensor tensor(dtype, shape);
    for (size_t i = 0; i < values.size(); ++i) {
        if constexpr (std::is_same_v<T, int64_t>)
            tensor.set_int(static_cast<int64_t>(i), values[i]);
        else
            tensor.set(static_cast<int64_t>(i), values[i]);
    }
    return call.trace.constant(std::move(tensor));
}

Shape length_of(size_t count) {
    return {static_cast<int64_t>(count)};
}

}  // namespace

Tensor ml_constant(OnnxCall& call, const std::vector<double>& values, const Shape& shape,
                   DType dtype) {
    return constant_of(call, values, shape, dtype);
}

Tensor ml_constant(OnnxCall& call, const List& values, const Shape& shape, DType dtype) {
    return constant_of(call, values, shape, dtype);
}

Tensor ml_features(OnnxCall& call) {
    Tensor x = call.in(0);
    if (call.has_failed()) return x;
    if (x.rank() == 1) x = unsqueeze(x, {0});
    if (x.rank() != 2 || x.dim(1).is_batch || x.dim(1).count == 0) {
        call.unsupported("features of " + to_string(x.shape()) + ", expected [rows, features]");
        return x;
    }
    const bool is_wide = x.dtype() == DType::kF32 || x.dtype() == DType::kF64;
    return is_wide ? x : cast(x, DType::kF32);
}

List ml_class_labels(OnnxCall& call, std::string_view integers_attribute) {
    List labels = whole_list(call, "classlabels_strings");
    return labels.empty() ? whole_list(call, integers_attribute) : labels;
}

Tensor ml_labels_at(OnnxCall& call, const List& labels, const Tensor& index) {
    List positions(labels.size());
    std::iota(positions.begin(), positions.end(), 0);
    if (labels == positions) return index;
    return take(ml_constant(call, labels, length_of(labels.size()), DType::kI64), index);
}

Tensor ml_binary_labels(const List& labels, const Tensor& condition) {
    const bool are_given = labels.size() == 2;
    const int64_t yes = are_given ? labels[1] : 1, no = are_given ? labels[0] : 0;
    Trace& trace = *condition.trace();
    const auto number = [&](int64_t value) {
        HostTensor scalar(DType::kI64, {});
        scalar.set_int(0, value);
        return trace.constant(std::move(scalar));
    };
    return where(condition, number(yes), number(no));
}

namespace {

/// The inverse of the error function: Winitzki, "A handy approximation for the error function and
/// its inverse", 2008, with the constant that ONNX Runtime uses.
Tensor inverse_erf(const Tensor& x) {
    constexpr double kA = 0.147, kPi = 3.14159;
    const Tensor logarithm = log((1.0 - x) * (1.0 + x));
    const Tensor v = 2 / (kPi * kA) + logarithm * 0.5;
    return sign(x) * sqrt(sqrt(square(v) - logarithm * (1 / kA)) - v);
}

/// Softmax that maps zeros to (nearly) zero.
Tensor softmax_zero(const Tensor& x) {
    constexpr double kZero = 1e-7;
    const Tensor most = max(x, {1}, true);
    const Tensor parts = where(greater(abs(x), kZero), exp(x - most), x * exp(neg(most)));
    const Tensor counted = where(greater(abs(x), kZero), parts, 0.0);
    return parts / sum(counted, {1}, true);
}

}  // namespace

Tensor ml_transformed(OnnxCall& call, const Tensor& scores) {
    const std::string name = call.text("post_transform", "NONE");
    if (name == "NONE") return scores;
    if (name == "LOGISTIC") return sigmoid(scores);
    if (name == "SOFTMAX") return softmax(scores, 1);
    if (name == "SOFTMAX_ZERO") return softmax_zero(scores);
    if (name == "PROBIT") return inverse_erf(scores * 2.0 - 1.0) * std::sqrt(2.0);
    call.invalid("post_transform is '" + name + "'");
    return scores;
}

namespace {

// --- Scales and replacements ---

/// The list of reals, which has one number or one for each feature.
std::optional<Tensor> per_feature(OnnxCall& call, const Tensor& x, std::string_view name) {
    const std::vector<double> values = call.reals(name);
    if (values.empty()) return {};
    if (values.size() != 1 && x.dim(-1) != Dim(static_cast<int64_t>(values.size()))) {
        call.invalid(std::string(name) + " has " + std::to_string(values.size()) +
                     " numbers for features of " + to_string(x.shape()));
        return {};
    }
    return ml_constant(call, values, length_of(values.size()), x.dtype());
}

Tensors import_scaler(OnnxCall& call) {
    Tensor x = ml_in_f32(call.in(0));
    if (call.has_failed()) return {};
    if (x.rank() == 0) return call.invalid("has no features");
    if (const auto offset = per_feature(call, x, "offset")) x = x - *offset;
    if (const auto scale = per_feature(call, x, "scale")) x = x * *scale;
    return {x};
}

Tensors import_normalizer(OnnxCall& call) {
    const Tensor x = ml_in_f32(call.in(0));
    const std::string norm = call.text("norm", "MAX");
    if (call.has_failed()) return {};
    if (x.rank() == 0) return call.invalid("has no features");
    Tensor size;
    if (norm == "MAX") size = max(x, {-1}, true);
    if (norm == "L1") size = sum(abs(x), {-1}, true);
    if (norm == "L2") size = sqrt(sum(square(x), {-1}, true));
    if (!size.ok()) return call.invalid("norm is '" + norm + "'");
    return {x / where(equal(size, 0), 1.0, size)};
}

Tensors import_binarizer(OnnxCall& call) {
    const Tensor x = call.in(0);
    if (call.has_failed()) return {};
    return {cast(greater(x, call.real("threshold", 0)), x.dtype())};
}

Tensors import_imputer(OnnxCall& call) {
    const Tensor x = call.in(0);
    if (call.has_failed()) return {};
    if (!is_floating(x.dtype())) {
        const List values = whole_list(call, "imputed_value_int64s");
        if (values.empty()) return call.invalid("needs imputed_value_int64s");
        return {where(
            equal(x, static_cast<double>(call.integer("replaced_value_int64", 0))),
            cast(ml_constant(call, values, length_of(values.size()), DType::kI64), x.dtype()), x)};
    }
    const std::optional<Tensor> values = per_feature(call, x, "imputed_value_floats");
    if (!values) return call.invalid("needs imputed_value_floats");
    const double replaced = call.real("replaced_value_float", 0);
    return {where(std::isnan(replaced) ? is_nan(x) : equal(x, replaced), *values, x)};
}

Tensors import_feature_vectorizer(OnnxCall& call) {
    Tensors parts;
    for (const Tensor& part : call.all())
        parts.push_back(cast(part.rank() == 1 ? unsqueeze(part, {0}) : part, DType::kF32));
    if (parts.empty()) return call.invalid("has no inputs");
    return {concat(parts, 1)};
}

// x: [..., features] -> [..., indices]; a list of features is one row.
Tensors import_array_feature_extractor(OnnxCall& call) {
    Tensor x = call.in(0);
    const Tensor indices = reshape(call.in(1), {Dim(-1)});
    if (call.has_failed()) return {};
    if (x.rank() == 0) return call.invalid("has no features");
    if (x.rank() == 1) x = unsqueeze(x, {0});
    return {take(x, indices, -1)};
}

// --- Labels and categories ---

/// A list of keys or values, of one of three types.
struct Entries {
    bool is_real = false;
    List integers;
    std::vector<double> reals;
    size_t size() const { return is_real ? reals.size() : integers.size(); }
    DType dtype() const { return is_real ? DType::kF32 : DType::kI64; }
};

/// The attributes STEMs_strings, STEMs_int64s, STEMs_floats or STEMs_tensor.
Entries entries_of(OnnxCall& call, const std::string& stem) {
    for (const char* kind : {"_int64s", "_strings"}) {
        List list = whole_list(call, stem + kind);
        if (!list.empty()) return {false, std::move(list), {}};
    }
    List tensor = whole_list(call, stem + "_tensor");
    if (!tensor.empty()) return {false, std::move(tensor), {}};
    const bool is_tensor = call.attrs.has(stem + "_tensor");
    return {true, {}, call.reals(stem + (is_tensor ? "_tensor" : "_floats"))};
}

Tensor constant_of(OnnxCall& call, const Entries& entries) {
    const Shape shape = length_of(entries.size());
    return entries.is_real ? ml_constant(call, entries.reals, shape)
                           : ml_constant(call, entries.integers, shape, DType::kI64);
}

/// The entries in this order.
Entries ordered(const Entries& from, const std::vector<size_t>& order) {
    Entries to{from.is_real, {}, {}};
    for (size_t i : order) {
        if (from.is_real)
            to.reals.push_back(from.reals[i]);
        else
            to.integers.push_back(from.integers[i]);
    }
    return to;
}

/// The value for keys that are not listed.
Tensor default_entry(OnnxCall& call, bool is_real) {
    const AttrValue* tensor = call.attrs.find("default_tensor");
    HostTensor value(is_real ? DType::kF32 : DType::kI64, {});
    if (const auto* list = tensor != nullptr ? std::get_if<List>(tensor) : nullptr;
        list != nullptr && !list->empty())
        value.set_int(0, list->front());
    else if (const auto* reals =
                 tensor != nullptr ? std::get_if<std::vector<double>>(tensor) : nullptr;
             reals != nullptr && !reals->empty())
        value.set(0, reals->front());
    else if (is_real)
        value.set(0, call.real("default_float", -0.0));
    else
        value.set_int(0, call.attrs.has("values_strings") ? call.integer("default_string", -1)
                                                          : call.integer("default_int64", -1));
    return call.trace.constant(std::move(value));
}

Tensors import_label_encoder(OnnxCall& call) {
    const Tensor x = call.in(0);
    const Entries keys = entries_of(call, "keys"), values = entries_of(call, "values");
    if (call.has_failed()) return {};
    if (keys.size() == 0 || keys.size() != values.size())
        return call.invalid(std::to_string(keys.size()) + " keys with " +
                            std::to_string(values.size()) + " values");
    if (is_floating(x.dtype()) != keys.is_real)
        return call.invalid("its input is " + std::string(name_of(x.dtype())) + ", its keys are " +
                            std::string(name_of(keys.dtype())));
    // Of equal keys the first counts; NaN has no place in an order.
    std::vector<size_t> order;
    std::optional<size_t> nan;
    for (size_t i = 0; i < keys.size(); ++i) {
        if (keys.is_real && std::isnan(keys.reals[i]))
            nan = nan.value_or(i);
        else
            order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return keys.is_real ? keys.reals[a] < keys.reals[b] : keys.integers[a] < keys.integers[b];
    });
    Tensor y = expand(default_entry(call, values.is_real), x.shape());
    if (!order.empty()) {
        const Tensor key = cast(x, keys.dtype()), known = constant_of(call, ordered(keys, order));
        const Tensor value = constant_of(call, ordered(values, order));
        constexpr size_t kMostCompared = 256;  // above, bisection takes fewer steps
        if (order.size() <= kMostCompared) {
            const Tensor equals = equal(unsqueeze(key, {-1}), known);
            y = where(any(equals, {-1}), take(value, argmax(cast(equals, DType::kF32), -1)), y);
        } else {
            const Tensor place = searchsorted(known, key);
            y = where(equal(take(known, place), key), take(value, place), y);
        }
    }
    if (nan)
        y = where(is_nan(x),
                  take(constant_of(call, values),
                       call.trace.constant(static_cast<double>(*nan), DType::kI64)),
                  y);
    return {y};
}

Tensors import_one_hot_encoder(OnnxCall& call) {
    const Tensor x = call.in(0);
    const Entries categories = entries_of(call, "cats");
    if (call.has_failed()) return {};
    if (categories.size() == 0 || categories.is_real) return call.invalid("needs categories");
    const Tensor key = x.dtype() == DType::kI64 ? x : cast(x, DType::kI64);
    return {cast(equal(unsqueeze(key, {-1}), constant_of(call, categories)), DType::kF32)};
}

// The classes of the columns are names, not data: the scores pass as they are.
Tensors import_zip_map(OnnxCall& call) {
    return {identity(call.in(0))};
}

constexpr OnnxMapping kMlOperators[] = {
    {"ai.onnx.ml.ArrayFeatureExtractor", 1, import_array_feature_extractor},
    {"ai.onnx.ml.Binarizer", 1, import_binarizer},
    {"ai.onnx.ml.FeatureVectorizer", 1, import_feature_vectorizer},
    {"ai.onnx.ml.Imputer", 1, import_imputer},
    {"ai.onnx.ml.LabelEncoder", 1, import_label_encoder},
    {"ai.onnx.ml.LinearClassifier", 1, import_linear_classifier},
    {"ai.onnx.ml.LinearRegressor", 1, import_linear_regressor},
    {"ai.onnx.ml.Normalizer", 1, import_normalizer},
    {"ai.onnx.ml.OneHotEncoder", 1, import_one_hot_encoder},
    {"ai.onnx.ml.SVMClassifier", 1, import_svm_classifier},
    {"ai.onnx.ml.SVMRegressor", 1, import_svm_regressor},
    {"ai.onnx.ml.Scaler", 1, import_scaler},
    {"ai.onnx.ml.TreeEnsemble", 1, import_tree_ensemble},
    {"ai.onnx.ml.TreeEnsembleClassifier", 1, import_tree_classifier},
    {"ai.onnx.ml.TreeEnsembleRegressor", 1, import_tree_regressor},
    {"ai.onnx.ml.ZipMap", 1, import_zip_map},
};

}  // namespace

std::span<const OnnxMapping> onnx_ml_operators() {
    return kMlOperators;
}

}  // namespace hearth
