// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/interpreter/interpreter.hpp"
#include "ops/op_cases.hpp"
#include "support/cases.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gradient_cases/gradient_cases.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

namespace hearth::test {
namespace {

/// One step of a rule on a matrix.
Graph step_of(const std::function<void(const Tensor& loss, std::span<const Tensor> params)>& rule) {
    Trace trace("learn");
    const Tensor w = trace.param("w", {4, 3}, Init::constant(0.5));
    rule(sum(square(w)), trace.params());
    return trace.build().value();
}

TEST(OptimizerRecords, AreTheFunctionsWithTheDefaultsOfTheirStructs) {
    const auto by_function = [](auto options) {
        options.learning_rate = 0.01;
        return step_of([&](const Tensor& loss, std::span<const Tensor> params) {
            minimize(loss, params, options);
        });
    };
    const std::map<std::string_view, Graph> expected{
        {"sgd", by_function(SgdOptions())},         {"adam", by_function(AdamOptions())},
        {"adagrad", by_function(AdagradOptions())}, {"rmsprop", by_function(RmspropOptions())},
        {"lion", by_function(LionOptions())},       {"adan", by_function(AdanOptions())},
        {"muon", by_function(MuonOptions())}};
    const auto by_record = [](const Optimizer& optimizer) {
        return step_of([&](const Tensor& loss, std::span<const Tensor> params) {
            update(optimizer, params, grad(loss, params), 0.01);
        });
    };
    ASSERT_EQ(optimizers().size(), expected.size());
    for (const OptimizerDef& def : optimizers()) {
        EXPECT_EQ(print(by_record({std::string(def.name)})), print(expected.at(def.name)))
            << def.name;
        // Each option reaches the rule.
        for (const OptimizerOption& option : def.options) {
            const double other = option.default_value == 1 ? 0 : option.default_value == 0 ? 1 : 2;
            const double value = other <= option.high ? other : option.default_value / 2;
            EXPECT_NE(
                print(by_record({std::string(def.name), {{std::string(option.name), value}}})),
                def.name == "sgd" && option.name == "nesterov" ? "" : print(expected.at(def.name)))
                << def.name << ": " << option.name;
        }
    }
}

struct OptimizerCase {
    const char* name;
    void (*optimize)(const Tensor& loss, std::span<const Tensor> params);
};

using gradient_cases::f64_tensor;

class TorchOptimizer : public testing::TestWithParam<OptimizerCase> {};

// 25 steps of the tanh regression mean((tanh(x w) - t)^2).
void check(const OptimizerCase& c, const std::filesystem::path& path) {
    const auto stored = gradient_cases::read_json(path);
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    Trace trace("learn");
    const Tensor x = trace.input("x", {8, 5}, DType::kF64);
    const Tensor t = trace.input("t", {8, 3}, DType::kF64);
    const Tensor w =
        trace.param("w", {5, 3}, Init::from(f64_tensor({5, 3}, stored->at("w0"))), DType::kF64);
    const Tensor loss = mse_loss(tanh(matmul(x, w)), t);
    c.optimize(loss, trace.params());
    trace.output("loss", loss);
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const NamedTensors inputs{{"x", f64_tensor({8, 5}, stored->at("x"))},
                              {"t", f64_tensor({8, 3}, stored->at("t"))}};
    NamedTensors weights;
    for (const double expected : stored->at("losses").get<std::vector<double>>()) {
        const auto outputs = interpret(*graph, inputs, weights);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        EXPECT_NEAR(outputs->at("loss").get(0), expected, 1e-12);
    }
    EXPECT_EQ(difference(weights.at("w"), f64_tensor({5, 3}, stored->at("w_after")), 1e-11), "");
}

TEST_P(TorchOptimizer, GivesTheStoredLossesAndWeights) {
    const auto paths =
        reference_cases::places_of("optim/" + std::string(GetParam().name) + ".json");
    ASSERT_FALSE(paths.empty());
    for (const std::filesystem::path& path : paths) {
        SCOPED_TRACE(path.string());
        check(GetParam(), path);
    }
}

constexpr OptimizerCase kOptimizers[] = {
    {"sgd",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, SgdOptions{.learning_rate = 0.1});
     }},
    {"sgd_momentum",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, SgdOptions{.learning_rate = 0.05, .momentum = 0.9});
     }},
    {"sgd_nesterov_wd",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(
             loss, params,
             SgdOptions{
                 .learning_rate = 0.05, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01});
     }},
    {"adam",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, AdamOptions{.learning_rate = 0.01});
     }},
    {"adamw",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, AdamOptions{.learning_rate = 0.01, .weight_decay = 0.1});
     }},
    {"rmsprop",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, RmspropOptions{.learning_rate = 0.01});
     }},
    {"adagrad",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, AdagradOptions{.learning_rate = 0.05});
     }},
};

