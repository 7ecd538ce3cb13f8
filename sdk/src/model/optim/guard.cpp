// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Conditional updates: each update becomes a select between the new and the old value.

#include "compiler/ir/graph.hpp"
#include "compiler/ir/rewrite.hpp"
#include "model/optim/update.hpp"

#include <hearth/op/op_def.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <algorithm>
#include <limits>

namespace hearth {

namespace {

/// For each node, true if `value` depends on it.
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

/// The maximum of scalars [1] -> [].  Each batch ends in a reduction of one element, which is a
/// kernel of its own: a chain of maxima alone would be recomputed from all scalars in every kernel
/// that reads it.
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

/// The guarded value of an update.  For rows that are written in place, invalid indices drop the
/// rows instead: a select between all old and new contents would copy them.
Tensor guarded(Trace& trace, const Assignment& update, const Tensor& condition) {
    Graph& graph = mutable_graph(trace);
    const Tensor before(&trace, update.target), after(&trace, update.value);
    const Node* node = graph.producer(update.value);
    if (node == nullptr || !node->op->writes_in_place || node->inputs[0] != update.target)
        return where(condition, after, before);
    const Tensor places(&trace, node->inputs[1]), rows(&trace, node->inputs[2]);
    const OpDef& op = *node->op;
    const Attrs attrs = node->attrs;
    return apply_one(op, {before, where(condition, places, -1.0), rows}, attrs);
}

}  // namespace

Tensor largest_magnitude(const Tensor& x) {
    return cast(reshape(max(abs(x)), {1}), DType::kF32);
}

Tensor is_finite_magnitude(std::vector<Tensor> magnitudes) {
    // max propagates NaN, so this is false if any element is NaN.
    return less_equal(largest_of(std::move(magnitudes)),
                      static_cast<double>(std::numeric_limits<float>::max()));
}

Tensor all_finite(std::span<const Tensor> tensors) {
    std::vector<Tensor> magnitudes;
    Trace* trace = nullptr;
    for (const Tensor& t : tensors) {
        if (trace == nullptr) trace = t.trace();
        if (!t.ok()) return {t.trace(), kInvalidId};
        if (t.shape().element_count(1) > 0) magnitudes.push_back(largest_magnitude(t));
    }
    if (!magnitudes.empty()) return is_finite_magnitude(std::move(magnitudes));
    if (trace != nullptr)
        trace->fail(invalid_argument(
            "all_finite: there are no elements to check; pass a tensor that has some"));
    return {trace, kInvalidId};
}

Tensor all_finite(std::initializer_list<Tensor> tensors) {
    return all_finite(std::span(tensors.begin(), tensors.size()));
}

ConditionalUpdate::ConditionalUpdate(Trace& trace)
    : trace_(&trace), first_update_(trace.graph().updates.size()) {}

// Redirects readers of an updated value to the guarded one unless the condition depends on them:
// the step of a param then reads its guarded moments, and all of them are one kernel.
void ConditionalUpdate::commit_if(const Tensor& condition) {
    if (!trace_->status().ok()) return;
    Graph& graph = mutable_graph(*trace_);
    if (is_done_)
        return trace_->fail(invalid_argument("conditional update: the condition is given twice"));
    if (!condition.ok() || condition.trace() != trace_ || condition.dtype() != DType::kBool ||
        condition.rank() != 0)
        return trace_->fail(
            invalid_argument("conditional update: expected a condition bool[] of trace '" +
                             graph.name + "', found " +
                             (condition.ok() ? std::string(name_of(condition.dtype())) +
                                                   to_string(condition.shape()) + " of trace '" +
                                                   condition.trace()->graph().name + "'"
                                             : "nothing")));
    is_done_ = true;
    const std::vector<bool> is_before = needed_for(graph, condition.value());
    for (size_t i = first_update_; i < graph.updates.size(); ++i) {
        const Assignment update = graph.updates[i];
        const Tensor kept = guarded(*trace_, update, condition);
        if (!kept.ok()) return;
        graph.updates[i].value = kept.value();
        if (graph.value(update.value).kind != ValueKind::kNode) continue;
        for (NodeId n = 0; n < is_before.size(); ++n)
            if (!is_before[n])
                std::replace(graph.nodes[n].inputs.begin(), graph.nodes[n].inputs.end(),
                             update.value, kept.value());
    }
    restore_order(graph);
}

}  // namespace hearth
