// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Normalization, recurrent and attention layers: what they declare, keep and compute.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/interpreter/interpreter.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace hearth {
namespace {

HostTensor numbers(const Shape& shape, double scale = 1, int64_t seed = 0) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, scale * std::sin(1.7 * static_cast<double>(i) + 0.3 + static_cast<double>(seed)));
    return t;
}

/// The outputs of what `build` traces for inputs x0, x1, ...; params keep their first contents.
NamedTensors run(const std::vector<HostTensor>& inputs,
                 const std::function<void(Trace&, std::span<const Tensor>)>& build,
                 NamedTensors* weights = nullptr) {
    Trace trace("t");
    std::vector<Tensor> traced;
    NamedTensors contents;
    for (const HostTensor& t : inputs) {
        const std::string name = "x" + std::to_string(traced.size());
        traced.push_back(trace.input(name, t.shape(), t.dtype()));
        contents.emplace(name, t);
    }
    build(trace, traced);
    const auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors own;
    if (!graph.ok()) return {};
    const auto outputs = interpret(*graph, contents, weights != nullptr ? *weights : own, 1);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? *outputs : NamedTensors();
}

void expect_equal(const HostTensor& a, const HostTensor& b, double tolerance = 1e-5) {
    ASSERT_EQ(a.shape(), b.shape());
    for (int64_t i = 0; i < a.element_count(); ++i)
        ASSERT_NEAR(a.get(i), b.get(i), tolerance) << "element " << i;
}

TEST(BatchNormLayer, MovesItsStatesByMomentumAndUsesThemWhenItDoesNotTrain) {
    const HostTensor x = numbers({4, 2, 3}, 3);
    double mean = 0, squares = 0;
    for (int64_t n = 0; n < 4; ++n)
        for (int64_t i = 0; i < 3; ++i) {
            const double v = x.get((n * 2 + 1) * 3 + i);
            mean += v / 12;
            squares += v * v / 12;
        }
    const double variance = squares - mean * mean;
    NamedTensors weights;
    const auto build = [](bool training) {
        return [training](Trace& trace, std::span<const Tensor> in) {
            trace.output(
                "y", nn::batch_norm(trace, "bn", in[0], {.momentum = 0.25, .training = training}));
        };
    };
    const NamedTensors trained = run({x}, build(true), &weights);
    const double moved_mean = 0.25 * mean, moved_variance = 0.75 + 0.25 * variance * 12 / 11;
    EXPECT_NEAR(weights.at("bn.running_mean").get(1), moved_mean, 1e-5);
    EXPECT_NEAR(weights.at("bn.running_var").get(1), moved_variance, 1e-5);
    EXPECT_NEAR(trained.at("y").get(3), (x.get(3) - mean) / std::sqrt(variance + 1e-5), 1e-4);
    const NamedTensors used = run({x}, build(false), &weights);
    EXPECT_NEAR(used.at("y").get(3), (x.get(3) - moved_mean) / std::sqrt(moved_variance + 1e-5),
                1e-4);
}

TEST(BatchNormLayer, RefusesToTrainTwiceInOneTrace) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch, 3});
    nn::batch_norm(trace, "bn", nn::batch_norm(trace, "bn", x));
    EXPECT_EQ(trace.status().message(), "assign: 'bn.running_mean' is assigned twice");
}

TEST(RecurrentLayer, IsItsCellStepByStep) {
    const HostTensor x = numbers({2, 3, 4});
    const auto outputs = run({x}, [](Trace& trace, std::span<const Tensor> in) {
        const nn::RecurrentResult whole = nn::gru(trace, "gru", in[0], 5);
        const auto param = [&](const char* name, const Shape& shape) {
            return trace.param(name, shape, Init::uniform(-1 / std::sqrt(5.0), 1 / std::sqrt(5.0)));
        };
        Tensor h;
        for (int64_t t = 0; t < 3; ++t)
            h = gru_cell(squeeze(slice(in[0], 1, t, t + 1), {1}), h,
                         param("gru.weight_ih_l0", {15, 4}), param("gru.weight_hh_l0", {15, 5}),
                         param("gru.bias_ih_l0", {15}), param("gru.bias_hh_l0", {15}));
        trace.output("whole", whole.h);
        trace.output("steps", unsqueeze(h, {0}));
        trace.output("last", slice(whole.output, 1, 2, 3));
        EXPECT_EQ(trace.params().size(), 4u);
    });
    expect_equal(outputs.at("whole"), outputs.at("steps"));
    expect_equal(outputs.at("last").reshaped({1, 2, 5}), outputs.at("steps"));
}

