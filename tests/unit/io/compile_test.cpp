// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shapes of graphs that imported models have and hand-written ones rarely do: compiled, planned and
// run at their real offsets, they must give what the interpreter gives.

#include "compiler/driver/compile.hpp"

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace hearth {
namespace {

void expect_program_agrees(Trace& trace) {
    const Result<Graph> graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors inputs, weights;
    for (ValueId id : graph->inputs) {
        const Value& v = graph->values[id];
        HostTensor t(v.dtype, v.shape);
        for (int64_t i = 0; i < t.element_count(); ++i)
            t.set(i, std::sin(static_cast<double>(i) * 0.7 + static_cast<double>(id)));
        inputs.emplace(v.name, std::move(t));
    }
    const Result<NamedTensors> expected = interpret(*graph, inputs, weights);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    const Result<CompiledProgram> compiled = compile_graphs({*graph}, {});
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    ProgramMemory memory(compiled->program);
    const Result<NamedTensors> found =
        run_program(compiled->program, graph->name, compiled->graphs[0], inputs, memory);
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (const auto& [name, tensor] : *expected) {
        const HostTensor& got = found->at(name);
        ASSERT_EQ(got.shape(), tensor.shape());
        for (int64_t i = 0; i < tensor.element_count(); ++i)
            EXPECT_NEAR(got.get(i), tensor.get(i), 1e-5) << name << " at " << i;
    }
}

// A layer normalization over all of a tensor, as exporters spell it out: its mean is one number,
// which the kernel of the result computes again from the sum, and an output as well.
TEST(CompileImported, WhatAnInlinedOutputReadsIsStoredForItsOtherReaders) {
    Trace trace("normalize");
    const Tensor x = trace.input("x", {3, 4}), flat = reshape(x, {1, 12});
    const Tensor scale = reshape(trace.input("scale", {3, 4}), {1, 12});
    const Tensor mean = sum(flat, {1}, true) / 12;
    const Tensor variance = sum(flat * flat, {1}, true) / 12 - mean * mean;
    const Tensor deviation = sqrt(variance + 1e-5);
    trace.output("y", reshape((flat - mean) / deviation * scale, {3, 4}));
    trace.output("mean", mean);
    trace.output("inverse", reciprocal(deviation));
    expect_program_agrees(trace);
}

// Coordinates of the product mean nothing to the operators behind a reshape; they crashed the
// compiler where these have more axes.
TEST(CompileImported, AProductsEpilogueMayEndInAnotherShape) {
    Trace trace("reshaped");
    const Tensor a = trace.input("a", {16, 8}), b = trace.input("b", {8, 6});
    const Tensor product = matmul(a, b) + trace.input("bias", {6});
    const Tensor rows = reshape(product, {2, 8, 6});
    trace.output("y", relu(rows + trace.input("inner", {6})) * trace.input("outer", {2, 1, 1}));
    expect_program_agrees(trace);
}

TEST(CompileImported, AProductsEpilogueMayPassThroughAnotherShape) {
    Trace trace("there_and_back");
    const Tensor product = matmul(trace.input("a", {16, 8}), trace.input("b", {8, 6}));
    const Tensor rows = reshape(product, {1, 16, 6}) + trace.input("inner", {6});
    trace.output("y", reshape(rows, {16, 6}) * trace.input("column", {16, 1}));
    expect_program_agrees(trace);
}

}  // namespace
}  // namespace hearth
