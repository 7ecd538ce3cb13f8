// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a function of tensors on numbers.

#pragma once

#include "compiler/interpreter/interpreter.hpp"
#include "support/random_tensor.hpp"

#include <hearth/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace hearth::test {

using Function = std::function<Tensor(Trace&, std::span<const Tensor>)>;

inline HostTensor tensor_of(const Shape& shape, std::initializer_list<double> values,
                            DType dtype = DType::kF32) {
    HostTensor t(dtype, shape);
    int64_t i = 0;
    for (double v : values) t.set(i++, v);
    return t;
}

/// The function's value on the CPU; an empty tensor after a failure.
inline HostTensor value_of(const Function& f, std::initializer_list<HostTensor> inputs) {
    Trace trace("t");
    std::vector<Tensor> tensors;
    for (const HostTensor& t : inputs)
        tensors.push_back(trace.input("x" + std::to_string(tensors.size()), t.shape(), t.dtype()));
    trace.output("y", f(trace, tensors));
    const Result<Graph> graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    if (!graph.ok()) return {};
    const std::vector<HostTensor> values(inputs);
    const auto outputs = evaluate(*graph, values, 1);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? (*outputs)[0] : HostTensor();
}

/// The trace's error when the function is applied to tensors of these shapes.
inline std::string error_of(const Function& f, std::initializer_list<Shape> shapes) {
    Trace trace("t");
    std::vector<Tensor> tensors;
    for (const Shape& s : shapes)
        tensors.push_back(trace.input("x" + std::to_string(tensors.size()), s));
    const Tensor y = f(trace, tensors);
    EXPECT_FALSE(y.ok());
    return trace.status().message();
}

inline void expect_near(const HostTensor& found, const HostTensor& expected, double tolerance) {
    ASSERT_EQ(found.shape(), expected.shape());
    for (int64_t i = 0; i < found.element_count(); ++i)
        ASSERT_NEAR(found.get(i), expected.get(i), tolerance) << "element " << i;
}

}  // namespace hearth::test
