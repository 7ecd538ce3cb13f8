// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A compiled Program of two entries against the plain interpreter, and what run_program refuses.
// tests/ops/op_program_test.cpp does the same for every operator.

#include "compiler/interpreter/run_program.hpp"

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/gradcheck.hpp"
#include "ops/op_cases.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace hearth::test {
namespace {

CompiledProgram compiled(const std::vector<Graph>& graphs, const CompileOptions& options) {
    auto result = compile_graphs(graphs, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *std::move(result) : CompiledProgram();
}

Graph graph_of(const char* name, const std::function<void(Trace&)>& build) {
    Trace trace(name);
    build(trace);
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.ok() ? *graph : Graph();
}

HostTensor counting(const Shape& shape, double scale) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, scale * static_cast<double>((i * 7 + 3) % 11 - 5));
    return t;
}

Tensor net(Trace& trace, const Tensor& x) {
    return nn::mlp(trace, "net", x, {16, 16, 3}, relu, {.seed = 1});
}

Graph learn_graph() {
    return graph_of("learn", [](Trace& t) {
        const Tensor loss = mse_loss(net(t, t.input("x", {kBatch, 5})), t.input("t", {kBatch, 3}));
        minimize(loss, t.params(), AdamOptions{.learning_rate = 0.01});
        t.output("loss", loss);
    });
}

Graph act_graph() {
    return graph_of("act", [](Trace& t) {
        t.output("y", tanh(net(t, t.input("x", {kBatch, 5}))));
    });
}

class RunProgram : public testing::TestWithParam<bool> {};  // fused or not

TEST_P(RunProgram, TrainsToTheInterpretersBits) {
    const std::vector<Graph> graphs{learn_graph(), act_graph()};
    const CompiledProgram both =
        compiled(graphs, {.max_batch_size = 8, .fuse = GetParam(), .keep_source = false});
    ASSERT_EQ(both.graphs.size(), 2u);
    ProgramMemory memory(both.program);
    NamedTensors weights;
    for (const int64_t rows : {8, 3, 1, 8, 5}) {
        const NamedTensors inputs{{"x", counting({rows, 5}, 0.25)},
                                  {"t", counting({rows, 3}, 0.5)}};
        const auto expected = interpret(graphs[0], inputs, weights, rows);
        const auto found = run_program(both.program, "learn", both.graphs[0], inputs, memory, rows);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        ASSERT_TRUE(found.ok()) << found.status().message();
        EXPECT_EQ(difference(found->at("loss"), expected->at("loss"), 1e-6), "");
        // The other entry sees the new weights.
        const NamedTensors seen{{"x", counting({rows, 5}, 0.25)}};
        const auto acted = run_program(both.program, "act", both.graphs[1], seen, memory, rows);
        const auto should = interpret(graphs[1], seen, weights, rows);
        ASSERT_TRUE(acted.ok()) << acted.status().message();
        ASSERT_TRUE(should.ok()) << should.status().message();
        EXPECT_EQ(difference(acted->at("y"), should->at("y"), 1e-5), "");
    }
    for (const auto& [name, expected] : weights) {
        const Variable* slot = both.program.find_variable(name);
        ASSERT_NE(slot, nullptr) << name;
        EXPECT_EQ(difference(memory.read(*slot), expected, 1e-5), "") << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, RunProgram, testing::Bool(), [](const auto& fused) {
    return fused.param ? "Fused" : "OneKernelForEachOperator";
});

TEST(RunProgramError, ErrorsNameWhatIsMissing) {
    const CompiledProgram act = compiled({act_graph()}, {.max_batch_size = 4});
    ASSERT_EQ(act.graphs.size(), 1u);
    ProgramMemory memory(act.program);
    const auto run = [&](std::string_view entry, const NamedTensors& inputs, int64_t rows) {
        return run_program(act.program, entry, act.graphs[0], inputs, memory, rows)
            .status()
            .message();
    };
    EXPECT_EQ(run("nothing", {}, 1), "entry 'nothing'");
    EXPECT_EQ(run("act", {}, 1), "input 'x' is missing");
    EXPECT_EQ(run("act", {}, 5), "5 rows, the program's capacity is 4");
    EXPECT_EQ(run("act", {}, -1), "-1 rows, the program's capacity is 4");
    EXPECT_EQ(run("act", {{"x", HostTensor(DType::kF32, {0, 5})}}, 0), "");
    EXPECT_EQ(run("act", {{"x", HostTensor(DType::kF32, {4, 5})}}, 4), "");
    EXPECT_EQ(run("act", {{"x", HostTensor(DType::kI32, {2, 5})}}, 2),
              "input 'x' must be f32[2, 5], found i32[2, 5]");
    EXPECT_EQ(run("act", {{"x", HostTensor(DType::kF32, {2, 4})}}, 2),
              "input 'x' must be f32[2, 5], found f32[2, 4]");
}

// What the comparison is for: values that wrongly share bytes give other numbers.
TEST(RunProgramError, ValuesThatOverlapInTheArenaShow) {
    CompiledProgram learn = compiled({learn_graph()}, {.max_batch_size = 4});
    const NamedTensors inputs{{"x", counting({4, 5}, 0.25)}, {"t", counting({4, 3}, 0.5)}};
    const auto loss_after_a_step = [&] {
        ProgramMemory memory(learn.program);
        for (int i = 0; i < 2; ++i) {
            const auto result =
                run_program(learn.program, "learn", learn.graphs[0], inputs, memory, 4);
            EXPECT_TRUE(result.ok()) << result.status().message();
            if (i == 1 && result.ok()) return result->at("loss").get(0);
        }
        return 0.0;
    };
    const double right = loss_after_a_step();
    uint32_t moved = 0;
    for (Operand& operand : learn.program.operands) {
        if (operand.region != Region::kArena) continue;
        operand.offset = learn.program.entries[0].arena_offset;
        ++moved;
    }
    ASSERT_GT(moved, 2u);
    const double wrong = loss_after_a_step();
    EXPECT_FALSE(std::abs(wrong - right) < 1e-4) << wrong << " and " << right;
}

// A step whose operand leaves its region is refused, not run.
TEST(RunProgramError, OperandsOutOfBoundsAreErrors) {
    CompiledProgram act = compiled({act_graph()}, {.max_batch_size = 4});
    ASSERT_FALSE(act.program.operands.empty());
    ProgramMemory memory(act.program);
    for (Operand& operand : act.program.operands)
        if (operand.region == Region::kWeights) operand.offset = act.program.weights_bytes;
    const auto result = run_program(act.program, "act", act.graphs[0],
                                    {{"x", HostTensor(DType::kF32, {1, 5})}}, memory, 1);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.status().message().find("leaves its region"), std::string::npos)
        << result.status().message();
}

