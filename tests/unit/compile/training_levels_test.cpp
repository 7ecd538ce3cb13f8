// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How many dispatches of a training step wait for each other: three for whatever fits a row
// program, whatever the network, the loss and the optimizer.

#include "compiler/driver/compile.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::test {
namespace {

std::vector<Tensor> clipped(const Tensor& loss) {
    return clip_by_global_norm(grad(loss, loss.trace()->params()), 0.5);
}

Tensor regression(Trace& t, const std::vector<int64_t>& widths,
                  Tensor (*activation)(const Tensor&)) {
    const int64_t results = widths.back();
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 8}), widths, activation);
    return mse_loss(y, t.input("target", {kBatch, results}));
}

void plain(Trace& t) {
    const Tensor loss = regression(t, {64, 64, 3}, relu);
    minimize(loss, t.params(), AdamOptions{});
}

void narrow(Trace& t) {
    const Tensor loss = regression(t, {8}, silu);
    adam(t.params(), clipped(loss), {});
}

void four_hidden_layers(Trace& t) {
    const Tensor loss = regression(t, {64, 64, 64, 64, 4}, gelu);
    adam(t.params(), clipped(loss), {});
}

void eight_layers(Trace& t) {
    const Tensor loss = regression(t, {32, 32, 32, 32, 32, 32, 32, 2}, tanh);
    adam(t.params(), clipped(loss), {.weight_decay = 0.01});
}

void wide(Trace& t) {
    const Tensor loss = regression(t, {256, 5}, relu);
    sgd(t.params(), clipped(loss), {.momentum = 0.9});
}

/// normalized: advantages are brought to mean 0 and deviation 1 within the batch.
void ppo(Trace& t, bool normalized) {
    const Tensor x = t.input("x", {kBatch, 8}), action = t.input("action", {kBatch, 2});
    Tensor advantage = t.input("advantage", {kBatch});
    if (normalized) {
        const Tensor centered = advantage - mean(advantage);
        advantage = centered / (sqrt(mean(square(centered))) + 1e-8);
    }
    const Tensor policy = nn::mlp(t, "actor", x, {64, 64, 2}, tanh);
    const Tensor log_deviation = t.param("log_deviation", {2}, Init::zeros());
    const Tensor value = nn::mlp(t, "critic", x, {64, 64, 1}, tanh);
    const Tensor log_p = normal_log_prob(action, policy, log_deviation);
    const Tensor surrogate =
        ppo_clip_loss(log_p, t.input("old_log_probability", {kBatch}), advantage);
    const Tensor value_loss = mse_loss(reshape(value, {kBatch}), t.input("returns", {kBatch}));
    const Tensor loss = surrogate + value_loss * 0.5 - normal_entropy(log_deviation) * 0.01;
    adam(t.params(), clipped(loss), {});
    t.output("loss", loss);
    t.output("value loss", value_loss);
}
void ppo_as_is(Trace& t) {
    ppo(t, false);
}
void ppo_normalized(Trace& t) {
    ppo(t, true);
}

/// Three heads on one body, and a loss of the user's own that weighs rows by what they predict.
void heads(Trace& t) {
    const Tensor body = nn::mlp(t, "body", t.input("x", {kBatch, 12}), {48, 48}, gelu);
    const Tensor classes = nn::mlp(t, "classes", body, {24, 5}, relu);
    const Tensor steer = nn::mlp(t, "steer", body, {2}, tanh);
    const Tensor doubt = nn::mlp(t, "doubt", body, {1}, tanh);
    const Tensor error = sum(square(steer - t.input("target", {kBatch, 2})), {-1}, true);
    const Tensor weighed = error * exp(neg(doubt)) + doubt;
    const Tensor loss = mean(log(cosh(weighed))) +
                        cross_entropy(classes, t.input("labels", {kBatch}, DType::kI32)) * 0.3;
    adam(t.params(), clipped(loss), {});
    t.output("loss", loss);
}

void scaled(Trace& t) {
    const Tensor loss = regression(t, {64, 64, 3}, relu);
    GradScaler scale(t);
    const std::vector<Tensor> params = t.params();
    adam(params, clip_by_global_norm(scale.grad(loss, params), 1), {});
    (void)scale.update();
}

struct LevelsCase {
    const char* name;
    void (*build)(Trace&);
    uint64_t rows = 128;
};

void PrintTo(const LevelsCase& c, std::ostream* out) {
    *out << c.name;
}

constexpr LevelsCase kCases[] = {
    {"Plain", plain},
    {"OfOneRow", plain, 1},
    {"OfManyRows", plain, 8192},
    {"Narrow", narrow},
    {"FourHiddenLayers", four_hidden_layers},
    {"EightLayers", eight_layers},
    {"Wide", wide},
    {"Ppo", ppo_as_is},
    {"PpoWithNormalizedAdvantages", ppo_normalized},
    {"Heads", heads},
    {"GradScaler", scaled},
};

