// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/rewrite.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <algorithm>
#include <limits>

namespace hearth {

namespace {

Status check(const LossScaleOptions& o) {
    const bool is_sound = o.least > 0 && o.least <= o.first && o.first <= o.most && o.growth >= 1 &&
                          o.backoff > 0 && o.backoff < 1 && o.growth_interval >= 1;
    if (is_sound) return {};
    return invalid_argument(
        "loss scale '" + o.name +
        "': expected 0 < least <= first <= most, growth >= 1, 0 < backoff < 1 and growth_interval "
        ">= 1, found least " +
        std::to_string(o.least) + ", first " + std::to_string(o.first) + ", most " +
        std::to_string(o.most) + ", growth " + std::to_string(o.growth) + ", backoff " +
        std::to_string(o.backoff) + ", growth_interval " + std::to_string(o.growth_interval));
}

/// For each node, whether `value` depends on it.
std::vector<bool> needed_for(const Graph& graph, ValueId value) {
    std::vector<bool> is_needed(graph.nodes.size());
    std::vector<ValueId> stack{value};
    while (!stack.empty()) {
        const Value& v = graph.value(stack.back());
        stack.pop_back();
        if (v.kind != ValueKind::kNode || is_needed[v.node]) continue;
        is_needed[v.node] = true;
        const std::vector<ValueId>& inputs = graph.nodes[v.node].inputs;
        stack.insert(stack.end(), inputs.begin(), inputs.end());
    }
    return is_needed;
}

/// The largest of numbers [1] -> [].  Reductions of one element each are kernels of their own:
/// comparisons alone would be computed again, from all numbers, by every kernel that reads them.
Tensor largest_of(std::vector<Tensor> numbers) {
    constexpr size_t kAtOnce = 16;
    do {
        std::vector<Tensor> fewer;
        for (size_t i = 0; i < numbers.size(); i += kAtOnce) {
            Tensor largest = numbers[i];
            for (size_t k = i + 1; k < std::min(i + kAtOnce, numbers.size()); ++k)
                largest = maximum(largest, numbers[k]);
            fewer.push_back(max(largest, {0}, true));
        }
        numbers = std::move(fewer);
    } while (numbers.size() > 1);
    return reshape(numbers[0], {});
}

}  // namespace

LossScale::LossScale(Trace& trace, const LossScaleOptions& options)
    : trace_(&trace), options_(options), first_update_(trace.graph().updates.size()) {
    if (Status s = check(options); !s.ok()) trace.fail(s);
    scale_ = trace.state(options.name, {}, Init::constant(options.first));
}

std::vector<Tensor> LossScale::grad(const Tensor& loss, std::span<const Tensor> params) {
    if (!loss.ok() || !scale_.ok()) return std::vector<Tensor>(params.size(), loss);
    std::vector<Tensor> gradients = hearth::grad(loss * cast(scale_, loss.dtype()), params);
    for (Tensor& g : gradients) {
        if (!g.ok()) continue;
        g = g / cast(scale_, g.dtype());
        if (g.shape().element_count(1) == 0) continue;
        largest_.push_back(cast(reshape(max(abs(g)), {1}), DType::kF32));
    }
    return gradients;
}

Tensor LossScale::finish() {
    if (!trace_->status().ok()) return scale_;
    if (largest_.empty()) {
        trace_->fail(invalid_argument("loss scale '" + options_.name +
                                      "': finish() needs gradients from grad() before"));
        return {trace_, kNone};
    }
    // False for NaN, which the largest of all is if any of them is.
    const Tensor is_finite =
        less_equal(largest_of(largest_), static_cast<double>(std::numeric_limits<float>::max()));
    guard_updates(is_finite);
    adjust_scale(is_finite);
    return is_finite;
}

// What is computed of an updated value reads the guarded one, where it can: the step of a param,
// say, reads its guarded moments, and all of them are one kernel.
void LossScale::guard_updates(const Tensor& is_finite) {
    Graph& graph = trace_->graph();
    const std::vector<bool> is_before = needed_for(graph, is_finite.value());
    for (size_t i = first_update_; i < graph.updates.size(); ++i) {
        const GraphUpdate update = graph.updates[i];
        const Tensor before(trace_, update.target), after(trace_, update.value);
        const Tensor kept = where(is_finite, after, before);
        graph.updates[i].value = kept.value();
        if (graph.value(update.value).kind != ValueKind::kNode) continue;
        for (NodeId n = 0; n < is_before.size(); ++n)
            if (!is_before[n])
                std::replace(graph.nodes[n].inputs.begin(), graph.nodes[n].inputs.end(),
                             update.value, kept.value());
    }
    restore_order(graph);
}

void LossScale::adjust_scale(const Tensor& is_finite) {
    const Tensor good = trace_->state(options_.name + ".good_steps", {}, {}, DType::kU32);
    const Tensor skipped = trace_->state(options_.name + ".skipped_steps", {}, {}, DType::kU32);
    const Tensor next_good = good + 1.0;
    const Tensor grows = greater_equal(next_good, static_cast<double>(options_.growth_interval));
    const Tensor grown = where(grows, minimum(scale_ * options_.growth, options_.most), scale_);
    const Tensor reduced = maximum(scale_ * options_.backoff, options_.least);
    const Tensor zero = trace_->constant(0, DType::kU32);
    trace_->assign(scale_, where(is_finite, grown, reduced));
    trace_->assign(good, where(is_finite, where(grows, zero, next_good), zero));
    trace_->assign(skipped, where(is_finite, skipped, skipped + 1.0));
}

}  // namespace hearth
