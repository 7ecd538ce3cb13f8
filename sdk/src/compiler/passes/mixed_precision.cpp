// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Lets matrix products read f16 and accumulate in f32, as matrix cores do. Everything else stays
// f32, weights included: the f32 master copy of Micikevicius et al., "Mixed Precision Training",
// 2018, is then simply the param. A tensor is rounded where it is computed, before any views, so
// that the kernel that computes it can store f16; all products share that copy.

#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/op_table.hpp"
#include "compiler/passes/pass.hpp"

#include <map>

namespace hearth {

namespace {

class Narrower {
  public:
    explicit Narrower(Trace& trace) : trace_(trace) {}

    Tensor narrow(const Tensor& x) {
        const auto known = narrowed_.find(x.value());
        if (known != narrowed_.end()) return known->second;
        const Tensor result = make(x);
        narrowed_.emplace(x.value(), result);
        return result;
    }

  private:
    Tensor make(const Tensor& x) {
        const Value& value = trace_.graph().value(x.value());
        if (value.kind == ValueKind::kConstant)
            return trace_.constant(value.data->cast(DType::kF16));
        if (const Node* producer = trace_.graph().producer(x.value())) {
            const Tensor source(&trace_,
                                producer->inputs.empty() ? kInvalidId : producer->inputs[0]);
            if (producer->op->is_cast && source.dtype() == DType::kF16) return source;
            if (producer->op->is_view && producer->inputs.size() == 1 &&
                source.dtype() == DType::kF32) {
                // Copied because the trace may move the object that `producer` points to.
                const OpDef& op = *producer->op;
                const Attrs attrs = producer->attrs;
                return apply_one(op, {narrow(source)}, attrs);
            }
        }
        return apply_one(op("cast"), {x}, {{"to", DType::kF16}});
    }

    Trace& trace_;
    std::map<uint32_t, Tensor> narrowed_;
};

}  // namespace

Result<Graph> mix_precision(const Graph& graph, const PassOptions& options) {
    if (options.precision == Precision::kF32) return graph;
    std::optional<Narrower> narrower;
    return rewrite(
        graph,
        [&](Trace& trace, const Node& node,
            std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
            if (node.op->op_class != OpClass::kMatmul || node.op->traits.is_partial_sum ||
                inputs[0].dtype() != DType::kF32)
                return std::nullopt;
            if (!narrower) narrower.emplace(trace);
            Attrs attrs = node.attrs;
            attrs.set("wide", int64_t{1});
            return std::vector<Tensor>{apply_one(
                *node.op, {narrower->narrow(inputs[0]), narrower->narrow(inputs[1])}, attrs)};
        });
}

}  // namespace hearth
