// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning with products of f16: what the loss scale does to steps, to weights and to itself, in
// the interpreter and on a device.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/regression.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearth::test {
namespace {

constexpr int64_t kBatchSize = 32;

using Rule = void (*)(std::span<const Tensor> params, std::span<const Tensor> gradients);

struct Settings {
    Precision precision = Precision::kF16;
    bool is_scaled = true;
    GradScalerOptions scale = {};
    Rule rule = [](std::span<const Tensor> params, std::span<const Tensor> gradients) {
        adam(params, gradients, {.learning_rate = 3e-3});
    };
    double loss_factor = 1;  ///< for gradients of another magnitude
};

/// A 2-16-16-2 network that is fitted to the points.
Result<Graph> learning_graph(const Settings& settings) {
    Trace trace("learn");
    GradScaler scale(trace, settings.scale);
    const Tensor x = trace.input("x", {kBatch, 2}), y = trace.input("y", {kBatch, 2});
    const Tensor loss = mse_loss(nn::mlp(trace, "net", x, {16, 16, 2}, tanh, {.seed = 7}), y) *
                        settings.loss_factor;
    const std::vector<Tensor> params = trace.params();
    settings.rule(params, settings.is_scaled ? scale.grad(loss, params) : grad(loss, params));
    trace.output("loss", loss);
    if (settings.is_scaled) trace.output("taken", scale.update());
    return trace.build();
}

/// The network in the interpreter or, with a device, there.
class Learner {
  public:
    Learner(const Settings& settings, standalone::Device* device) {
        CompileOptions options;
        options.max_batch_size = kBatchSize;
        options.precision = settings.precision;
        if (device != nullptr) options.caps = device->caps().value();
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        auto graph = learning_graph(settings);
        EXPECT_TRUE(graph.ok()) << graph.status().message();
        auto compiled = compile_graphs({std::move(graph).value()}, options);
        EXPECT_TRUE(compiled.ok()) << compiled.status().message();
        graph_ = compiled->graphs[0];
        weights_ = initial_weights(graph_);
        if (device == nullptr) return;
        auto runner = standalone::ProgramRunner::create(*device, save_program(compiled->program));
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        runner_ = std::move(runner).value();
    }

    NamedTensors run(int step) {
        auto outputs =
            runner_ ? runner_->run("learn", kBatchSize, regression_batch(step, kBatchSize))
                    : interpret(graph_, regression_batch(step, kBatchSize), weights_, kBatchSize);
        EXPECT_TRUE(outputs.ok()) << outputs.status().message();
        return outputs.ok() ? *outputs : NamedTensors();
    }

    NamedTensors weights() {
        if (!runner_) return weights_;
        auto slots = runner_->read_variables();
        EXPECT_TRUE(slots.ok()) << slots.status().message();
        return slots.ok() ? *slots : NamedTensors();
    }