INSTANTIATE_TEST_SUITE_P(Each, TorchOptimizer, testing::ValuesIn(kOptimizers),
                         [](const auto& c) { return std::string(c.param.name); });

// Runs `optimize` for some steps on w with the gradient (3, -4) and returns w.
HostTensor after_steps(int steps, const std::function<void(Trace&, const Tensor&)>& optimize,
                       const NamedTensors& inputs = {}) {
    Trace trace("learn");
    const Tensor w = trace.param("w", {2});
    optimize(trace, w);
    const auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights;
    for (int i = 0; graph.ok() && i < steps; ++i)
        EXPECT_TRUE(interpret(*graph, inputs, weights).ok());
    return weights["w"];
}

Tensor gradient_of_3_and_minus_4(Trace& trace) {
    return trace.constant(HostTensor::of({2}, std::vector<double>{3, -4}));
}

TEST(Adam, FirstStepMovesByTheLearningRateWhateverTheGradient) {
    const HostTensor w = after_steps(1, [](Trace& trace, const Tensor& param) {
        const Tensor g = gradient_of_3_and_minus_4(trace);
        adam(std::span(&param, 1), std::span(&g, 1), {.learning_rate = 0.25});
    });
    EXPECT_NEAR(w.get(0), -0.25, 1e-6);
    EXPECT_NEAR(w.get(1), 0.25, 1e-6);
}

// In f32 the formula 1 - pow(beta2, step) is off by 5e-5 at first; the recursion is not.
TEST(Adam, BiasCorrectionIsAccurateInSinglePrecision) {
    const HostTensor w = after_steps(1000, [](Trace& trace, const Tensor& param) {
        const Tensor g = gradient_of_3_and_minus_4(trace);
        adam(std::span(&param, 1), std::span(&g, 1), {.learning_rate = 1e-3});
    });
    EXPECT_NEAR(w.get(0), -1, 2e-5);
    EXPECT_NEAR(w.get(1), 1, 2e-5);
}

TEST(Adam, TwoGroupsOfParamsNeedTwoNames) {
    const auto status_with = [](const char* second_name) {
        Trace trace("t");
        const Tensor a = trace.param("a", {2}), b = trace.param("b", {2});
        minimize(sum(a), std::span(&a, 1), AdamOptions{});
        minimize(sum(b), std::span(&b, 1), AdamOptions{.name = second_name});
        return trace.status().message();
    };
    EXPECT_EQ(status_with("critic"), "");
    EXPECT_EQ(status_with("adam"), "assign: 'adam.correction1' is assigned twice");
}

TEST(Sgd, LearningRateMayBeATensorThatTheHostBinds) {
    const auto optimize = [](Trace& trace, const Tensor& param) {
        const Tensor g = gradient_of_3_and_minus_4(trace);
        sgd(std::span(&param, 1), std::span(&g, 1), {.learning_rate = trace.input("rate", {})});
    };
    const HostTensor w = after_steps(2, optimize, {{"rate", HostTensor::scalar(0.5)}});
    EXPECT_EQ(w, HostTensor::of({2}, std::vector<double>{-3, 4}));
}

