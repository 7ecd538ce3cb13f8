// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Action distributions of policies: sampling, log-probability, entropy and KL divergence.

#include "model/agents/parts.hpp"

#include <hearth/loss.hpp>
#include <hearth/ops.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace hearth::agents {

namespace {

struct Node {
    double place, weight;
};

/// Gauss-Hermite quadrature for the weight exp(-x^2), 16 nodes: the positive half (Abramowitz and
/// Stegun, 1964, table 25.10).
constexpr std::array<Node, 8> kHermite = {{{0.27348104613815245, 0.50792947901661374},
                                           {0.82295144914465589, 0.28064745852853368},
                                           {1.3802585391988808, 0.083810041398985829},
                                           {1.9517879909162540, 0.012880311535509974},
                                           {2.5462021578474814, 0.00093228400862418053},
                                           {3.1769991619799560, 2.7118600925378815e-05},
                                           {3.8694479048601227, 2.3209808448652107e-07},
                                           {4.6887389393058184, 2.6548074740111822e-10}}};

Tensor column(const Tensor& x, int64_t index, int64_t width = 1) {
    return slice(x, -1, index, index + width);
}

/// Scales and shifts actions [rows, width] column by column.
Tensor affine(const AgentSpec& schema, const Tensor& x, bool to_game) {
    if (!x.ok()) return x;
    std::vector<Tensor> parts;
    int64_t at = 0;
    for (const Action& a : schema.actions()) {
        const int64_t width = a.is_discrete ? 1 : a.count;
        const Tensor part = column(x, at, width);
        at += width;
        if (a.is_discrete) {
            parts.push_back(part);
            continue;
        }
        const double middle = (a.range.low + a.range.high) / 2;
        const double half = (a.range.high - a.range.low) / 2;
        // Clamped again afterwards, because rounding may exceed the range.
        parts.push_back(to_game
                            ? clamp(clamp(part, -1, 1) * half + middle, a.range.low, a.range.high)
                            : clamp((part - middle) * (1 / half), -1, 1));
    }
    return parts.size() == 1 ? parts[0] : concat(parts, -1);
}

bool is_width(const Tensor& x, int64_t width) {
    return x.ok() && x.rank() >= 1 && x.dim(-1) == Dim(width);
}

}  // namespace

Tensor unscale_action(const AgentSpec& schema, const Tensor& action) {
    return affine(schema, action, true);
}

Tensor scale_action(const AgentSpec& schema, const Tensor& action) {
    return affine(schema, action, false);
}

int64_t ActionDistribution::param_size(const AgentSpec& schema) {
    int64_t width = 0;
    for (const Action& a : schema.actions()) width += a.count;
    return width;
}

int64_t ActionDistribution::continuous_size(const AgentSpec& schema) {
    int64_t count = 0;
    for (const Action& a : schema.actions()) count += a.is_discrete ? 0 : a.count;
    return count;
}

ActionDistribution::ActionDistribution(const AgentSpec& schema, const Tensor& logits_and_means,
                                       const Tensor& mask, const Tensor& log_std,
                                       ContinuousDistribution kind)
    : kind_(kind) {
    if (!logits_and_means.ok()) return;
    Trace& trace = *logits_and_means.trace();
    const int64_t numbers = continuous_size(schema);
    const auto expect = [&](const Tensor& x, int64_t width, const char* what) {
        if (width == 0 || is_width(x, width)) return;
        trace.fail(invalid_argument(std::string("distribution of actions: ") + what + " is " +
                                    (x.ok() ? to_string(x.shape()) : std::string("missing")) +
                                    ", expected a last extent of " + std::to_string(width)));
    };
    expect(logits_and_means, param_size(schema), "the head");
    expect(mask, schema.mask_size(), "the mask");
    expect(log_std, numbers, "log_std");
    int64_t head_at = 0, mask_at = 0, number_at = 0;
    for (const Action& a : schema.actions()) {
        Head part;
        part.is_discrete = a.is_discrete;
        part.name = a.name;
        part.size = a.is_discrete ? 1 : a.count;
        const Tensor own = column(logits_and_means, head_at, a.count);
        head_at += a.count;
        if (!a.is_discrete) {
            part.mean = own;
            part.log_std =
                numbers == a.count && log_std.ok() ? log_std : column(log_std, number_at, a.count);
            number_at += a.count;
        } else if (!a.masked) {
            part.logits = own;
        } else {
            const Tensor there = column(mask, mask_at, a.count);
            mask_at += a.count;
            part.available = available_options(there);
            part.logits = where(part.available, own, kAbsent);
        }
        heads_.push_back(std::move(part));
    }
}

Tensor ActionDistribution::Head::scores() const {
    return available.ok() ? choosable(logits, available) : logits;
}

// log(1 - tanh(u)^2) = 2 (log 2 - u - softplus(-2 u)), which does not overflow.
Tensor ActionDistribution::log_slope(const Tensor& u) {
    return sum((std::numbers::ln2 - u - softplus(u * -2.0)) * 2.0, {-1});
}

