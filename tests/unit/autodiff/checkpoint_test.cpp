// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Computing again instead of keeping: the same bits from less memory.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

constexpr int64_t kBatchSize = 96;

Tensor block(Trace& trace, std::string_view name, const Tensor& x) {
    Tensor y = x;
    for (size_t i = 0; i < 3; ++i) y = sigmoid(nn::linear(trace, nn::join_name(name, i), y, 32));
    return y;
}

/// A net of eight blocks that learns; `wrap` may make something else of each block.
Graph learner(const std::function<nn::Layer()>& make_block) {
    Trace trace("learn");
    const Tensor x = trace.input("x", {kBatch, 32}), t = trace.input("t", {kBatch, 32});
    const nn::Layer layer = make_block();
    Tensor y = x;
    for (size_t i = 0; i < 8; ++i) y = layer(trace, nn::join_name("net", i), y);
    const Tensor loss = mse_loss(y, t);
    minimize(loss, trace.params(), SgdOptions{.learning_rate = 0.5});
    trace.output("loss", loss);
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return std::move(graph).value();
}

CompiledProgram compiled(Graph graph, uint64_t budget_bytes = 0) {
    // Fused networks would keep so small a net in no memory at all.
    const CompileOptions options{.max_batch_size = kBatchSize,
                                 .arena_budget_bytes = budget_bytes,
                                 .fuse_mlp = FuseMlp::kNever};
    auto result = compile_graphs({std::move(graph)}, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return std::move(result).value();
}

NamedTensors batch() {
    return {{"x", Init::normal(0, 1).make("x", DType::kF32, {kBatchSize, 32})},
            {"t", Init::uniform(0, 1).make("t", DType::kF32, {kBatchSize, 32})}};
}

/// Losses and weights of three steps.
std::pair<std::vector<double>, NamedTensors> trained(const CompiledProgram& program) {
    ProgramMemory memory(program.program);
    std::vector<double> losses;
    for (int step = 0; step < 3; ++step) {
        const auto outputs =
            run_program(program.program, "learn", program.graphs[0], batch(), memory, kBatchSize);
        EXPECT_TRUE(outputs.ok()) << outputs.status().message();
        if (outputs.ok()) losses.push_back(outputs->at("loss").get(0));
    }
    NamedTensors weights;
    for (const Variable& slot : program.program.variables)
        if (!slot.name.empty()) weights.emplace(slot.name, memory.read(slot));
    return {losses, weights};
}

TEST(Checkpoint, GivesTheSameBitsFromLessMemory) {
    const CompiledProgram kept = compiled(learner([] { return nn::Layer(block); }));
    const CompiledProgram again = compiled(learner([] { return nn::Layer(checkpoint(block)); }));
    EXPECT_EQ(trained(kept), trained(again));
    // 8 blocks of 3 activations: kept are 24, or 8 and those of one block.
    EXPECT_LT(again.program.arena_bytes, kept.program.arena_bytes * 6 / 10)
        << kept.program.arena_bytes << " bytes are kept";
}

TEST(Checkpoint, NestsAsOnePart) {
    const auto twice = [](Trace& trace, std::string_view name, const Tensor& x) {
        const auto inner = checkpoint(block);
        return inner(trace, nn::join_name(name, "b"), inner(trace, nn::join_name(name, "a"), x));
    };
    const CompiledProgram plain = compiled(learner([&] {
        return nn::Layer([](Trace& trace, std::string_view name, const Tensor& x) {
            return block(trace, nn::join_name(name, "b"),
                         block(trace, nn::join_name(name, "a"), x));
        });
    }));
    const CompiledProgram nested = compiled(learner([&] { return nn::Layer(checkpoint(twice)); }));
    EXPECT_EQ(trained(plain), trained(nested));
    EXPECT_LT(nested.program.arena_bytes, plain.program.arena_bytes * 6 / 10);
}

TEST(Checkpoint, KeepsFirstAndSecondGradientsRight) {
    const auto f = checkpoint([](const Tensor& x, const Tensor& w) {
        return std::vector<Tensor>{tanh(matmul(x, w)), exp(x) * x};
    });
    const TracedFunction values = [&](Trace&, std::span<const Tensor> in) {
        return f(in[0], in[1]);
    };
    const TracedFunction gradients = [&](Trace&, std::span<const Tensor> in) {
        const std::vector<Tensor> y = f(in[0], in[1]);
        return grad(sum(square(y[0])) + sum(y[1] * y[1]), in);
    };
    const std::vector<TensorType> types{{DType::kF64, {3, 4}}, {DType::kF64, {4, 2}}};
    const std::vector<HostTensor> inputs{Init::normal(0, 1).make("x", DType::kF64, {3, 4}),
                                         Init::normal(0, 1).make("w", DType::kF64, {4, 2})};
    for (const TracedFunction& function : {values, gradients}) {
        const Status status = gradcheck(function, types, inputs, {.tolerance = 1e-5});
        EXPECT_TRUE(status.ok()) << status.message();
    }
}

TEST(Checkpoint, WithoutGradientIsNotThere) {
    Trace plain("t"), marked("t");
    plain.output("y", exp(plain.input("x", {3}) * 2.0));
    marked.output("y",
                  checkpoint([](const Tensor& x) { return exp(x * 2.0); })(marked.input("x", {3})));
    EXPECT_EQ(compiled(*plain.build()).program.hash, compiled(*marked.build()).program.hash);
}

TEST(Checkpoint, DrawsTheSameNumbersAgain) {
    const auto noisy = [](Trace& trace, std::string_view name, const Tensor& x) {
        return nn::dropout(trace, name, sigmoid(nn::linear(trace, name, x, 32)), 0.4);
    };
    const CompiledProgram kept = compiled(learner([&] { return nn::Layer(noisy); }));
    const CompiledProgram again = compiled(learner([&] { return nn::Layer(checkpoint(noisy)); }));
    EXPECT_EQ(trained(kept), trained(again));
}

TEST(Budget, IsKeptWithTheSameBits) {
    const Graph graph = learner([] { return nn::Layer(block); });
    const CompiledProgram free = compiled(graph);
    const auto expected = trained(free);
    for (const double part : {0.9, 0.7, 0.5, 0.4}) {
        const auto budget =
            static_cast<uint64_t>(part * static_cast<double>(free.program.arena_bytes));
        const CompiledProgram tight = compiled(graph, budget);
        EXPECT_LE(tight.program.arena_bytes, budget);
        EXPECT_EQ(trained(tight), expected) << part;
    }
}

TEST(Budget, OfEnoughChangesNothing) {
    const Graph graph = learner([] { return nn::Layer(block); });
    const CompiledProgram free = compiled(graph);
    const CompiledProgram wide = compiled(graph, free.program.arena_bytes);
    EXPECT_EQ(free.program.hash, wide.program.hash);
}

// Of each workgroup a fused network keeps a part of all gradients, which no recomputation frees.
TEST(Budget, IsKeptByFewerPartsOfGradients) {
    const auto learner = [] {
        Trace trace("learn");
        const Tensor y = nn::mlp(trace, "net", trace.input("x", {kBatch, 64}), {64, 64, 64}, relu);
        const Tensor loss = mse_loss(y, trace.input("t", {kBatch, 64}));
        const std::vector<Tensor> params = trace.params();
        sgd(params, clip_by_global_norm(grad(loss, params), 100), {.learning_rate = 0.5});
        trace.output("loss", loss);
        return trace.build().value();
    };
    CompileOptions options{.max_batch_size = 256, .fuse_mlp = FuseMlp::kAlways};
    options.caps.name = "NVIDIA H200";
    const auto free = compile_graphs({learner()}, options);
    ASSERT_TRUE(free.ok()) << free.status().message();
    constexpr uint64_t kGradients = 3 * 4 * (64 * 64 + 64);
    EXPECT_GT(free->program.arena_bytes, 16 * kGradients);
    NamedTensors inputs;
    for (const char* name : {"x", "t"})
        inputs.emplace(name, Init::uniform(0, 1).make(name, DType::kF32, {256, 64}));
    const auto losses_of = [&](const CompiledProgram& program) {
        ProgramMemory memory(program.program);
        std::vector<double> losses;
        for (int step = 0; step < 2; ++step)
            losses.push_back(
                run_program(program.program, "learn", program.graphs[0], inputs, memory, 256)
                    .value()
                    .at("loss")
                    .get(0));
        return losses;
    };
    const std::vector<double> expected = losses_of(*free);
    for (const uint64_t gradients : {10, 5, 3}) {
        options.arena_budget_bytes = gradients * kGradients;
        const auto tight = compile_graphs({learner()}, options);
        ASSERT_TRUE(tight.ok()) << tight.status().message();
        EXPECT_LE(tight->program.arena_bytes, options.arena_budget_bytes);
        const std::vector<double> found = losses_of(*tight);
        for (size_t i = 0; i < expected.size(); ++i)
            EXPECT_NEAR(found[i], expected[i], 1e-6) << "sums in another order";
    }
}

TEST(Budget, ThatCannotBeKeptIsAnErrorWithTheLeastThatCan) {
    const auto result = compile_graphs(
        {learner([] { return nn::Layer(block); })},
        {.max_batch_size = kBatchSize, .arena_budget_bytes = 1000, .fuse_mlp = FuseMlp::kNever});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), StatusCode::kOutOfRange);
    EXPECT_NE(result.status().message().find("arena_budget_bytes, which is 1000"),
              std::string::npos);
}

