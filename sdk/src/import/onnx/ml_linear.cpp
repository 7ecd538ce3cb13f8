// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports linear models and support vector machines of ai.onnx.ml.  Where the specification is
// silent (scores of two classes, labels of ties), the results are those of ONNX Runtime.

#include "import/onnx/ml_common.hpp"

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

/// x: [rows, features] -> [rows, outputs]; coefficients: [outputs * features].
Tensor product(OnnxCall& call, const Tensor& x, const std::vector<double>& coefficients,
               int64_t outputs) {
    const int64_t features = x.dim(1).count;
    if (outputs < 1 || static_cast<int64_t>(coefficients.size()) != outputs * features) {
        call.invalid(std::to_string(coefficients.size()) + " coefficients for " +
                     std::to_string(features) + " features and " + std::to_string(outputs) +
                     " outputs");
        return x;
    }
    return linear(x, ml_constant(call, coefficients, {outputs, features}));
}

/// [rows, outputs] plus one number for each output.
Tensor with_offsets(OnnxCall& call, const Tensor& scores, const std::vector<double>& offsets) {
    if (offsets.empty() || call.has_failed()) return scores;
    return scores + ml_constant(call, offsets, {static_cast<int64_t>(offsets.size())});
}

}  // namespace

Tensor ml_in_f32(const Tensor& x) {
    return x.dtype() == DType::kF32 ? x : cast(x, DType::kF32);
}

Tensors import_linear_regressor(OnnxCall& call) {
    const Tensor x = ml_features(call);
    const int64_t targets = call.integer("targets", 1);
    const std::vector<double> coefficients = call.reals("coefficients"),
                              intercepts = call.reals("intercepts");
    if (call.has_failed()) return {};
    if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != targets)
        return call.invalid(std::to_string(intercepts.size()) + " intercepts for " +
                            std::to_string(targets) + " targets");
    const Tensor y =
        with_offsets(call, product(call, ml_in_f32(x), coefficients, targets), intercepts);
    if (call.has_failed()) return {};
    return {ml_transformed(call, y)};
}

Tensors import_linear_classifier(OnnxCall& call) {
    const Tensor x = ml_features(call);
    const std::vector<double> coefficients = call.reals("coefficients"),
                              intercepts = call.reals("intercepts");
    const std::vector<int64_t> labels = ml_class_labels(call, "classlabels_ints");
    if (call.has_failed()) return {};
    const auto outputs = static_cast<int64_t>(intercepts.size());
    const Tensor scores =
        with_offsets(call, product(call, ml_in_f32(x), coefficients, outputs), intercepts);
    if (call.has_failed()) return {};
    if (outputs > 1)
        return {ml_labels_at(call, labels, argmax(scores, 1)), ml_transformed(call, scores)};
    const Tensor label = squeeze(ml_binary_labels(labels, greater(scores, 0)), {1});
    if (labels.size() != 2) return {label, ml_transformed(call, scores)};
    const Tensor one = ml_transformed(call, scores);
    return {label, concat({1.0 - one, one}, 1)};
}

namespace {

/// Values of a kernel of x: [rows, features] and vectors: [count, features] -> [rows, count].
Tensor kernel_of(OnnxCall& call, const Tensor& x, const std::vector<double>& vectors,
                 int64_t count) {
    const std::string kind = call.text("kernel_type", "LINEAR");
    std::vector<double> params = call.reals("kernel_params");
    params.resize(3);
    const double gamma = params[0], offset = params[1], degree = params[2];
    const Tensor dot = product(call, x, vectors, count);
    if (call.has_failed() || kind == "LINEAR") return dot;
    if (kind == "POLY") {
        // Whole exponents are products: pow() of a negative base is NaN on some devices.
        const Tensor base = dot * gamma + offset;
        const auto whole = static_cast<int>(std::clamp(degree, 0.0, 16.0));
        if (whole != degree || whole == 0) return pow(base, degree);
        Tensor power = base;
        for (int i = 1; i < whole; ++i) power = power * base;
        return power;
    }
    if (kind == "SIGMOID") return tanh(dot * gamma + offset);
    if (kind != "RBF") {
        call.invalid("kernel_type is '" + kind + "'");
        return dot;
    }
    // Differences, not |x|^2 - 2 x v + |v|^2, which cancels.
    const int64_t features = x.dim(1).count;
    const Tensor all = ml_constant(call, vectors, {count, features});
    const Tensor distance = sum(square(unsqueeze(x, {1}) - all), {2});
    return exp(distance * -gamma);
}

}  // namespace