// What `clip` makes of the gradients (3, 0) and (-4).
std::vector<double> clipped(
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& clip) {
    Trace trace("clip");
    const std::vector<Tensor> gradients{
        trace.constant(HostTensor::of({2}, std::vector<double>{3, 0}, DType::kF64)),
        trace.constant(HostTensor::of({1}, std::vector<double>{-4}, DType::kF64))};
    const Tensor all = concat(clip(gradients), 0);
    trace.output("all", all);
    const auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    const auto results = evaluate(*graph, {});
    return {(*results)[0].get(0), (*results)[0].get(1), (*results)[0].get(2)};
}

void expect_near(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << i;
}

TEST(Clip, LimitsEachElementEachGradientOrAllTogether) {
    expect_near(clipped([](auto g) { return clip_by_value(g, 2); }), {2, 0, -2}, 0);
    expect_near(clipped([](auto g) { return clip_by_norm(g, 1); }), {1, 0, -1}, 1e-6);
    expect_near(clipped([](auto g) { return clip_by_norm(g, 3.5); }), {3, 0, -3.5}, 1e-6);
    expect_near(clipped([](auto g) { return clip_by_global_norm(g, 1); }), {0.6, 0, -0.8}, 1e-6);
}

TEST(Clip, LeavesWhatIsSmallEnough) {
    expect_near(clipped([](auto g) { return clip_by_value(g, 4); }), {3, 0, -4}, 0);
    expect_near(clipped([](auto g) { return clip_by_norm(g, 4.1); }), {3, 0, -4}, 0);
    expect_near(clipped([](auto g) { return clip_by_global_norm(g, 5.1); }), {3, 0, -4}, 0);
}

/// Follows w in [3, 2] for some steps under the gradients g(step) and compares with `expected`,
/// which gets the step, the gradient and the weights and changes these, by a published formula.
using Rule = std::function<void(int step, double g, double& w, double (&memory)[4])>;
void expect_rule(const std::function<void(std::span<const Tensor>, std::span<const Tensor>)>& apply,
                 const Rule& rule) {
    Trace trace("learn");
    std::vector<double> start{0.5, -1, 2, 0.25, -0.75, 1.5};
    const Tensor w = trace.param(
        "w", {3, 2}, Init::from(HostTensor::of({3, 2}, start, DType::kF64)), DType::kF64);
    const Tensor g = trace.input("g", {3, 2}, DType::kF64);
    apply(std::span(&w, 1), std::span(&g, 1));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights;
    double memory[6][4] = {};
    for (int step = 1; step <= 12; ++step) {
        HostTensor gradient(DType::kF64, {3, 2});
        for (int i = 0; i < 6; ++i) {
            gradient.set(i, std::sin(1.0 + 7 * i + 3 * step));
            rule(step, gradient.get(i), start[static_cast<size_t>(i)], memory[i]);
        }
        ASSERT_TRUE(interpret(*graph, {{"g", gradient}}, weights).ok());
        EXPECT_EQ(difference(weights.at("w"), HostTensor::of({3, 2}, start, DType::kF64), 1e-12),
                  "")
            << "after step " << step;
    }
}

TEST(Lion, FollowsItsPublishedProgram) {
    expect_rule(
        [](auto params, auto gradients) {
            lion(params, gradients, {.learning_rate = 0.01, .weight_decay = 0.1});
        },
        [](int, double g, double& w, double(&memory)[4]) {
            double& m = memory[0];
            const double update = 0.9 * m + 0.1 * g;
            m = 0.99 * m + 0.01 * g;
            w -= 0.01 * ((update > 0 ? 1 : -1) + 0.1 * w);
        });
}

