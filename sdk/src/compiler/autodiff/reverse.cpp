// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reverse accumulation over the nodes of a trace, last to first: each operator's record turns the
// cotangents of its outputs into those of its inputs, as nodes appended to the same trace.
// After Griewank and Walther, "Evaluating Derivatives", 2nd edition, 2008, section 3.2.

#include "compiler/autodiff/checkpoint.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <hearth/grad.hpp>

#include <optional>

namespace hearth {

namespace {

class Reverse {
  public:
    explicit Reverse(Trace& trace)
        : trace_(trace),
          node_count_(trace.graph().nodes.size()),
          cotangents_(trace.graph().values.size()),
          recomputation_(trace) {}

    void add(ValueId value, const Tensor& cotangent) {
        // Values made by gradient rules come after all values that are differentiated here.
        Tensor& total = cotangents_[value];
        total = total.ok() ? total + cotangent : cotangent;
    }

    /// Marks the values that depend on one of `inputs`, and the inputs themselves.
    void find_dependents(std::span<const Tensor> inputs) {
        const Graph& graph = trace_.graph();
        depends_.assign(graph.values.size(), false);
        for (const Tensor& t : inputs) depends_[t.value()] = true;
        for (const Node& node : graph.nodes)
            for (ValueId v : node.inputs)
                if (depends_[v] && !node.op->stops_gradient)
                    for (ValueId out : node.outputs) depends_[out] = true;
    }

    void run() {
        for (size_t n = node_count_; n-- > 0 && trace_.status().ok();) visit(n);
    }

    Tensor cotangent(ValueId value) const { return cotangents_[value]; }

  private:
    void visit(size_t index) {
        // A copy: rules append to the graph, which may move its nodes.
        const Node node = trace_.graph().nodes[index];
        Tensor reached;
        for (ValueId v : node.outputs)
            if (cotangents_[v].ok() && depends_[v]) reached = cotangents_[v];
        if (!reached.ok() || node.op->stops_gradient) return;
        if (node.op->vjp == nullptr) {
            trace_.fail(unsupported("grad: the operator '" + std::string(node.op->name) +
                                    "' has no gradient"));
            return;
        }
        const auto read = [&](ValueId v) {
            return recomputation_.value_for(static_cast<NodeId>(index), v, reached);
        };
        std::vector<Tensor> inputs, outputs, incoming;
        for (ValueId v : node.inputs) inputs.push_back(read(v));
        for (ValueId v : node.outputs) {
            outputs.push_back(read(v));
            incoming.push_back(cotangents_[v].ok() ? cotangents_[v] : zeros_like(outputs.back()));
        }
        VjpContext call{trace_, node.attrs, inputs, outputs, incoming};
        const std::vector<Tensor> outgoing = node.op->vjp(call);
        for (size_t i = 0; i < inputs.size() && trace_.status().ok(); ++i)
            if (outgoing[i].ok() && depends_[node.inputs[i]]) add(node.inputs[i], outgoing[i]);
    }

    Trace& trace_;
    size_t node_count_;
    std::vector<Tensor> cotangents_;  ///< per value that existed before; not ok: zero
    std::vector<bool> depends_;
    Recomputation recomputation_;
};

std::string described(const Tensor& t) {
    return std::string(name_of(t.dtype())) + to_string(t.shape());
}

Status check(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
             std::span<const Tensor> inputs, const Trace* trace) {
    if (outputs.size() != cotangents.size())
        return invalid_argument("vjp: " + std::to_string(outputs.size()) + " outputs, " +
                                std::to_string(cotangents.size()) + " cotangents");
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].shape() != cotangents[i].shape() ||
            outputs[i].dtype() != cotangents[i].dtype())
            return invalid_argument("vjp: output " + std::to_string(i) + " is " +
                                    described(outputs[i]) + ", its cotangent " +
                                    described(cotangents[i]));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].trace() != trace)
            return invalid_argument("grad: wrt " + std::to_string(i) + " is of another trace");
        if (!is_floating(inputs[i].dtype()))
            return invalid_argument("grad: wrt " + std::to_string(i) + " is " +
                                    described(inputs[i]) + ", not floating-point");
    }
    return {};
}

bool all_ok(std::span<const Tensor> tensors) {
    for (const Tensor& t : tensors)
        if (!t.ok()) return false;
    return true;
}

/// vjp() with a failed tensor for each input whose gradient is zero; nullopt after an error.
std::optional<std::vector<Tensor>> propagate(std::span<const Tensor> outputs,
                                             std::span<const Tensor> cotangents,
                                             std::span<const Tensor> inputs) {
    Trace* const trace = outputs.empty() ? nullptr : outputs[0].trace();
    if (trace == nullptr || !all_ok(outputs) || !all_ok(cotangents) || !all_ok(inputs)) return {};
    if (Status s = check(outputs, cotangents, inputs, trace); !s.ok()) {
        trace->fail(std::move(s));
        return {};
    }
    Reverse reverse(*trace);
    reverse.find_dependents(inputs);
    for (size_t i = 0; i < outputs.size(); ++i) reverse.add(outputs[i].value(), cotangents[i]);
    reverse.run();
    if (!trace->status().ok()) return {};
    std::vector<Tensor> gradients;
    for (const Tensor& x : inputs) gradients.push_back(reverse.cotangent(x.value()));
    return gradients;
}