Tensors import_svm_regressor(OnnxCall& call) {
    const Tensor x = ml_features(call);
    const int64_t supports = call.integer("n_supports", 0);
    const std::vector<double> coefficients = call.reals("coefficients"), rho = call.reals("rho"),
                              vectors = call.reals("support_vectors");
    if (call.has_failed()) return {};
    if (rho.empty()) return call.invalid("needs rho");
    Tensor y;
    if (supports > 0) {
        if (static_cast<int64_t>(coefficients.size()) < supports)
            return call.invalid(std::to_string(coefficients.size()) + " coefficients for " +
                                std::to_string(supports) + " support vectors");
        const Tensor values = kernel_of(call, ml_in_f32(x), vectors, supports);
        if (call.has_failed()) return {};
        y = linear(values,
                   ml_constant(call, {coefficients.begin(), coefficients.begin() + supports},
                               {1, supports}));
    } else {
        y = product(call, ml_in_f32(x), coefficients, 1);
    }
    if (call.has_failed()) return {};
    y = y + rho[0];
    if (call.flag("one_class", false)) return {cast(greater(y, 0), DType::kF32) * 2.0 - 1.0};
    return {ml_transformed(call, y)};
}

namespace {

/// The settings of an SVMClassifier with support vectors.
struct SupportVectors {
    std::vector<int64_t> per_class, first;
    int64_t count = 0;
    int64_t classes() const { return static_cast<int64_t>(per_class.size()); }
    int64_t pairs() const { return classes() * (classes() - 1) / 2; }
};

/// [pairs, count]: the weight of each kernel value in the decision between classes i < j, after
/// libsvm's layout of `coefficients` ([classes - 1, count]).
std::vector<double> pair_weights(const SupportVectors& s, const std::vector<double>& coefficients) {
    std::vector<double> weights(static_cast<size_t>(s.pairs() * s.count));
    int64_t pair = 0;
    const auto copy = [&](int64_t row, int64_t of) {
        const auto at = static_cast<size_t>(of);
        for (int64_t k = s.first[at]; k < s.first[at] + s.per_class[at]; ++k)
            weights[static_cast<size_t>(pair * s.count + k)] =
                coefficients[static_cast<size_t>(row * s.count + k)];
    };
    for (int64_t i = 0; i < s.classes(); ++i)
        for (int64_t j = i + 1; j < s.classes(); ++j, ++pair) {
            copy(j - 1, i);
            copy(i, j);
        }
    return weights;
}

/// Index of the class with the most votes, the first of equals: i64 [rows].
Tensor most_votes(OnnxCall& call, const Tensor& decisions, int64_t classes) {
    const int64_t pairs = decisions.dim(1).count;
    std::vector<double> for_first(static_cast<size_t>(classes * pairs)), for_second = for_first;
    int64_t pair = 0;
    for (int64_t i = 0; i < classes; ++i)
        for (int64_t j = i + 1; j < classes; ++j, ++pair) {
            for_first[static_cast<size_t>(i * pairs + pair)] = 1;
            for_second[static_cast<size_t>(j * pairs + pair)] = 1;
        }
    const Tensor wins = cast(greater(decisions, 0), DType::kF32);
    const Tensor votes = linear(wins, ml_constant(call, for_first, {classes, pairs})) +
                         linear(1.0 - wins, ml_constant(call, for_second, {classes, pairs}));
    return argmax(votes, 1);
}

/// Probabilities [rows, classes] from those of each pair: the second method of Wu, Lin and Weng,
/// "Probability estimates for multi-class classification by pairwise coupling", 2004, with
/// libsvm's iteration and end.  pairs[i][j]: [rows, 1], the probability of i against j.
Tensor coupled(const std::vector<Tensors>& pairs) {
    constexpr int kMostTurns = 24;  // libsvm allows 100, and ends after about ten
    const size_t classes = pairs.size();
    const Tensor zero = pairs[0][1] * 0.0;
    const auto count = static_cast<double>(classes);
    std::vector<Tensors> q(classes, Tensors(classes));
    for (size_t t = 0; t < classes; ++t) {
        q[t][t] = zero;
        for (size_t j = 0; j < classes; ++j) {
            if (j == t) continue;
            q[t][t] = q[t][t] + square(pairs[j][t]);
            q[t][j] = neg(pairs[j][t] * pairs[t][j]);
        }
    }
    Tensors p(classes, zero + 1.0 / count), qp(classes);
    const auto products = [&] {
        Tensor total = zero;
        for (size_t t = 0; t < classes; ++t) {
            qp[t] = zero;
            for (size_t j = 0; j < classes; ++j) qp[t] = qp[t] + q[t][j] * p[j];
            total = total + p[t] * qp[t];
        }
        return total;
    };
    for (int turn = 0; turn < kMostTurns; ++turn) {
        Tensor total = products();
        Tensor error = abs(qp[0] - total);
        for (size_t t = 1; t < classes; ++t) error = maximum(error, abs(qp[t] - total));
        const Tensor goes_on = greater_equal(error, 0.005 / count);
        const Tensors before = p;
        for (size_t t = 0; t < classes; ++t) {
            const Tensor step = (total - qp[t]) / q[t][t], scale = reciprocal(step + 1.0);
            p[t] = p[t] + step;
            total = (total + step * (step * q[t][t] + qp[t] * 2.0)) * square(scale);
            for (size_t j = 0; j < classes; ++j) {
                qp[j] = (qp[j] + step * q[t][j]) * scale;
                p[j] = p[j] * scale;
            }
        }
        for (size_t t = 0; t < classes; ++t) p[t] = where(goes_on, p[t], before[t]);
    }
    return concat(p, 1);
}

/// Probabilities of the classes by Platt's sigmoids of the decisions.
Tensor probabilities(OnnxCall& call, const Tensor& decisions, int64_t classes,
                     const std::vector<double>& a, const std::vector<double>& b) {
    const int64_t pairs = decisions.dim(1).count;
    const Tensor exponent =
        decisions * ml_constant(call, a, {pairs}) + ml_constant(call, b, {pairs});
    constexpr double kLeast = 1e-7;
    const Tensor all = clamp(sigmoid(neg(exponent)), kLeast, 1 - kLeast);
    const auto size = static_cast<size_t>(classes);
    std::vector<Tensors> of_pair(size, Tensors(size));
    int64_t pair = 0;
    for (size_t i = 0; i < size; ++i)
        for (size_t j = i + 1; j < size; ++j, ++pair) {
            of_pair[i][j] = slice(all, 1, pair, pair + 1);
            of_pair[j][i] = 1.0 - of_pair[i][j];
        }
    return coupled(of_pair);
}

}  // namespace