TEST(Adan, FollowsItsPublishedAlgorithm) {
    expect_rule(
        [](auto params, auto gradients) {
            adan(params, gradients, {.learning_rate = 0.01, .weight_decay = 0.1});
        },
        [](int step, double g, double& w, double(&memory)[4]) {
            auto& [m, v, n, previous] = memory;
            const double change = step == 1 ? 0 : g - previous;
            previous = g;
            m = 0.98 * m + 0.02 * g;
            v = 0.92 * v + 0.08 * change;
            n = 0.99 * n + 0.01 * std::pow(g + 0.92 * change, 2);
            const double size = 0.01 / (std::sqrt(n / (1 - std::pow(0.99, step))) + 1e-8);
            const double direction =
                m / (1 - std::pow(0.98, step)) + 0.92 * v / (1 - std::pow(0.92, step));
            w = (w - size * direction) / (1 + 0.01 * 0.1);
        });
}

TEST(Rmsprop, CenteredWithMomentumFollowsItsFormula) {
    expect_rule(
        [](auto params, auto gradients) {
            rmsprop(params, gradients, {.learning_rate = 0.01, .momentum = 0.5, .centered = true});
        },
        [](int, double g, double& w, double(&memory)[4]) {
            auto& [v, mean, buffer, unused] = memory;
            v = 0.99 * v + 0.01 * g * g;
            mean = 0.99 * mean + 0.01 * g;
            buffer = 0.5 * buffer + g / (std::sqrt(v - mean * mean) + 1e-8);
            w -= 0.01 * buffer;
        });
}

// The update of a matrix with singular values 5, 1 and 0.2 has all of them near one, whichever way
// it lies; the gradient's own norm does not matter.
TEST(Muon, StepsByANearlyOrthogonalMatrix) {
    for (const Shape& shape : {Shape{3, 4}, Shape{4, 3}, Shape{3, 2, 2}}) {
        Trace trace("learn");
        const Tensor w = trace.param("w", shape, {}, DType::kF64);
        HostTensor g(DType::kF64, shape);
        // Columns or rows of sines of different frequencies, scaled differently.
        const bool is_tall = shape[0].count == 4;
        const double scale[3] = {5, 1, 0.2};
        for (int k = 0; k < 3; ++k)
            for (int i = 0; i < 4; ++i) {
                const double v = scale[k] * std::cos(3.14159265358979 * (i + 0.5) * k / 4) *
                                 (k == 0 ? 0.5 : std::sqrt(0.5));
                g.set(is_tall ? i * 3 + k : k * 4 + i, 100 * v);
            }
        const Tensor gradient = trace.constant(g);
        muon(std::span(&w, 1), std::span(&gradient, 1), {.learning_rate = 1});
        const auto graph = trace.build();
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        NamedTensors weights;
        ASSERT_TRUE(interpret(*graph, {}, weights).ok());
        const HostTensor& step = weights.at("w");
        const double expected_size = is_tall ? std::sqrt(4.0 / 3) : 1;
        for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) {
                double product = 0;
                for (int i = 0; i < 4; ++i)
                    product += step.get(is_tall ? i * 3 + a : a * 4 + i) *
                               step.get(is_tall ? i * 3 + b : b * 4 + i);
                if (a != b)
                    EXPECT_NEAR(product, 0, 1e-9);
                else
                    EXPECT_NEAR(std::sqrt(product) / expected_size, 1, 0.35) << a;
            }
    }
}

TEST(Muon, RefusesWhatIsNoMatrix) {
    Trace trace("t");
    const Tensor w = trace.param("bias", {4}), g = trace.input("g", {4});
    muon(std::span(&w, 1), std::span(&g, 1));
    EXPECT_EQ(trace.status().message(),
              "muon: param 'bias' is [4], not a matrix; leave it to another rule");
}

/// The rates that a schedule gives at runs 0, 1, 2, ...
std::vector<double> rates(const Schedule& schedule, int runs) {
    Trace trace("rate");
    const Tensor rate = with_schedule(trace, schedule).as_tensor(trace.constant(0.0));
    trace.output("rate", rate);
    const auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights;
    std::vector<double> all;
    for (int i = 0; graph.ok() && i < runs; ++i)
        all.push_back(interpret(*graph, {}, weights)->at("rate").get(0));
    return all;
}

