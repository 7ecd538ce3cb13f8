// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Dynamic loss scaling: scales gradients, skips steps that overflow, and adapts the scale.

#include "compiler/ir/graph.hpp"
#include "model/optim/update.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

namespace hearth {

namespace {

Status check(const GradScalerOptions& o) {
    const bool is_sound = o.min_scale > 0 && o.min_scale <= o.init_scale &&
                          o.init_scale <= o.max_scale && o.growth >= 1 && o.backoff > 0 &&
                          o.backoff < 1 && o.growth_interval >= 1;
    if (is_sound) return {};
    return invalid_argument(
        "loss scale '" + o.name +
        "': expected 0 < min_scale <= init_scale <= max_scale, growth >= 1, 0 < backoff < 1 and "
        "growth_interval >= 1, found min_scale " +
        std::to_string(o.min_scale) + ", init_scale " + std::to_string(o.init_scale) +
        ", max_scale " + std::to_string(o.max_scale) + ", growth " + std::to_string(o.growth) +
        ", backoff " + std::to_string(o.backoff) + ", growth_interval " +
        std::to_string(o.growth_interval));
}

}  // namespace

GradScaler::GradScaler(Trace& trace, const GradScalerOptions& options)
    : trace_(&trace), options_(options), guard_(trace) {
    if (Status s = check(options); !s.ok()) trace.fail(s);
    scale_ = trace.state(options.name, {}, Init::constant(options.init_scale));
}

std::vector<Tensor> GradScaler::grad(const Tensor& loss, std::span<const Tensor> params) {
    if (!loss.ok() || !scale_.ok()) return std::vector<Tensor>(params.size(), loss);
    std::vector<Tensor> gradients = hearth::grad(loss * cast(scale_, loss.dtype()), params);
    for (Tensor& g : gradients) {
        if (!g.ok()) continue;
        g = g / cast(scale_, g.dtype());
        if (g.shape().element_count(1) == 0) continue;
        largest_.push_back(largest_magnitude(g));
    }
    return gradients;
}

std::vector<Tensor> GradScaler::grad(const Tensor& loss, ParamList&& params) {
    return grad(loss, std::span<const Tensor>(params.current(loss)));
}

Tensor GradScaler::update() {
    if (!trace_->status().ok()) return scale_;
    if (largest_.empty()) {
        trace_->fail(invalid_argument("loss scale '" + options_.name +
                                      "': update() needs gradients; call grad() before"));
        return {trace_, kInvalidId};
    }
    const Tensor is_finite = is_finite_magnitude(largest_);
    guard_.commit_if(is_finite);
    adjust_scale(is_finite);
    return is_finite;
}

void GradScaler::adjust_scale(const Tensor& is_finite) {
    const Tensor good = trace_->state(options_.name + ".good_steps", {}, {}, DType::kU32);
    const Tensor skipped = trace_->state(options_.name + ".skipped_steps", {}, {}, DType::kU32);
    const Tensor next_good = good + 1.0;
    const Tensor grows = greater_equal(next_good, static_cast<double>(options_.growth_interval));
    const Tensor grown =
        where(grows, minimum(scale_ * options_.growth, options_.max_scale), scale_);
    const Tensor reduced = maximum(scale_ * options_.backoff, options_.min_scale);
    const Tensor zero = trace_->constant(0, DType::kU32);
    trace_->assign(scale_, where(is_finite, grown, reduced));
    trace_->assign(good, where(is_finite, where(grows, zero, next_good), zero));
    trace_->assign(skipped, where(is_finite, skipped, skipped + 1.0));
}

}  // namespace hearth
