// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Losses, composed of other operators.  Binary cross-entropy is a record because its gradient is
// limited.

#include "compiler/ops/shared/rules.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>

#include <algorithm>
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
        case Reduction::kNone:
            break;
    }
    return loss;
}

Tensor picked(const Tensor& x, const Tensor& labels) {
    return squeeze(gather_elements(x, unsqueeze(labels, {-1}), -1), {-1});
}

/// Returns true if the loss's operands have the same shape, or all but the first are scalars; fails
/// the trace if not. Without the check, [n, 1] and [n] would broadcast to [n, n].
bool have_one_shape(std::string_view loss, const Tensor& first,
                    std::initializer_list<Tensor> others) {
    if (!first.ok()) return true;  // already failed
    for (const Tensor& other : others) {
        if (!other.ok() || other.rank() == 0 || other.shape() == first.shape()) continue;
        (void)fail(first,
                   invalid_argument(std::string(loss) + ": expected equal shapes, found " +
                                    to_string(first.shape()) + " and " + to_string(other.shape())));
        return false;
    }
    return true;
}

/// log(x), clamped at -100 as PyTorch does.
Tensor clamped_log(const Tensor& x) {
    return maximum(log(x), -100);
}

constinit const OpDef kOps[] = {
    {
        .name = "binary_cross_entropy",
        .summary = "-t max(log p, -100) - (1 - t) max(log(1 - p), -100)",
        .inputs = {{"p"}, {"t"}},
        .op_class = OpClass::kComposite,
        .infer = broadcast_same_type,
        .decompose = [](DecomposeContext& d) -> std::vector<Tensor> {
            const Tensor p = d.in(0), t = d.in(1);
            return {(t - 1.0) * clamped_log(1.0 - p) - t * clamped_log(p)};
        },
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor p = v.in(0), t = v.in(1), g = v.cotangent();
            // PyTorch's limit of the divisor.  f16 holds neither it nor its inverse.
            const double least = std::max(1e-12, smallest_normal(p.dtype()));
            const Tensor to_p = g * ((p - t) / maximum((1.0 - p) * p, least));
            const Tensor to_t = g * (clamped_log(1.0 - p) - clamped_log(p));
            return {sum_to_shape(to_p, p.shape()), sum_to_shape(to_t, t.shape())};
        },
        .samples = [](Samples& s) { binary_samples(s, 0.05, 0.95); },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> loss_ops{kOps};

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
    if (!have_one_shape("mse_loss", prediction, {target})) return failed_like(prediction);
    return reduced(square(prediction - target), reduction);
}

Tensor l1_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
    if (!have_one_shape("l1_loss", prediction, {target})) return failed_like(prediction);
    return reduced(abs(prediction - target), reduction);
}

Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta,
                  Reduction reduction) {
    if (!have_one_shape("huber_loss", prediction, {target})) return failed_like(prediction);
    const Tensor distance = abs(prediction - target);
    const Tensor near = square(distance) * 0.5, far = (distance - 0.5 * delta) * delta;
    return reduced(where(less_equal(distance, delta), near, far), reduction);
}

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta,
                      Reduction reduction) {
    if (!have_one_shape("smooth_l1_loss", prediction, {target})) return failed_like(prediction);
    if (beta == 0) return l1_loss(prediction, target, reduction);
    return huber_loss(prediction, target, beta, reduction) / beta;
}

Tensor relative_l2_loss(const Tensor& prediction, const Tensor& target, double epsilon,
                        Reduction reduction) {
    if (!have_one_shape("relative_l2_loss", prediction, {target})) return failed_like(prediction);
    const Tensor scale = stop_gradient(square(prediction) + epsilon);
    return reduced(square(prediction - target) / scale, reduction);
}

Tensor poisson_nll_loss(const Tensor& log_rate, const Tensor& target, Reduction reduction) {
    if (!have_one_shape("poisson_nll_loss", log_rate, {target})) return failed_like(log_rate);
    return reduced(exp(log_rate) - target * log_rate, reduction);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int64_t axis, double epsilon) {
    return sum(lp_normalize(a, {axis}, 2, epsilon) * lp_normalize(b, {axis}, 2, epsilon), {axis});
}