using Points = std::vector<std::pair<size_t, double>>;
void expect_points(const Schedule& schedule, const Points& points) {
    const std::vector<double> found = rates(schedule, 60);
    for (const auto& [at, rate] : points)
        EXPECT_NEAR(found.at(at), rate, 1e-6 * std::max(0.01, rate)) << "run " << at;
}

// The numbers are those of torch.optim.lr_scheduler (1.13); Noam's are of its formula.
TEST(Schedule, RatesAreStepwise) {
    expect_points(schedules::step_lr(0.1, 10, 0.5), {{0, 0.1},
                                                     {1, 0.1},
                                                     {2, 0.1},
                                                     {3, 0.1},
                                                     {9, 0.1},
                                                     {10, 0.05},
                                                     {11, 0.05},
                                                     {29, 0.025},
                                                     {30, 0.0125},
                                                     {31, 0.0125},
                                                     {49, 0.00625},
                                                     {50, 0.003125},
                                                     {51, 0.003125},
                                                     {59, 0.003125}});
}

TEST(Schedule, RatesRiseLinearly) {
    expect_points(schedules::linear(0, 0.02, 50), {{0, 2e-11},
                                                   {1, 0.00040000002},
                                                   {2, 0.000800000019},
                                                   {3, 0.00120000002},
                                                   {9, 0.00360000002},
                                                   {10, 0.00400000002},
                                                   {11, 0.00440000002},
                                                   {29, 0.0116},
                                                   {30, 0.012},
                                                   {31, 0.0124},
                                                   {49, 0.0196},
                                                   {50, 0.02},
                                                   {51, 0.02},
                                                   {59, 0.02}});
}

TEST(Schedule, RatesFallExponentially) {
    expect_points(schedules::exponential(0.1, 0.95), {{0, 0.1},
                                                      {1, 0.095},
                                                      {2, 0.09025},
                                                      {3, 0.0857375},
                                                      {9, 0.063024941},
                                                      {10, 0.0598736939},
                                                      {11, 0.0568800092},
                                                      {29, 0.0225935541},
                                                      {30, 0.0214638764},
                                                      {31, 0.0203906826},
                                                      {49, 0.00809947108},
                                                      {50, 0.00769449753},
                                                      {51, 0.00730977265},
                                                      {59, 0.00484945252}});
}

TEST(Schedule, RatesFollowACosine) {
    expect_points(schedules::cosine_annealing(0.1, 50, 0.001), {{0, 0.1},
                                                                {1, 0.0999023231},
                                                                {2, 0.0996096777},
                                                                {3, 0.0991232189},
                                                                {9, 0.0922942323},
                                                                {10, 0.0905463412},
                                                                {11, 0.0886404055},
                                                                {29, 0.0381898506},
                                                                {30, 0.0352036588},
                                                                {31, 0.0322778346},
                                                                {49, 0.00109767694},
                                                                {50, 0.001},
                                                                {51, 0.001},
                                                                {59, 0.001}});
}

TEST(Schedule, RatesWarmUpBeforeACosine) {
    expect_points(schedules::sequential({{10, schedules::linear(0, 0.1, 10)},
                                         {40, schedules::cosine_annealing(0.1, 40)}}),
                  {{0, 1e-10},
                   {1, 0.0100000001},
                   {2, 0.0200000001},
                   {3, 0.0300000001},
                   {9, 0.09},
                   {10, 0.1},
                   {11, 0.0998458667},
                   {29, 0.0539229548},
                   {30, 0.05},
                   {31, 0.0460770452},
                   {49, 0.000154133313},
                   {50, 0},
                   {51, 0},
                   {59, 0}});
}