// Two learners with losses of their own share an encoder: gradients are values, so each can use
// its own, and nothing of one is left in the other.
TEST(Learners, ShareANetworkWithoutSharingGradients) {
    struct Learner {
        Trace trace;
        explicit Learner(const char* name) : trace(name) {}
        Tensor loss(const char* head, double target) {
            const Tensor code =
                tanh(nn::linear(trace, "encoder", trace.input("x", {kBatch, 4}), 5));
            return mean(square(nn::linear(trace, head, code, 2) - target));
        }
    };
    const auto step = [](const Graph& graph, NamedTensors& weights) {
        const NamedTensors inputs{{"x", Init::normal(0, 1).make("x", DType::kF32, {6, 4})}};
        const auto outputs = interpret(graph, inputs, weights, 6);
        EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    };
    Learner actor("actor"), critic("critic"), both("both");
    const SgdOptions options{.learning_rate = 0.1};
    const Tensor policy_loss = actor.loss("policy", 1), value_loss = critic.loss("value", -1);
    minimize(policy_loss, actor.trace.params(), options);
    // The critic trains its head alone.
    minimize(value_loss, nn::parameters_with_prefix(critic.trace, {"value"}), options);
    const Graph actor_graph = *actor.trace.build(), critic_graph = *critic.trace.build();

    NamedTensors alone = initial_weights(actor_graph), together = alone;
    step(actor_graph, alone);
    step(actor_graph, alone);
    step(actor_graph, together);
    step(critic_graph, together);
    step(actor_graph, together);
    for (const auto& [name, value] : alone) EXPECT_EQ(together.at(name), value) << name;

    // In one trace, the sum of two learners' gradients is the gradient of the sum.
    const Tensor x = both.trace.input("x", {kBatch, 4});
    const Tensor code = tanh(nn::linear(both.trace, "encoder", x, 5));
    const Tensor a = mean(square(nn::linear(both.trace, "policy", code, 2) - 1.0));
    const Tensor b = mean(square(nn::linear(both.trace, "value", code, 2) + 1.0));
    const std::vector<Tensor> shared = nn::parameters_with_prefix(both.trace, {"encoder"});
    const auto ga = grad(a, shared), gb = grad(b, shared), sums = grad(a + b, shared);
    both.trace.output("difference", sum(abs(ga[0] + gb[0] - sums[0])));
    both.trace.output("size", sum(abs(ga[0])) * sum(abs(gb[0])));
    NamedTensors weights;
    const auto outputs =
        interpret(*both.trace.build(), {{"x", Init::normal(0, 1).make("x", DType::kF32, {6, 4})}},
                  weights, 6);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_LT(outputs->at("difference").get(0), 1e-6);
    EXPECT_GT(outputs->at("size").get(0), 1e-3);
}

}  // namespace
}  // namespace hearth::test