TEST(RecurrentLayer, EndsEachSequenceAtItsLengthInBothDirections) {
    const HostTensor x = numbers({2, 4, 3});
    HostTensor lengths(DType::kI32, Shape{2});
    lengths.set_int(0, 4);
    lengths.set_int(1, 2);
    const auto outputs = run({x, lengths}, [](Trace& trace, std::span<const Tensor> in) {
        const nn::RecurrentOptions options{.layers = 2, .bidirectional = true};
        nn::RecurrentOptions cut = options;
        cut.lengths = in[1];
        const nn::RecurrentResult all = nn::lstm(trace, "lstm", in[0], 3, cut);
        const Tensor short_one = slice(slice(in[0], 0, 1, 2), 1, 0, 2);
        const nn::RecurrentResult alone = nn::lstm(trace, "lstm", short_one, 3, options);
        EXPECT_EQ(all.h.shape(), (Shape{4, 2, 3}));
        trace.output("h", slice(all.h, 1, 1, 2));
        trace.output("h alone", alone.h);
        trace.output("c", slice(all.c, 1, 1, 2));
        trace.output("c alone", alone.c);
        trace.output("behind", slice(slice(all.output, 0, 1, 2), 1, 2, 4));
    });
    expect_equal(outputs.at("h"), outputs.at("h alone"));
    expect_equal(outputs.at("c"), outputs.at("c alone"));
    for (int64_t i = 0; i < outputs.at("behind").element_count(); ++i)
        EXPECT_EQ(outputs.at("behind").get(i), 0);
}

TEST(RecurrentLayer, LearnsToRememberTheFirstElement) {
    Trace trace("learn");
    const Tensor x = trace.input("x", {8, 5, 1});
    const Tensor h = nn::gru(trace, "gru", x, 6, {.seed = 2}).h;
    const Tensor y = nn::linear(trace, "out", squeeze(h, {0}), 1, {.seed = 2});
    const Tensor loss = mse_loss(y, squeeze(slice(x, 1, 0, 1), {1}));
    minimize(loss, trace.params(), AdamOptions{.learning_rate = 0.03});
    trace.output("loss", loss);
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights;
    double first = 0, last = 0;
    for (int i = 0; i < 60; ++i) {
        const auto outputs = interpret(*graph, {{"x", numbers({8, 5, 1}, 1, i)}}, weights, 1);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        last = outputs->at("loss").get(0);
        if (i == 0) first = last;
    }
    EXPECT_LT(last, 0.1 * first);
}

TEST(AttentionLayer, SeesNoLaterElementWhereItIsCausal) {
    HostTensor x = numbers({1, 5, 8});
    const auto build = [](Trace& trace, std::span<const Tensor> in) {
        trace.output("y", nn::transformer_encoder(trace, "net", in[0], 2,
                                                  {.num_heads = 4,
                                                   .num_kv_heads = 2,
                                                   .dim_feedforward = 12,
                                                   .causal = true,
                                                   .rotary = true,
                                                   .norm_first = true,
                                                   .activation = gelu}));
    };
    const HostTensor before = run({x}, build).at("y");
    for (int64_t i = 3 * 8; i < 5 * 8; ++i) x.set(i, 7 - x.get(i));
    const HostTensor after = run({x}, build).at("y");
    double change = 0;
    for (int64_t i = 0; i < 5 * 8; ++i) {
        if (i < 3 * 8) {
            EXPECT_EQ(before.get(i), after.get(i)) << i;
        } else {
            change = std::max(change, std::abs(before.get(i) - after.get(i)));
        }
    }
    EXPECT_GT(change, 0.1);
}

TEST(AttentionLayer, OfADecoderHasGradientsForAllItsParams) {
    const Shape x{2, 3, 4}, memory{2, 5, 4};
    const auto graph_code = [](Trace& trace, std::span<const Tensor> in) -> std::vector<Tensor> {
        const auto as_double = [&](const Tensor& t) { return cast(t, DType::kF64); };
        return {
            nn::transformer_decoder_layer(trace, "layer", as_double(in[0]), as_double(in[1]),
                                          {.num_heads = 2, .dim_feedforward = 6, .causal = true})};
    };
    const std::vector<TensorType> types{{DType::kF32, x}, {DType::kF32, memory}};
    const std::vector<HostTensor> inputs{numbers(x), numbers(memory, 1, 3)};
    const Status status = gradcheck(graph_code, types, inputs);
    EXPECT_TRUE(status.ok()) << status.message();
    Trace trace("t");
    const Tensor y = nn::transformer_decoder_layer(
        trace, "layer", trace.input("x", x), trace.input("memory", memory),
        {.num_heads = 2, .dim_feedforward = 6, .causal = true});
    EXPECT_EQ(trace.params().size(), 18u);
    for (const Tensor& g : grad(sum(square(y)), trace.params())) EXPECT_TRUE(g.ok());
    EXPECT_TRUE(trace.status().ok()) << trace.status().message();
}

TEST(Attention, StoresNoScoresForwardOrBackward) {
    constexpr int64_t kLength = 512;
    Trace trace("t");
    const Tensor q = trace.input("q", {1, 2, kLength, 8}), k = trace.input("k", {1, 2, kLength, 8}),
                 v = trace.input("v", {1, 2, kLength, 8});
    const Tensor y = attention(q, k, v, {}, {.causal = true});
    trace.output("y", y);
    trace.output("dq", grad(sum(square(y)), q));
    trace.output("dk", grad(sum(square(y)), k));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto compiled = compile_graphs({*graph}, {});
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const uint64_t scores = uint64_t{2} * kLength * kLength * sizeof(float);
    EXPECT_LT(compiled->program.arena_bytes, scores / 8);
}

TEST(Einsum, NamesWhatDoesNotFit) {
    Trace trace("t");
    const Tensor x = trace.input("x", {2, 3});
    einsum("ij,jk->ik", {x, x});
    EXPECT_EQ(trace.status().message(),
              "einsum: one label has the extents 3 and 2 (inputs f32[2, 3], f32[2, 3])");
}

}  // namespace
}  // namespace hearth