TEST(Schedule, RatesFollowNoam) {
    expect_points(schedules::noam(512, 20), {{0, 0.000494105884},
                                             {1, 0.000988211769},
                                             {2, 0.00148231765},
                                             {3, 0.00197642354},
                                             {9, 0.00494105884},
                                             {10, 0.00543516473},
                                             {11, 0.00592927061},
                                             {29, 0.0080687153},
                                             {30, 0.00793750794},
                                             {31, 0.0078125},
                                             {49, 0.00625},
                                             {50, 0.00618842214},
                                             {51, 0.00612862922},
                                             {59, 0.00570544331}});
}

TEST(Schedule, ConstantsProductsAndEmptyLists) {
    using namespace schedules;
    expect_points(constant(0.25), {{0, 0.25}, {59, 0.25}});
    expect_points(multiplied(constant(0.5), linear(0, 1, 10)), {{0, 0}, {5, 0.25}, {20, 0.5}});
    expect_points(sequential({}), {{0, 0}, {59, 0}});
}

TEST(Schedule, DrivesAnOptimizerFromRunToRunAndCountsOnce) {
    const auto optimize = [](Trace& trace, const Tensor& param) {
        const Tensor g = gradient_of_3_and_minus_4(trace);
        global_step(trace);
        sgd(std::span(&param, 1), std::span(&g, 1),
            {.learning_rate = with_schedule(trace, schedules::step_lr(1, 2, 0.5))});
    };
    // Rates 1, 1, 0.5, 0.5, 0.25.
    EXPECT_NEAR(after_steps(5, optimize).get(0), -3 * 3.25, 1e-5);
}

TEST(Averages, FollowTheWeightsAndReplaceThemInAnotherEntry) {
    Trace learn("learn");
    const HostTensor start = HostTensor::of({2}, std::vector<double>{10, 20});
    const Tensor w = learn.param("w", {2}, Init::from(start));
    const Tensor g = gradient_of_3_and_minus_4(learn);
    sgd(std::span(&w, 1), std::span(&g, 1), {.learning_rate = 1});
    update_ema(std::span(&w, 1), 0.5);
    Trace act("act");
    act.output("y", act.param("w", {2}, Init::from(start)) * 2.0);
    use_ema(act);
    const auto learn_graph = learn.build(), act_graph = act.build();
    ASSERT_TRUE(learn_graph.ok()) << learn_graph.status().message();
    ASSERT_TRUE(act_graph.ok()) << act_graph.status().message();
    NamedTensors weights;
    ASSERT_TRUE(interpret(*learn_graph, {}, weights).ok());
    ASSERT_TRUE(interpret(*learn_graph, {}, weights).ok());
    // w: 10, 7, 4; its average: 10, 8.5, 6.25.
    const auto outputs = interpret(*act_graph, {}, weights);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(outputs->at("y").get(0), 12.5);
    EXPECT_EQ(weights.at("w").get(0), 4);
}

TEST(Averages, NeedAnUpdateToFollow) {
    Trace trace("t");
    const Tensor w = trace.param("w", {2});
    update_ema(std::span(&w, 1));
    EXPECT_EQ(
        trace.status().message(),
        "update_ema: 'w' is not updated in this trace; call update_ema after the update rule");
}

TEST(Optimizer, RefusesWhatItCannotUpdate) {
    const auto error_of = [](const std::function<void(Trace&)>& build) {
        Trace trace("t");
        build(trace);
        return trace.status().message();
    };
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2});
                  sgd(std::span(&x, 1), std::span(&x, 1));
              }),
              "sgd: tensor 0 is no param");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor w = t.param("w", {2}), g = t.input("g", {3});
                  adam(std::span(&w, 1), std::span(&g, 1));
              }),
              "adam: param 'w' is [2], its gradient [3]");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor w = t.param("w", {2});
                  adam(std::span(&w, 1), {});
              }),
              "adam: 1 params, 0 gradients");
}

}  // namespace
}  // namespace hearth::test