CompiledProgram compile_step(const LevelsCase& step, uint32_t shared_memory_bytes) {
    Trace trace("learn");
    step.build(trace);
    CompileOptions options;
    options.caps.name = "NVIDIA H200";  // where long kernels are not split
    options.caps.max_compute_shared_memory_size = shared_memory_bytes;
    options.max_batch_size = step.rows;
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    std::vector<Graph> graphs;
    graphs.push_back(std::move(graph).value());
    auto compiled = compile_graphs(std::move(graphs), options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return std::move(compiled).value();
}

class TrainingStep : public testing::TestWithParam<LevelsCase> {
  protected:
    static CompiledProgram compile_for(uint32_t shared_memory_bytes) {
        return compile_step(GetParam(), shared_memory_bytes);
    }

    static int count(const Program& program, CommandKind kind) {
        return static_cast<int>(
            std::count_if(program.commands.begin(), program.commands.end(),
                          [&](const Command& step) { return step.kind == kind; }));
    }

    /// Dispatches, less the copies that wait for nothing.
    static int count_computing(const Program& program) {
        return static_cast<int>(std::count_if(
            program.commands.begin(), program.commands.end(), [&](const Command& step) {
                return step.kind == CommandKind::kDispatch && !step.computes.empty();
            }));
    }
};

TEST_P(TrainingStep, HasThreeLevelsAtMost) {
    for (const uint32_t shared : {32768u, 49152u}) {
        const CompiledProgram compiled = compile_for(shared);
        EXPECT_TRUE(compiled.remarks.empty()) << compiled.remarks[0];
        EXPECT_GE(count(compiled.program, CommandKind::kBarrier), 1);
        EXPECT_LE(count(compiled.program, CommandKind::kBarrier), 2) << dump(compiled.program);
        EXPECT_LE(count_computing(compiled.program), 3) << dump(compiled.program);
    }
}

TEST(TrainingLevels, AreListedWhereTheyAreMore) {
    const auto large = [](Trace& t) {
        const Tensor loss = regression(t, {256, 256, 256, 4}, relu);
        adam(t.params(), clipped(loss), {});
    };
    const CompiledProgram compiled = compile_step({"Large", large}, 49152);
    ASSERT_EQ(compiled.remarks.size(), 1u);
    EXPECT_NE(compiled.remarks[0].find("4 dependent dispatches, not 3: fused network, then"),
              std::string::npos)
        << compiled.remarks[0];
}

/// Four residual blocks, x + W2 f(W1 x), with hidden layers four times as wide.
template <Tensor (*kActivation)(const Tensor&)>
Tensor residual_blocks(Trace& t) {
    Tensor x = nn::linear(t, "in", t.input("x", {kBatch, 16}), 64);
    for (int i = 0; i < 4; ++i) {
        const std::string name = "block" + std::to_string(i);
        const Tensor hidden = kActivation(nn::linear(t, name + ".1", x, 256));
        x = x + nn::linear(t, name + ".2", hidden, 64);
    }
    return mse_loss(nn::linear(t, "out", x, 4), t.input("target", {kBatch, 4}));
}
template <Tensor (*kActivation)(const Tensor&)>
void unclipped_blocks(Trace& t) {
    const Tensor loss = residual_blocks<kActivation>(t);
    minimize(loss, t.params(), AdamOptions{});
}
template <Tensor (*kActivation)(const Tensor&)>
void clipped_blocks(Trace& t) {
    const Tensor loss = residual_blocks<kActivation>(t);
    adam(t.params(), clipped(loss), {});
}

// Weight gradients are products of their own here, so that the fused network keeps only what its
// activations' gradients read.
TEST(TrainingLevels, AreTheSameForActivationsThatKeepMore) {
    const LevelsCase cases[] = {{"Relu", unclipped_blocks<relu>},
                                {"Gelu", unclipped_blocks<gelu>},
                                {"Silu", unclipped_blocks<silu>},
                                {"Tanh", unclipped_blocks<tanh>}};
    for (const uint32_t shared : {16384u, 32768u}) {
        std::vector<std::pair<int64_t, int64_t>> counts;
        for (const LevelsCase& step : cases) {
            const CompiledProgram compiled = compile_step(step, shared);
            const auto count = [&](CommandKind kind) {
                return std::ranges::count(compiled.program.commands, kind, &Command::kind);
            };
            counts.push_back({count(CommandKind::kDispatch), count(CommandKind::kBarrier)});
            EXPECT_EQ(counts.back(), counts.front()) << step.name;
            EXPECT_TRUE(compiled.remarks.empty()) << compiled.remarks[0];
        }
        EXPECT_LE(counts.front().first, 14) << shared;
        EXPECT_LE(counts.front().second, 2) << shared;
    }
}

// Gradients of gelu and silu read what they were given, beside what they gave, which takes twice
// the shared memory of a fused network that adds up parts of all gradients.
TEST(TrainingLevels, AreNoCliffForActivationsThatKeepMore) {
    const LevelsCase cases[] = {{"Relu", clipped_blocks<relu>},
                                {"Gelu", clipped_blocks<gelu>},
                                {"Silu", clipped_blocks<silu>},
                                {"Tanh", clipped_blocks<tanh>}};
    for (const uint32_t shared : {16384u, 32768u}) {
        std::vector<int64_t> dispatches;
        for (const LevelsCase& step : cases) {
            const CompiledProgram compiled = compile_step(step, shared);
            dispatches.push_back(std::ranges::count(compiled.program.commands,
                                                    CommandKind::kDispatch, &Command::kind));
            EXPECT_LE(dispatches.back(), dispatches.front() + 2) << step.name;
            if (dispatches.back() == dispatches.front()) continue;
            const std::string_view reason =
                "nodes is 2 fused networks, not one: the activations of 1 row and 8 lines of each "
                "layer's weights do not fit 16384 bytes of shared memory";
            EXPECT_TRUE(std::ranges::any_of(compiled.remarks, [&](const std::string& remark) {
                return remark.find(reason) != std::string::npos;
            })) << step.name;
        }
        EXPECT_LE(dispatches.front(), 6) << shared;
    }
}

INSTANTIATE_TEST_SUITE_P(Nets, TrainingStep, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
