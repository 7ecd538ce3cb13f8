// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Losses, written in other operators.

#include "ops/rules.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>

#include <cmath>
#include <numbers>

namespace hearth {

namespace {

Tensor reduced(const Tensor& loss, Reduction reduction) {
    switch (reduction) {
        case Reduction::kMean:
            return mean(loss);
        case Reduction::kSum:
            return sum(loss);
        case Reduction::kElements:
            break;
    }
    return loss;
}

Tensor picked(const Tensor& x, const Tensor& labels) {
    return squeeze(gather_elements(x, unsqueeze(labels, {-1}), -1), {-1});
}

}  // namespace

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
    return reduced(square(prediction - target), reduction);
}

Tensor mae_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
    return reduced(abs(prediction - target), reduction);
}

Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta,
                  Reduction reduction) {
    const Tensor distance = abs(prediction - target);
    const Tensor near = square(distance) * 0.5, far = (distance - 0.5 * delta) * delta;
    return reduced(where(less_equal(distance, delta), near, far), reduction);
}

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta,
                      Reduction reduction) {
    if (beta == 0) return mae_loss(prediction, target, reduction);
    return huber_loss(prediction, target, beta, reduction) / beta;
}

Tensor relative_l2_loss(const Tensor& prediction, const Tensor& target, double epsilon,
                        Reduction reduction) {
    const Tensor scale = stop_gradient(square(prediction) + epsilon);
    return reduced(square(prediction - target) / scale, reduction);
}

Tensor poisson_loss(const Tensor& log_rate, const Tensor& target, Reduction reduction) {
    return reduced(exp(log_rate) - target * log_rate, reduction);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis, double epsilon) {
    const Tensor lengths = sum(square(a), {axis}) * sum(square(b), {axis});
    return sum(a * b, {axis}) * rsqrt(maximum(lengths, epsilon * epsilon));
}

Tensor cosine_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
    return reduced(1.0 - cosine_similarity(prediction, target), reduction);
}

namespace {

Tensor soft_nll(const Tensor& log_probabilities, const Tensor& target,
                const CrossEntropyOptions& options) {
    const auto classes = static_cast<double>(log_probabilities.dim(-1).count);
    Tensor t = target;
    if (options.smoothing != 0) t = t * (1 - options.smoothing) + options.smoothing / classes;
    if (options.weights.trace() != nullptr) t = t * options.weights;
    return reduced(neg(sum(t * log_probabilities, {-1})), options.reduction);
}

}  // namespace

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                const CrossEntropyOptions& options) {
    if (!log_probabilities.ok() || !target.ok()) return failed_like(log_probabilities);
    if (log_probabilities.rank() == 0 || log_probabilities.dim(-1).per_row)
        return fail(log_probabilities,
                    invalid_argument("nll_loss: the last extent must be the number of classes, "
                                     "found " +
                                     to_string(log_probabilities.shape())));
    if (is_floating(target.dtype())) return soft_nll(log_probabilities, target, options);
    const bool is_weighted = options.weights.trace() != nullptr;
    const double smoothing = options.smoothing;
    Tensor loss = neg(picked(log_probabilities, target));
    Tensor weight;
    if (is_weighted) {
        weight = gather(options.weights, target);
        loss = loss * weight;
    }
    if (smoothing != 0) {
        const auto classes = static_cast<double>(log_probabilities.dim(-1).count);
        const Tensor all = is_weighted ? log_probabilities * options.weights : log_probabilities;
        loss = loss * (1 - smoothing) - sum(all, {-1}) * (smoothing / classes);
    }
    if (options.ignored_label) {
        const Tensor counts = not_equal(target, static_cast<double>(*options.ignored_label));
        weight = is_weighted ? where(counts, weight, 0.0) : cast(counts, loss.dtype());
        loss = where(counts, loss, 0.0);
    }
    if (weight.trace() == nullptr || options.reduction != Reduction::kMean)
        return reduced(loss, options.reduction);
    const Tensor total = sum(weight);
    return where(equal(total, 0), 0.0, sum(loss) / where(equal(total, 0), 1.0, total));
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options) {
    return nll_loss(log_softmax(logits, -1), target, options);
}

Tensor bce_loss(const Tensor& probability, const Tensor& target, Reduction reduction) {
    const Tensor yes = maximum(log(probability), -100), no = maximum(log(1.0 - probability), -100);
    return reduced((target - 1.0) * no - target * yes, reduction);
}

Tensor bce_with_logits(const Tensor& logits, const Tensor& target, Reduction reduction,
                       double positive_weight) {
    // -t log(s) - (1 - t) log(1 - s) with s = sigmoid(x) is softplus(x) - x t; with the weight w of
    // the first term it is (1 - t) x + (1 + (w - 1) t) softplus(-x).
    if (positive_weight == 1) return reduced(softplus(logits) - logits * target, reduction);
    const Tensor weight = target * (positive_weight - 1) + 1.0;
    return reduced((1.0 - target) * logits + weight * softplus(neg(logits)), reduction);
}

Tensor kl_loss(const Tensor& log_prediction, const Tensor& target, Reduction reduction) {
    const Tensor is_zero = equal(target, 0);
    const Tensor entropy = where(is_zero, 0.0, target * log(where(is_zero, 1.0, target)));
    return reduced(sum(entropy - target * log_prediction, {-1}), reduction);
}

Tensor hinge_loss(const Tensor& score, const Tensor& target, double margin, Reduction reduction) {
    return reduced(maximum(margin - target * score, 0), reduction);
}

Tensor categorical_log_probability(const Tensor& logits, const Tensor& action) {
    return picked(log_softmax(logits, -1), action);
}

Tensor categorical_entropy(const Tensor& logits) {
    return neg(sum(softmax(logits, -1) * log_softmax(logits, -1), {-1}));
}

Tensor normal_log_probability(const Tensor& value, const Tensor& mean,
                              const Tensor& log_deviation) {
    const double log_root_two_pi = 0.5 * std::log(2 * std::numbers::pi);
    const Tensor distance = (value - mean) * exp(neg(log_deviation));
    return neg(sum(square(distance) * 0.5 + log_deviation + log_root_two_pi, {-1}));
}

Tensor normal_entropy(const Tensor& log_deviation) {
    return sum(log_deviation + 0.5 * std::log(2 * std::numbers::pi * std::numbers::e), {-1});
}

Tensor ppo_clip_loss(const Tensor& log_probability, const Tensor& old_log_probability,
                     const Tensor& advantage, double clip, Reduction reduction) {
    const Tensor ratio = exp(log_probability - old_log_probability);
    const Tensor limited = clamp(ratio, 1 - clip, 1 + clip);
    return reduced(maximum(neg(advantage * ratio), neg(advantage * limited)), reduction);
}

Tensor ppo_value_loss(const Tensor& value, const Tensor& old_value, const Tensor& returns,
                      double clip, Reduction reduction) {
    const Tensor limited = old_value + clamp(value - old_value, -clip, clip);
    const Tensor worse = maximum(square(value - returns), square(limited - returns));
    return reduced(worse * 0.5, reduction);
}

}  // namespace hearth
