// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compares gradients with central differences, in double.

#include "compiler/interpreter/gradcheck.hpp"

#include "compiler/interpreter/interpreter.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/op/attrs.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

// Random cotangent in [0.5, 1.5): with one sign, errors cannot cancel.
HostTensor random_cotangent(const Shape& shape, uint64_t key) {
    HostTensor t(DType::kF64, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, 0.5 + uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))));
    return t;
}

// The weighted sum of f's outputs as one graph, and its gradients as a second one.
struct Graphs {
    Graph loss;
    Graph gradients;
    std::vector<HostTensor> cotangents;
    std::vector<size_t> differentiated;  ///< indices of the floating-point inputs
};

Result<Graphs> build(const TracedFunction& f, std::span<const TensorType> types, int64_t rows) {
    Graphs graphs;
    Trace trace("gradcheck");
    std::vector<Tensor> inputs, wrt;
    for (const TensorType& type : types) {
        const std::string name = "x" + std::to_string(inputs.size());
        const DType dtype = is_floating(type.dtype) ? DType::kF64 : type.dtype;
        inputs.push_back(trace.input(name, type.shape, dtype));
        if (!is_floating(dtype)) continue;
        graphs.differentiated.push_back(inputs.size() - 1);
        wrt.push_back(inputs.back());
    }
    Tensor loss = trace.constant(0, DType::kF64);
    for (const Tensor& y : f(trace, inputs)) {
        if (!is_floating(y.dtype())) continue;
        const size_t index = graphs.cotangents.size();
        graphs.cotangents.push_back(random_cotangent(y.shape().resolve(rows), index));
        loss = loss + sum(y * trace.input("g" + std::to_string(index), y.shape(), y.dtype()));
    }
    trace.output("loss", loss);
    HEARTH_ASSIGN(graphs.loss, trace.build());
    for (const Tensor& g : grad(loss, wrt))
        trace.output("gradient " + std::to_string(trace.graph().outputs.size()), g);
    HEARTH_ASSIGN(graphs.gradients, trace.build());
    return graphs;
}

Result<double> loss_at(const Graphs& graphs, std::span<const HostTensor> operands, int64_t rows) {
    HEARTH_ASSIGN(const std::vector<HostTensor> result, evaluate(graphs.loss, operands, rows));
    return result[0].get(0);
}

std::string number(double value) {
    return to_string(AttrValue(value));
}

}  // namespace

Status gradcheck(const TracedFunction& f, std::span<const TensorType> types,
                 std::span<const HostTensor> inputs, const GradcheckOptions& options) {
    HEARTH_ASSIGN(const Graphs graphs, build(f, types, options.rows));
    std::vector<HostTensor> operands;
    for (const HostTensor& t : inputs)
        operands.push_back(is_floating(t.dtype()) ? t.cast(DType::kF64) : t);
    operands.insert(operands.end(), graphs.cotangents.begin(), graphs.cotangents.end());
    HEARTH_ASSIGN(const std::vector<HostTensor> results,
                  evaluate(graphs.gradients, operands, options.rows));
    for (size_t k = 0; k < graphs.differentiated.size(); ++k) {
        HostTensor& x = operands[graphs.differentiated[k]];
        const HostTensor& gradient = results[k + 1];
        const int64_t count = x.element_count();
        const int64_t stride = std::max<int64_t>(1, count / options.most_elements);
        for (int64_t i = 0; i < count; i += stride) {
            const double here = x.get(i);
            x.set(i, here + options.step);
            HEARTH_ASSIGN(const double above, loss_at(graphs, operands, options.rows));
            x.set(i, here - options.step);
            HEARTH_ASSIGN(const double below, loss_at(graphs, operands, options.rows));
            x.set(i, here);
            const double expected = (above - below) / (2 * options.step), found = gradient.get(i);
            const double bound = options.tolerance * std::max(1.0, std::abs(expected));
            if (!(std::abs(found - expected) <= bound))
                return invalid_argument("input " + std::to_string(graphs.differentiated[k]) +
                                        " element " + std::to_string(i) + ": gradient " +
                                        number(found) + ", finite difference " + number(expected));
        }
    }
    return {};
}

}  // namespace hearth