  private:
    Graph graph_;
    NamedTensors weights_;
    std::unique_ptr<standalone::ProgramRunner> runner_;
};

class LossScaling : public VulkanTest, public testing::WithParamInterface<bool> {
  protected:
    Learner make_learner(const Settings& settings) {
        return Learner(settings, GetParam() ? &device() : nullptr);
    }
};

NamedTensors without_scale(NamedTensors weights) {
    std::erase_if(weights, [](const auto& w) { return w.first.starts_with("loss_scale"); });
    return weights;
}

TEST_P(LossScaling, AStepThatOverflowsLeavesEveryBitAndLowersTheScale) {
    // Cotangents times 2^24 are beyond f16; times 2^14 or so they are not.
    Learner learner = make_learner({.scale = {.init_scale = 0x1p24}});
    double scale = 0x1p24;
    int skipped = 0;
    for (int step = 0; step < 20; ++step) {
        const NamedTensors before = learner.weights();
        const bool is_taken = learner.run(step).at("taken").get(0) != 0;
        const NamedTensors after = learner.weights();
        if (!is_taken) scale /= 2;
        skipped += !is_taken;
        EXPECT_EQ(without_scale(after) == without_scale(before), !is_taken) << "step " << step;
        EXPECT_EQ(after.at("loss_scale").get(0), scale) << "step " << step;
        EXPECT_EQ(after.at("loss_scale.skipped_steps").get(0), skipped);
    }
    EXPECT_GE(skipped, 3);
    EXPECT_LE(skipped, 16);
}

TEST_P(LossScaling, TheScaleGrowsAfterEachIntervalUpToItsLimit) {
    Learner learner = make_learner(
        {.scale = {.init_scale = 8, .growth = 4, .growth_interval = 3, .max_scale = 100}});
    for (const double expected : {8, 8, 32, 32, 32, 100, 100, 100, 100}) {
        learner.run(0);
        EXPECT_EQ(learner.weights().at("loss_scale").get(0), expected);
    }
    EXPECT_EQ(learner.weights().at("loss_scale.skipped_steps").get(0), 0);
}

TEST_P(LossScaling, LearnsAsWellAsInF32) {
    Learner narrow = make_learner({});
    Learner wide = make_learner({.precision = Precision::kF32, .is_scaled = false});
    double first = 0, narrow_loss = 0, wide_loss = 0;
    for (int step = 0; step < 250; ++step) {
        const double loss = wide.run(step).at("loss").get(0);
        if (step == 0) first = loss;
        narrow_loss = 0.9 * narrow_loss + 0.1 * narrow.run(step).at("loss").get(0);
        wide_loss = 0.9 * wide_loss + 0.1 * loss;
    }
    EXPECT_LT(wide_loss, 0.3 * first);
    EXPECT_NEAR(narrow_loss, wide_loss, 0.05 * wide_loss);
}

INSTANTIATE_TEST_SUITE_P(On, LossScaling, testing::Bool(),
                         [](const auto& test) { return test.param ? "Device" : "Cpu"; });

std::string error_of(const GradScalerOptions& options) {
    return learning_graph({.scale = options}).status().message();
}

TEST(GradScaler, NamesOptionsOutOfRange) {
    EXPECT_EQ(error_of({}), "");
    for (const GradScalerOptions& bad : {GradScalerOptions{.init_scale = 0.5},
                                         {.init_scale = 1e9},
                                         {.growth = 0.9},
                                         {.backoff = 1},
                                         {.backoff = 0},
                                         {.growth_interval = 0},
                                         {.min_scale = 0},
                                         {.init_scale = NAN}})
        EXPECT_NE(
            error_of(bad).find("loss scale 'loss_scale': expected 0 < min_scale <= init_scale"),
            std::string::npos)
            << error_of(bad);
}

TEST(GradScaler, ANanFallsToTheLeastScaleAndNoFurther) {
    Learner learner({.scale = {.init_scale = 8, .min_scale = 2},
                     .loss_factor = std::numeric_limits<double>::infinity()},
                    nullptr);
    const NamedTensors before = learner.weights();
    for (const double expected : {4, 2, 2}) {
        EXPECT_EQ(learner.run(0).at("taken").get(0), 0);
        EXPECT_EQ(learner.weights().at("loss_scale").get(0), expected);
    }
    EXPECT_EQ(without_scale(learner.weights()), without_scale(before));
}

TEST(GradScaler, GradientsThatVanishInF16SurviveWithIt) {
    // Cotangents of the last layer are about 1e-9, the least f16 is 6e-8; the rate makes up for it.
    constexpr double kFactor = 1e-8;
    const Rule rule = [](std::span<const Tensor> params, std::span<const Tensor> gradients) {
        sgd(params, gradients, {.learning_rate = 0.1 / kFactor});
    };
    const auto change_of_first_layer = [&](Precision precision, bool is_scaled) {
        Learner learner(
            {.precision = precision, .is_scaled = is_scaled, .rule = rule, .loss_factor = kFactor},
            nullptr);
        const std::string name = "net.0.weight";
        const HostTensor before = learner.weights().at(name);
        learner.run(0);
        HostTensor change = learner.weights().at(name);
        for (int64_t i = 0; i < change.element_count(); ++i)
            change.set(i, change.get(i) - before.get(i));
        return change;
    };
    const HostTensor exact = change_of_first_layer(Precision::kF32, false);
    const HostTensor lost = change_of_first_layer(Precision::kF16, false);
    const HostTensor kept = change_of_first_layer(Precision::kF16, true);
    double largest = 0;
    for (int64_t i = 0; i < exact.element_count(); ++i)
        largest = std::max(largest, std::abs(exact.get(i)));
    for (int64_t i = 0; i < exact.element_count(); ++i) {
        EXPECT_EQ(lost.get(i), 0) << i;
        EXPECT_NE(exact.get(i), 0) << i;
        // Terms of the sum over the rows cancel, and are rounded to f16.
        EXPECT_NEAR(kept.get(i), exact.get(i), 0.01 * largest) << i;
    }
}

TEST(GradScaler, NeedsGradientsBeforeItsEnd) {
    Trace trace("learn");
    GradScaler scale(trace);
    scale.update();
    EXPECT_NE(trace.status().message().find("update() needs gradients"), std::string::npos);
}

}  // namespace
}  // namespace hearth::test