Tensors import_svm_classifier(OnnxCall& call) {
    const Tensor x = ml_in_f32(ml_features(call));
    const std::vector<double> coefficients = call.reals("coefficients"), rho = call.reals("rho"),
                              vectors = call.reals("support_vectors"), a = call.reals("prob_a"),
                              b = call.reals("prob_b");
    const std::vector<int64_t> labels = ml_class_labels(call, "classlabels_ints");
    SupportVectors s{call.integers("vectors_per_class"), {}, 0};
    if (call.has_failed()) return {};
    const auto classes = static_cast<int64_t>(labels.size());
    constexpr int64_t kMostClasses = 256;
    if (classes < 2 || classes > kMostClasses || rho.empty())
        return call.unsupported(std::to_string(classes) + " classes with " +
                                std::to_string(rho.size()) + " offsets");
    for (int64_t count : s.per_class) {
        if (count < 0 || count > static_cast<int64_t>(coefficients.size()))
            return call.invalid("vectors_per_class holds " + std::to_string(count) + " with " +
                                std::to_string(coefficients.size()) + " coefficients");
        s.first.push_back(s.count);
        s.count += count;
    }
    if (s.count == 0) {
        const Tensor scores = product(call, x, coefficients, classes) + rho[0];
        if (call.has_failed()) return {};
        return {ml_labels_at(call, labels, argmax(scores, 1)), ml_transformed(call, scores)};
    }
    const bool fits = s.classes() == classes &&
                      static_cast<int64_t>(coefficients.size()) >= (classes - 1) * s.count &&
                      static_cast<int64_t>(rho.size()) == s.pairs() && a.size() == b.size() &&
                      (a.empty() || a.size() == rho.size());
    if (!fits)
        return call.invalid(std::to_string(classes) + " classes with " +
                            std::to_string(s.per_class.size()) + " counts of vectors, " +
                            std::to_string(coefficients.size()) + " coefficients and " +
                            std::to_string(rho.size()) + " offsets");
    const Tensor values = kernel_of(call, x, vectors, s.count);
    if (call.has_failed()) return {};
    const auto weight_count = static_cast<uint64_t>(s.pairs() * s.count);
    if (!call.trace.has_room(1, weight_count * sizeof(float))) return {};
    const Tensor weights = ml_constant(call, pair_weights(s, coefficients), {s.pairs(), s.count});
    const Tensor decisions = with_offsets(call, linear(values, weights), rho);
    const Tensor label = ml_labels_at(call, labels, most_votes(call, decisions, classes));
    if (!a.empty()) {
        constexpr int64_t kMostCoupled = 12;
        if (classes > kMostCoupled)
            return call.unsupported("probabilities of " + std::to_string(classes) +
                                    " classes; export the decision function instead");
        return {label, ml_transformed(call, probabilities(call, decisions, classes, a, b))};
    }
    if (classes > 2) return {label, ml_transformed(call, decisions)};
    if (call.text("post_transform", "NONE") == "NONE")
        return {label, concat({neg(decisions), decisions}, 1)};
    const Tensor one = ml_transformed(call, decisions);
    return {label, concat({1.0 - one, one}, 1)};
}

}  // namespace hearth