Tensor cosine_distance(const Tensor& prediction, const Tensor& target, Reduction reduction) {
    if (!have_one_shape("cosine_distance", prediction, {target})) return failed_like(prediction);
    return reduced(1.0 - cosine_similarity(prediction, target), reduction);
}

namespace {

Tensor soft_nll(const Tensor& log_probabilities, const Tensor& target,
                const CrossEntropyOptions& options) {
    const auto classes = static_cast<double>(log_probabilities.dim(-1).count);
    Tensor t = target;
    if (options.label_smoothing != 0)
        t = t * (1 - options.label_smoothing) + options.label_smoothing / classes;
    if (options.weight.trace() != nullptr) t = t * options.weight;
    return reduced(neg(sum(t * log_probabilities, {-1})), options.reduction);
}

}  // namespace

Tensor nll_loss(const Tensor& log_probs, const Tensor& target, const CrossEntropyOptions& options) {
    if (!log_probs.ok() || !target.ok()) return failed_like(log_probs);
    if (log_probs.rank() == 0 || log_probs.dim(-1).is_batch)
        return fail(log_probs,
                    invalid_argument("nll_loss: the last extent must be the number of classes, "
                                     "found " +
                                     to_string(log_probs.shape())));
    if (is_floating(target.dtype())) {
        if (!have_one_shape("nll_loss", log_probs, {target})) return failed_like(log_probs);
        return soft_nll(log_probs, target, options);
    }
    const bool is_weighted = options.weight.trace() != nullptr;
    const double smoothing = options.label_smoothing;
    Tensor loss = neg(picked(log_probs, target));
    Tensor weight;
    if (is_weighted) {
        weight = take(options.weight, target);
        loss = loss * weight;
    }
    if (smoothing != 0) {
        const auto classes = static_cast<double>(log_probs.dim(-1).count);
        const Tensor all = is_weighted ? log_probs * options.weight : log_probs;
        loss = loss * (1 - smoothing) - sum(all, {-1}) * (smoothing / classes);
    }
    if (options.ignore_index) {
        const Tensor counts = not_equal(target, static_cast<double>(*options.ignore_index));
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

Tensor binary_cross_entropy(const Tensor& probability, const Tensor& target, Reduction reduction) {
    if (!have_one_shape("binary_cross_entropy", probability, {target}))
        return failed_like(probability);
    return reduced(apply_one(op("binary_cross_entropy"), {probability, target}), reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        Reduction reduction, double pos_weight) {
    if (!have_one_shape("bce_with_logits", logits, {target})) return failed_like(logits);
    // -t log(s) - (1 - t) log(1 - s) with s = sigmoid(x) is softplus(x) - x t; with the weight w of
    // the first term it is (1 - t) x + (1 + (w - 1) t) softplus(-x).
    if (pos_weight == 1) return reduced(softplus(logits) - logits * target, reduction);
    const Tensor weight = target * (pos_weight - 1) + 1.0;
    return reduced((1.0 - target) * logits + weight * softplus(neg(logits)), reduction);
}

Tensor kl_div(const Tensor& log_prediction, const Tensor& target, Reduction reduction) {
    if (!have_one_shape("kl_div", log_prediction, {target})) return failed_like(log_prediction);
    const Tensor is_zero = equal(target, 0);
    const Tensor entropy = where(is_zero, 0.0, target * log(where(is_zero, 1.0, target)));
    return reduced(sum(entropy - target * log_prediction, {-1}), reduction);
}

Tensor hinge_loss(const Tensor& score, const Tensor& target, double margin, Reduction reduction) {
    if (!have_one_shape("hinge_loss", score, {target})) return failed_like(score);
    return reduced(maximum(margin - target * score, 0), reduction);
}

Tensor categorical_log_prob(const Tensor& logits, const Tensor& action) {
    if (!logits.ok() || !action.ok() || logits.rank() == 0 || logits.dim(-1).is_batch)
        return picked(log_softmax(logits, -1), action);
    // Gathering would clamp an invalid action to the nearest valid one.
    const Tensor is_action = logical_and(greater_equal(action, 0),
                                         less(action, static_cast<double>(logits.dim(-1).count)));
    return where(is_action, picked(log_softmax(logits, -1), action), 0.0);
}

Tensor categorical_entropy(const Tensor& logits) {
    // Where p is 0, log p may be -inf: the limit of p log p is 0, and so are its gradients.
    const Tensor p = softmax(logits, -1);
    const Tensor log_p = where(greater(p, 0), log_softmax(logits, -1), 0.0);
    return neg(sum(p * log_p, {-1}));
}

Tensor normal_log_prob(const Tensor& value, const Tensor& mean, const Tensor& log_std) {
    const double log_root_two_pi = 0.5 * std::log(2 * std::numbers::pi);
    const Tensor distance = (value - mean) * exp(neg(log_std));
    return neg(sum(square(distance) * 0.5 + log_std + log_root_two_pi, {-1}));
}

Tensor normal_entropy(const Tensor& log_std) {
    return sum(log_std + 0.5 * std::log(2 * std::numbers::pi * std::numbers::e), {-1});
}

namespace {

/// Returns true if a limit is a scalar; fails the trace if not.
bool is_limit(std::string_view loss, const Tensor& limit) {
    if (!limit.ok() || limit.rank() == 0) return true;
    (void)fail(limit,
               invalid_argument(std::string(loss) + ": the clip must be a number [], found " +
                                to_string(limit.shape())));
    return false;
}

Tensor limited_to(const Tensor& x, const Tensor& low, const Tensor& high) {
    return minimum(maximum(x, low), high);
}

}  // namespace

Tensor ppo_clip_loss(const Tensor& log_prob, const Tensor& old_log_prob, const Tensor& advantage,
                     double clip, Reduction reduction) {
    if (!have_one_shape("ppo_clip_loss", log_prob, {old_log_prob, advantage}))
        return failed_like(log_prob);
    const Tensor ratio = exp(log_prob - old_log_prob);
    const Tensor limited = clamp(ratio, 1 - clip, 1 + clip);
    return reduced(maximum(neg(advantage * ratio), neg(advantage * limited)), reduction);
}

Tensor ppo_clip_loss(const Tensor& log_prob, const Tensor& old_log_prob, const Tensor& advantage,
                     const Tensor& clip, Reduction reduction) {
    if (!have_one_shape("ppo_clip_loss", log_prob, {old_log_prob, advantage}) ||
        !is_limit("ppo_clip_loss", clip))
        return failed_like(log_prob);
    const Tensor ratio = exp(log_prob - old_log_prob);
    const Tensor limited = limited_to(ratio, 1.0 - clip, 1.0 + clip);
    return reduced(maximum(neg(advantage * ratio), neg(advantage * limited)), reduction);
}

Tensor ppo_value_loss(const Tensor& value, const Tensor& old_value, const Tensor& returns,
                      double clip, Reduction reduction) {
    if (!have_one_shape("ppo_value_loss", value, {old_value, returns})) return failed_like(value);
    const Tensor limited = old_value + clamp(value - old_value, -clip, clip);
    const Tensor worse = maximum(square(value - returns), square(limited - returns));
    return reduced(worse * 0.5, reduction);
}

Tensor ppo_value_loss(const Tensor& value, const Tensor& old_value, const Tensor& returns,
                      const Tensor& clip, Reduction reduction) {
    if (!have_one_shape("ppo_value_loss", value, {old_value, returns}) ||
        !is_limit("ppo_value_loss", clip))
        return failed_like(value);
    const Tensor limited = old_value + limited_to(value - old_value, neg(clip), clip);
    const Tensor worse = maximum(square(value - returns), square(limited - returns));
    return reduced(worse * 0.5, reduction);
}

}  // namespace hearth
