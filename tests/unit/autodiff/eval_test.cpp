// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/run_program.hpp"

#include <hearth/eval.hpp>
#include <hearth/operators.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace hearth::test {
namespace {

HostTensor vector_of(const std::vector<double>& values) {
    return HostTensor::of({static_cast<int64_t>(values.size())}, values);
}

TEST(Eval, ShowsAValueAndLetsTheTraceGoOn) {
    Trace trace("t");
    const Tensor x = trace.constant(vector_of({1, 2, 3}));
    const auto soft = eval(softmax(x));
    ASSERT_TRUE(soft.ok()) << soft.status().message();
    EXPECT_NEAR(soft->get(0), std::exp(-2) / (1 + std::exp(-1) + std::exp(-2)), 1e-7);
    const auto more = eval(sum(x) * 2.0);
    ASSERT_TRUE(more.ok());
    EXPECT_EQ(more->get(0), 12);
    EXPECT_TRUE(trace.status().ok());
}

TEST(Eval, TakesInputsRowsAndWeightsByNameButOnlyThoseThatMatter) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch});
    trace.input("other", {3});
    const Tensor w = trace.param("w", {1}, Init::constant(5));
    trace.assign(w, w + 1.0);
    const Tensor y = x * w;
    EvalOptions options{.inputs = {{"x", vector_of({1, 2})}}, .batch_size = 2};
    EXPECT_EQ(*eval(y, options), vector_of({5, 10}));
    EXPECT_EQ(*eval(y, options), vector_of({5, 10})) << "nothing is assigned";
    options.weights = {{"w", vector_of({-1})}};
    EXPECT_EQ(*eval(y, options), vector_of({-1, -2}));
    const std::vector<Tensor> several{y, x, y};
    EXPECT_EQ((*eval(several, options))[2], vector_of({-1, -2}));
}

TEST(Eval, PrintsAnyValueWhileTracing) {
    Trace trace("t");
    const Tensor x = trace.constant(HostTensor::of({2, 2}, std::vector<double>{1, 2, 3, 4.5}));
    EXPECT_EQ(to_string(x * 2.0), "f32[2, 2] = [[2, 4], [6, 9]]");
    EXPECT_EQ(to_string(sum(x)), "f32[] = 10.5");
    EXPECT_EQ(to_string(trace.param("w", {2}, Init::constant(3))), "w: f32[2] = [3, 3]");
    EXPECT_EQ(to_string(arange(trace, {20})), "i32[20] = [0, 1, 2, 3, ..., 16, 17, 18, 19]");
    const Tensor y = trace.input("y", {kBatch, 1}) + 1.0;
    EXPECT_EQ(to_string(y, {.inputs = {{"y", HostTensor::of({2, 1}, std::vector<double>{1, 2})}},
                            .batch_size = 2}),
              "f32[2, 1] = [[2], [3]]");
    EXPECT_NE(to_string(y).find("(random inputs: y)"), std::string::npos) << to_string(y);
    EXPECT_EQ(to_string(y), to_string(y));
    EXPECT_EQ(parameter_table(trace), "w  f32[2]  2\n1 params, 2 elements\n");
    EXPECT_TRUE(trace.status().ok());
    EXPECT_NE(to_string(matmul(x, trace.param("v", {3}))).find("matmul"), std::string::npos);
}

TEST(Operators, CompareElementsAndFillShapes) {
    Trace trace("t");
    const Tensor x = trace.constant(vector_of({-1, 0, 2}));
    const auto value = [&](const Tensor& y) { return *eval(y); };
    EXPECT_EQ(value(where(x > 0.0, x, zeros_like(x))), vector_of({0, 0, 2}));
    EXPECT_EQ(value(where(0.0 >= x, ones_like(x), x)), vector_of({1, 1, 2}));
    EXPECT_EQ(value(where(x <= -x, full_like(x, 7), x)), vector_of({7, 7, 2}));
    EXPECT_EQ(value(where(0.0 < x, x * 2.0, x)), vector_of({-1, 0, 4}));
    EXPECT_EQ(value(where(x < x * x, ones_like(x), zeros_like(x))), vector_of({1, 0, 1}));
    EXPECT_EQ(value(where(x >= 0.0, ones_like(x), zeros_like(x))), vector_of({0, 1, 1}));
    EXPECT_TRUE(trace.status().ok()) << trace.status().message();
}

TEST(Eval, RunsOnWhatItIsGiven) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch}), w = trace.param("w", {1}, Init::constant(5));
    int runs = 0;
    const EvalOptions options{
        .inputs = {{"x", vector_of({1, 2})}},
        .weights = {{"w", vector_of({3})}},
        .batch_size = 2,
        .backend = [&](Trace& entry, const NamedTensors& inputs,
                       int64_t rows) -> Result<NamedTensors> {
            ++runs;
            HEARTH_ASSIGN(Graph graph, entry.build());
            HEARTH_ASSIGN(const CompiledProgram compiled,
                          compile_graphs({std::move(graph)},
                                         {.max_batch_size = static_cast<uint64_t>(rows)}));
            ProgramMemory memory(compiled.program);
            return run_program(compiled.program, "eval", compiled.graphs[0], inputs, memory, rows);
        }};
    EXPECT_EQ(*eval(x * w, options), vector_of({3, 6}));
    EXPECT_EQ(runs, 1);
}

TEST(Eval, SaysWhatIsMissingOrWrong) {
    Trace trace("t");
    const Tensor x = trace.input("x", {3}), w = trace.param("w", {3});
    EXPECT_NE(eval(x * w).status().message().find("'x'"), std::string::npos);
    EXPECT_EQ(eval(w, {.weights = {{"w", vector_of({1})}}}).status().message(),
              "eval: 'w' is f32[3], the weight f32[1]");
    EXPECT_EQ(eval(Tensor()).status().message(),
              "eval: the tensor belongs to no trace; make it by operators on tensors of a Trace");
    matmul(x, trace.input("y", {4}));
    EXPECT_FALSE(eval(x).ok());
}

}  // namespace
}  // namespace hearth::test