std::vector<Tensor> with_zeros(std::optional<std::vector<Tensor>> gradients, Trace* trace,
                               std::span<const Tensor> inputs) {
    if (!gradients) return std::vector<Tensor>(inputs.size(), Tensor(trace, kInvalidId));
    for (size_t i = 0; i < inputs.size(); ++i)
        if (!(*gradients)[i].ok()) (*gradients)[i] = zeros_like(inputs[i]);
    return std::move(*gradients);
}

/// For each value, the operator whose zero gradient separates it from the loss on some path; null:
/// there is none, or no path without stop_gradient.
std::vector<const OpDef*> find_separators(const Graph& graph, ValueId loss) {
    std::vector<bool> is_reached(graph.values.size(), false);
    std::vector<const OpDef*> separators(graph.values.size(), nullptr);
    is_reached[loss] = true;
    const OpDef* const on_purpose = &op("stop_gradient");
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        const Node& node = graph.nodes[n];
        if (node.op == on_purpose) continue;
        const OpDef* separator = nullptr;
        bool leads_to_loss = false, separates = true;
        for (ValueId out : node.outputs)
            if (is_reached[out]) {
                leads_to_loss = true;
                separates = separates && !is_floating(graph.value(out).dtype);
                if (separators[out] != nullptr) separator = separators[out];
            }
        if (!leads_to_loss) continue;
        for (ValueId in : node.inputs) {
            is_reached[in] = true;
            if ((separates || node.op->stops_gradient) && is_floating(graph.value(in).dtype))
                separators[in] = node.op;
            else if (separators[in] == nullptr)
                separators[in] = separator;
        }
    }
    return separators;
}

/// Fails the trace if a param's gradient is zero because of a non-differentiable operator.
void check_separated_params(const Tensor& loss, std::span<const Tensor> wrt,
                            std::span<const Tensor> gradients) {
    Trace& trace = *loss.trace();
    std::vector<const OpDef*> separators;
    for (size_t i = 0; i < wrt.size(); ++i) {
        const Value& value = trace.graph().value(wrt[i].value());
        if (gradients[i].ok() || value.kind != ValueKind::kParam) continue;
        if (separators.empty()) separators = find_separators(trace.graph(), loss.value());
        if (const OpDef* const op = separators[wrt[i].value()]; op != nullptr)
            trace.fail(invalid_argument(
                "grad: the loss depends on the param '" + value.name + "' only through '" +
                std::string(op->name) +
                "', whose gradient is zero, so it would never be trained; use a differentiable "
                "operator (softmax in place of argmax, sigmoid in place of a comparison), or "
                "stop_gradient if that is intended"));
    }
}

}  // namespace

std::vector<Tensor> vjp(std::span<const Tensor> outputs, std::span<const Tensor> cotangents,
                        std::span<const Tensor> inputs) {
    return with_zeros(propagate(outputs, cotangents, inputs),
                      outputs.empty() ? nullptr : outputs[0].trace(), inputs);
}

std::vector<Tensor> grad(const Tensor& loss, std::span<const Tensor> wrt) {
    const bool is_scalar = loss.rank() == 0 || (loss.rank() == 1 && loss.dim(0).is_one());
    if (loss.ok() && (!is_scalar || !is_floating(loss.dtype())))
        fail(loss, invalid_argument("grad: the loss must be a floating-point scalar, found " +
                                    described(loss)));
    if (!loss.ok() || !loss.trace()->status().ok())
        return std::vector<Tensor>(wrt.size(), failed_like(loss));
    const Tensor one = expand(constant_like(loss, 1), loss.shape());
    std::optional<std::vector<Tensor>> gradients =
        propagate(std::span(&loss, 1), std::span(&one, 1), wrt);
    if (gradients) check_separated_params(loss, wrt, *gradients);
    return with_zeros(std::move(gradients), loss.trace(), wrt);
}

std::vector<Tensor> grad(const Tensor& loss, ParamList&& params) {
    return grad(loss, std::span<const Tensor>(params.current(loss)));
}

Tensor grad(const Tensor& loss, const Tensor& wrt) {
    return grad(loss, std::span(&wrt, 1))[0];
}

ValueAndGrad value_and_grad(const std::function<Tensor()>& f, std::span<const Tensor> wrt) {
    const Tensor value = f();
    return {value, grad(value, wrt)};
}

ValueAndGrad value_and_grad(const std::function<Tensor()>& f, ParamList&& params) {
    const Tensor value = f();
    return {value, grad(value, std::move(params))};
}

Tensor stop_gradient(const Tensor& x) {
    return apply_one(op("stop_gradient"), {x});
}

}  // namespace hearth