/// What running `act` says after this damage to its first kernel, or to one of its operands.
template <class Damage>
std::string after(const Damage& damage) {
    CompiledProgram act = compiled({act_graph()}, {.max_batch_size = 4});
    ProgramMemory memory(act.program);
    for (Command& step : act.program.commands)
        if (step.kind == CommandKind::kDispatch) {
            damage(act, step);
            break;
        }
    return run_program(act.program, "act", act.graphs[0], {{"x", HostTensor(DType::kF32, {2, 5})}},
                       memory, 2)
        .status()
        .message();
}

/// Changes the first operand of the step with this access.
template <class Change>
auto operand(Access access, const Change& change) {
    return [=](CompiledProgram& act, Command& step) {
        const auto operands = act.program.operands_of(step);
        for (size_t i = 0; i < operands.size(); ++i)
            if (operands[i].access == access) {
                const auto at = static_cast<size_t>(&operands[i] - act.program.operands.data());
                change(act.program.operands[at], step.operand_values[i], act.graphs[0]);
                return;
            }
        ADD_FAILURE() << "no such operand";
    };
}

// The reference must not compute what the program does not say: a step that does not fit its graph
// is an error.
TEST(RunProgramError, StepsThatDoNotFitTheirGraphAreErrors) {
    const auto expect = [](const std::string& text, const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    const char* const leaves = "leaves its region";
    const char* const unlike = "does not fit its operand";
    EXPECT_EQ(after([](CompiledProgram&, Command&) {}), "");
    expect(after(operand(Access::kRead,
                         [](Operand& o, ValueId&, const Graph&) {
                             o.region = Region::kExternal;
                             o.binding = 99;
                         })),
           leaves);
    for (const uint64_t beyond : {uint64_t{1} << 20, UINT64_MAX - 3})
        expect(after(operand(Access::kRead,
                             [=](Operand& o, ValueId&, const Graph&) { o.offset = beyond; })),
               leaves);
    for (const Access access : {Access::kRead, Access::kWrite})
        expect(after(operand(access,
                             [](Operand& o, ValueId&, const Graph&) {
                                 o.bytes = Extent{4, 0};
                             })),
               unlike);
    expect(after(operand(Access::kRead,
                         [](Operand&, ValueId& v, const Graph& g) {
                             v = static_cast<ValueId>(g.values.size());
                         })),
           "name values that its graph lacks");
    expect(after([](CompiledProgram&, Command& step) { step.computes.clear(); }),
           "which it does not compute");
    expect(after([](CompiledProgram& act, Command& step) {
               step.computes = {act.graphs[0].inputs[0]};
           }),
           "which no operator does");
    expect(after([](CompiledProgram&, Command& step) {
               std::reverse(step.computes.begin(), step.computes.end());
           }),
           "which no operand holds and which is not computed before");
    expect(after([](CompiledProgram&, Command& step) { step.kind = CommandKind::kCopy; }),
           "a copy between unequal sizes");
}

TEST(Gradcheck, FindsAGradientThatIsNotTheSlope) {
    const std::vector<TensorType> types{{DType::kF32, {2}}};
    const std::vector<HostTensor> x{HostTensor::of({2}, std::vector<double>{3, -1})};
    const auto check = [&](const auto& f, double tolerance) {
        return gradcheck([&](Trace&, std::span<const Tensor> in) { return std::vector{f(in[0])}; },
                         types, x, {.tolerance = tolerance});
    };
    EXPECT_TRUE(check([](const Tensor& t) { return square(t); }, 1e-6).ok());
    // Equal is near enough, however small the bound.
    EXPECT_TRUE(check([](const Tensor& t) { return t * 0.0; }, 0).ok());
    const Status wrong = check([](const Tensor& t) { return t * stop_gradient(t); }, 1e-6);
    EXPECT_TRUE(wrong.message().starts_with("input 0 element 0: gradient ")) << wrong.message();
}

}  // namespace
}  // namespace hearth::test