ActionSample ActionDistribution::sample(const Tensor& counter, uint64_t key) const {
    std::vector<Tensor> actions;
    Tensor total;
    const auto add = [&](const Tensor& term) { total = total.ok() ? total + term : term; };
    for (const Head& p : heads_) {
        const uint64_t stream = rng_key(p.name, key);
        if (p.is_discrete) {
            if (!p.logits.ok()) return {p.logits, p.logits};
            const Tensor choice = categorical(counter, stream, p.scores());
            actions.push_back(unsqueeze(cast(choice, p.logits.dtype()), {-1}));
            add(categorical_log_prob(p.logits, choice));
            continue;
        }
        if (!p.mean.ok()) return {p.mean, p.mean};
        const Tensor noise = random_normal(counter, stream, p.mean.shape(), 0, 1, p.mean.dtype());
        const Tensor u = p.mean + exp(p.log_std) * noise;
        // From the noise itself: (u - mean) / deviation would round.
        const double log_root_two_pi = 0.5 * std::log(2 * std::numbers::pi);
        add(neg(sum(square(noise) * 0.5 + p.log_std + log_root_two_pi, {-1})));
        if (kind_ == ContinuousDistribution::kSquashedGaussian) add(neg(log_slope(u)));
        actions.push_back(kind_ == ContinuousDistribution::kSquashedGaussian ? tanh(u) : u);
    }
    if (actions.empty()) return {};
    return {actions.size() == 1 ? actions[0] : concat(actions, -1), total};
}

Tensor ActionDistribution::mode() const {
    std::vector<Tensor> actions;
    for (const Head& p : heads_) {
        if (p.is_discrete)
            actions.push_back(p.logits.ok() ? cast(argmax(p.scores(), -1, true), p.logits.dtype())
                                            : p.logits);
        else
            actions.push_back(kind_ == ContinuousDistribution::kSquashedGaussian ? tanh(p.mean)
                                                                                 : p.mean);
    }
    if (actions.empty()) return {};
    return actions.size() == 1 ? actions[0] : concat(actions, -1);
}

Tensor ActionDistribution::log_prob(const Tensor& action) const {
    Tensor total;
    int64_t at = 0;
    for (const Head& p : heads_) {
        const Tensor own = column(action, at, p.size);
        at += p.size;
        Tensor term;
        if (p.is_discrete) {
            const Tensor index = clamp(round(squeeze(own, {-1})), 0,
                                       static_cast<double>(p.logits.dim(-1).count - 1));
            term = categorical_log_prob(p.logits, cast(index, DType::kI32));
        } else if (kind_ == ContinuousDistribution::kGaussian) {
            term = normal_log_prob(own, p.mean, p.log_std);
        } else {
            // Clamped one f32 step inside the ends, where the inverse is infinite.
            const Tensor u = atanh(clamp(own, -0.9999999, 0.9999999));
            term = normal_log_prob(u, p.mean, p.log_std) - log_slope(u);
        }
        total = total.ok() ? total + term : term;
    }
    return total;
}

Tensor ActionDistribution::entropy() const {
    Tensor total;
    for (const Head& p : heads_) {
        Tensor term;
        if (p.is_discrete) {
            term = categorical_entropy(p.logits);
        } else {
            // Broadcasts to one value per row, also if the deviations are the same for all.
            term = normal_entropy(p.log_std + p.mean * 0.0);
            if (kind_ == ContinuousDistribution::kSquashedGaussian) {
                const double root_two = std::numbers::sqrt2;
                const double inverse_root_pi = std::numbers::inv_sqrtpi;
                for (const Node& node : kHermite)
                    for (const double side : {-1.0, 1.0})
                        term = term +
                               log_slope(p.mean + exp(p.log_std) * (side * root_two * node.place)) *
                                   (node.weight * inverse_root_pi);
            }
        }
        total = total.ok() ? total + term : term;
    }
    return total;
}

Tensor ActionDistribution::kl(const ActionDistribution& other) const {
    Tensor total;
    for (size_t i = 0; i < heads_.size() && i < other.heads_.size(); ++i) {
        const Head &p = heads_[i], &q = other.heads_[i];
        Tensor term;
        if (p.is_discrete) {
            term = sum(softmax(p.logits) * (log_softmax(p.logits) - log_softmax(q.logits)), {-1});
        } else {
            // KL divergence of the normals: tanh changes both densities alike.
            const Tensor ratio = square(exp(p.log_std - q.log_std));
            const Tensor apart = square((p.mean - q.mean) * exp(neg(q.log_std)));
            term = sum((ratio + apart - 1.0) * 0.5 + q.log_std - p.log_std, {-1});
        }
        total = total.ok() ? total + term : term;
    }
    return total;
}

}  // namespace hearth::agents
