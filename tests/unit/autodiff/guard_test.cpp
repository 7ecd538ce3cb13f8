// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Updates under a condition, params under another name, and what is refused because it would train
// nothing or something else.

#include "compiler/interpreter/interpreter.hpp"
#include "ops/op_cases.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

namespace hearth::test {
namespace {

HostTensor filled(const Shape& shape, const std::vector<double>& values) {
    return HostTensor::of(shape, std::span<const double>(values));
}

Graph finished(Trace& trace) {
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return graph.ok() ? *graph : Graph();
}

std::string error_of(const std::function<void(Trace&)>& build) {
    Trace trace("learn");
    build(trace);
    return trace.status().message();
}

::testing::AssertionResult has(const std::string& text, std::string_view part) {
    if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "'" << text << "' lacks '" << part << "'";
}

HostTensor wave(const Shape& shape, double step) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, std::sin(step + 0.7 * static_cast<double>(i)));
    return t;
}

bool same_bits(const NamedTensors& a, const NamedTensors& b) {
    if (a.size() != b.size()) return false;
    for (const auto& [name, tensor] : a) {
        const auto other = b.find(name);
        if (other == b.end() || !std::ranges::equal(tensor.bytes(), other->second.bytes()))
            return false;
    }
    return true;
}

Tensor net_loss(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {4, 3}), {8, 2}, tanh, {.seed = 3});
    return mse_loss(y, t.input("target", {4, 2}));
}

NamedTensors batch(double step, double apply) {
    return {{"x", wave({4, 3}, step)},
            {"target", wave({4, 2}, 2 * step)},
            {"apply", filled({}, {apply})}};
}

TEST(ConditionalUpdate, KeepsAllBitsWhereItsConditionFailsAndChangesNoneWhereItHolds) {
    const auto learn = [](bool guarded) {
        Trace t("learn");
        const Tensor apply = t.input("apply", {});
        ConditionalUpdate guard(t);
        const Tensor loss = net_loss(t);
        minimize(loss, t.params(), AdamOptions{.learning_rate = 0.05});
        const Tensor count = t.state("count", {}, {}, DType::kU32);
        t.assign(count, count + 1.0);
        if (guarded) guard.commit_if(greater(apply, 0));
        t.output("loss", loss);
        return finished(t);
    };
    const Graph plain = learn(false), guarded = learn(true);
    NamedTensors expected, found;
    for (int step = 0; step < 6; ++step) {
        const bool applies = step % 3 != 1;
        const NamedTensors before = found;
        ASSERT_TRUE(interpret(guarded, batch(step, applies), found).ok());
        if (!applies) {
            EXPECT_TRUE(same_bits(found, before)) << step;
            continue;
        }
        ASSERT_TRUE(interpret(plain, batch(step, 1), expected).ok());
        EXPECT_TRUE(same_bits(found, expected)) << step;
    }
    EXPECT_EQ(found.at("count").get_int(0), 4);
}

TEST(ConditionalUpdate, KeepsNaNApartByFiniteChecks) {
    Trace t("learn");
    ConditionalUpdate guard(t);
    const Tensor loss = net_loss(t);
    const std::vector<Tensor> gradients = minimize(loss, t.params(), AdamOptions{});
    const Tensor is_finite = all_finite(gradients);
    guard.commit_if(is_finite);
    t.output("ok", is_finite);
    const Graph graph = finished(t);
    NamedTensors weights;
    ASSERT_TRUE(interpret(graph, batch(0, 1), weights).ok());
    const NamedTensors before = weights;
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL}) {
        NamedTensors inputs = batch(1, 1);
        inputs.at("x").set(4, bad);
        inputs.at("target").set(1, bad);
        const auto out = interpret(graph, inputs, weights);
        ASSERT_TRUE(out.ok()) << out.status().message();
        EXPECT_EQ(out->at("ok").get_int(0), 0) << bad;
        EXPECT_TRUE(same_bits(weights, before)) << bad;
    }
    ASSERT_TRUE(interpret(graph, batch(1, 1), weights).ok());
    EXPECT_FALSE(same_bits(weights, before));
}

TEST(ConditionalUpdate, GuardsWhatIsInItsScopeAlone) {
    Trace t("learn");
    const Tensor before = t.state("before", {}), inside = t.state("inside", {}),
                 after = t.state("after", {});
    t.assign(before, before + 1.0);
    ConditionalUpdate guard(t);
    t.assign(inside, inside + 1.0);
    guard.commit_if(greater(t.input("apply", {}), 0));
    t.assign(after, after + 1.0);
    NamedTensors states;
    ASSERT_TRUE(interpret(finished(t), {{"apply", filled({}, {0})}}, states).ok());
    EXPECT_EQ(states.at("before").get(0), 1);
    EXPECT_EQ(states.at("inside").get(0), 0);
    EXPECT_EQ(states.at("after").get(0), 1);
}

TEST(ConditionalUpdate, AppliesWhereBothOfTwoNestedOnesHold) {
    Trace t("learn");
    ConditionalUpdate outer(t);
    const Tensor a = t.state("a", {}), b = t.state("b", {});
    t.assign(a, a + 1.0);
    ConditionalUpdate inner(t);
    t.assign(b, b + 1.0);
    inner.commit_if(greater(t.input("inner", {}), 0));
    outer.commit_if(greater(t.input("outer", {}), 0));
    const Graph graph = finished(t);
    NamedTensors states;
    for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(interpret(graph,
                              {{"inner", filled({}, {double(i % 2)})},
                               {"outer", filled({}, {double(i / 2)})}},
                              states)
                        .ok());
    EXPECT_EQ(states.at("a").get(0), 2);
    EXPECT_EQ(states.at("b").get(0), 1);
}

TEST(ConditionalUpdate, NamesWhatIsWrongWithItsCondition) {
    EXPECT_TRUE(has(error_of([](Trace& t) {
                        ConditionalUpdate guard(t);
                        guard.commit_if(t.input("c", {}));
                    }),
                    "expected a condition bool[] of trace 'learn', found f32[] of trace 'learn'"));
    EXPECT_TRUE(has(error_of([](Trace& t) {
                        Trace other("act");
                        ConditionalUpdate guard(t);
                        guard.commit_if(other.input("c", {}, DType::kBool));
                    }),
                    "of trace 'act'"));
    EXPECT_TRUE(has(error_of([](Trace& t) {
                        ConditionalUpdate guard(t);
                        const Tensor c = t.input("c", {}, DType::kBool);
                        guard.commit_if(c);
                        guard.commit_if(c);
                    }),
                    "given twice"));
    EXPECT_TRUE(has(
        error_of([](Trace& t) { (void)all_finite({t.constant(HostTensor(DType::kF32, {0}))}); }),
        "no elements"));
}

TEST(Minimize, OfNoParamsIsAnError) {
    EXPECT_TRUE(has(error_of([](Trace& t) { minimize(net_loss(t), {}, AdamOptions{}); }),
                    "there are no params to train"));
    EXPECT_TRUE(has(error_of([](Trace& t) {
                        minimize(net_loss(t), nn::parameters_with_prefix(t, {"nett"}),
                                 SgdOptions{});
                    }),
                    "there are no params to train"));
}

/// Number of params that a function of a loss and `trace.params()` differentiates, where some of them are
/// declared while the arguments are evaluated.
template <class F>
size_t count_in_one_call(bool declares_first, const F& f) {
    Trace t("learn");
    const Tensor x = t.input("x", {kBatch, 3});
    const Tensor hidden = nn::linear(t, "first", x, 4);
    const auto loss = [&] { return sum(nn::linear(t, "second", hidden, 2)); };
    const size_t count = declares_first ? [&] {
        const Tensor value = loss();
        return f(t, value, t.params());
    }() : [&] {
        ParamList early = t.params();  // as a compiler may evaluate them
        return f(t, loss(), std::move(early));
    }();
    EXPECT_TRUE(t.build().ok());
    return count;
}

TEST(Minimize, TrainsAllParamsInWhicheverOrderArgumentsAreEvaluated) {
    for (const bool declares_first : {false, true}) {
        EXPECT_EQ(
            count_in_one_call(declares_first,
                              [](Trace&, const Tensor& loss, ParamList&& params) {
                                  return minimize(loss, std::move(params), AdamOptions{}).size();
                              }),
            4u);
        EXPECT_EQ(count_in_one_call(declares_first,
                                    [](Trace&, const Tensor& loss, ParamList&& params) {
                                        return grad(loss, std::move(params)).size();
                                    }),
                  4u);
        EXPECT_EQ(
            count_in_one_call(
                declares_first,
                [](Trace&, const Tensor& loss, ParamList&& params) {
                    return value_and_grad([&] { return loss; }, std::move(params)).gradients.size();
                }),
            4u);
        EXPECT_EQ(count_in_one_call(declares_first,
                                    [](Trace& t, const Tensor& loss, ParamList&& params) {
                                        GradScaler scaler(t);
                                        const size_t count =
                                            scaler.grad(loss, std::move(params)).size();
                                        scaler.update();
                                        return count;
                                    }),
                  4u);
    }
}

TEST(Minimize, TrainsTheNetThatItsOwnArgumentsDeclare) {
    Trace t("learn");
    const Tensor x = t.input("x", {kBatch, 3});
    EXPECT_EQ(minimize(sum(nn::linear(t, "net", x, 2)), t.params(), SgdOptions{}).size(), 2u);
    EXPECT_TRUE(t.build().ok());
}

TEST(Minimize, LeavesParamsBehindANamedListAlone) {
    Trace t("learn");
    const Tensor hidden = nn::linear(t, "frozen", t.input("x", {kBatch, 3}), 4);
    const ParamList early = t.params();
    const Tensor loss = sum(nn::linear(t, "head", hidden, 2));
    EXPECT_EQ(minimize(loss, early, SgdOptions{}).size(), 2u);
    EXPECT_TRUE(t.build().ok());
}

TEST(Losses, WantEqualShapes) {
    const auto x = [](Trace& t) { return t.input("x", {64, 1}); };
    const auto y = [](Trace& t) { return t.input("y", {64}); };
    EXPECT_EQ(error_of([&](Trace& t) { (void)mse_loss(x(t), y(t)); }),
              "mse_loss: expected equal shapes, found [64, 1] and [64]");
    for (const auto loss :
         {l1_loss, poisson_nll_loss, cosine_distance, binary_cross_entropy, kl_div})
        EXPECT_TRUE(has(error_of([&](Trace& t) { (void)loss(x(t), y(t), Reduction::kMean); }),
                        "expected equal shapes"));
    EXPECT_TRUE(has(error_of([&](Trace& t) { (void)huber_loss(x(t), y(t)); }), "equal shapes"));
    EXPECT_TRUE(has(error_of([&](Trace& t) { (void)smooth_l1_loss(x(t), y(t)); }), "equal shapes"));
    EXPECT_TRUE(has(error_of([&](Trace& t) { (void)hinge_loss(x(t), y(t)); }), "equal shapes"));
    EXPECT_TRUE(has(error_of([&](Trace& t) { (void)binary_cross_entropy_with_logits(x(t), y(t)); }),
                    "equal shapes"));
    EXPECT_TRUE(
        has(error_of([&](Trace& t) { (void)ppo_clip_loss(y(t), t.input("o", {64}), x(t)); }),
            "equal shapes"));
    EXPECT_TRUE(
        has(error_of([&](Trace& t) { (void)ppo_value_loss(x(t), y(t), t.input("r", {64})); }),
            "equal shapes"));
    // A single number stands for all.
    EXPECT_EQ(error_of([&](Trace& t) { (void)mse_loss(x(t), t.constant(0.5)); }), "");
}

TEST(PpoLoss, TakesItsClipAsATensor) {
    const auto loss_at = [](bool as_tensor, double clip) {
        Trace t("learn");
        const Tensor p = t.param("p", {5}, Init::uniform(-1, 1, 4));
        const Tensor old = t.input("old", {5}), advantage = t.input("advantage", {5});
        const Tensor c = t.input("clip", {});
        const Tensor policy = as_tensor ? ppo_clip_loss(p, old, advantage, c)
                                        : ppo_clip_loss(p, old, advantage, clip);
        const Tensor value = as_tensor ? ppo_value_loss(p, old, advantage, c)
                                       : ppo_value_loss(p, old, advantage, clip);
        t.output("loss", policy + value);
        t.output("g", grad(policy + value, t.params())[0]);
        NamedTensors weights;
        auto out = interpret(
            finished(t),
            {{"old", wave({5}, 0)}, {"advantage", wave({5}, 1)}, {"clip", filled({}, {clip})}},
            weights);
        EXPECT_TRUE(out.ok()) << out.status().message();
        return *out;
    };
    for (const double clip : {0.1, 0.2, 0.5}) {
        const NamedTensors a = loss_at(false, clip), b = loss_at(true, clip);
        EXPECT_EQ(difference(a.at("loss"), b.at("loss"), 1e-6), "");
        EXPECT_EQ(difference(a.at("g"), b.at("g"), 1e-6), "");
    }
    EXPECT_TRUE(has(error_of([](Trace& t) {
                        const Tensor x = t.input("x", {3});
                        (void)ppo_clip_loss(x, x, x, x);
                    }),
                    "the clip must be a number"));
}

TEST(CategoricalLogProbability, OfAnActionThatThereIsNotIsZeroAndTrainsNothing) {
    Trace t("learn");
    const Tensor logits = t.param("logits", {4, 3}, Init::uniform(-1, 1, 4));
    const Tensor log_p = categorical_log_prob(logits, t.input("action", {4}, DType::kI32));
    t.output("log_p", log_p);
    t.output("g", grad(sum(log_p), logits));
    HostTensor actions(DType::kI32, {4});
    for (const auto& [at, action] : {std::pair{0, 2}, {1, 3}, {2, -1}, {3, 0}})
        actions.set_int(at, action);
    NamedTensors weights;
    const auto out = interpret(finished(t), {{"action", actions}}, weights);
    ASSERT_TRUE(out.ok()) << out.status().message();
    for (const int64_t row : {1, 2}) {
        EXPECT_EQ(out->at("log_p").get(row), 0);
        for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(out->at("g").get(3 * row + c), 0);
    }
    EXPECT_LT(out->at("log_p").get(0), 0);
    EXPECT_NE(out->at("g").get(2), 0);
}

TEST(Mirror, BeginsAsItsOriginalAndIsNotTrained) {
    Trace t("learn");
    t.target_copy("critic.target", "critic");
    const Tensor x = t.input("x", {4, 3});
    const Tensor target = nn::mlp(t, "critic.target", x, {8, 1}, tanh,
                                  {.init = nn::WeightInit::kOrthogonal, .seed = 7});
    const Tensor y =
        nn::mlp(t, "critic", x, {8, 1}, tanh, {.init = nn::WeightInit::kOrthogonal, .seed = 7});
    EXPECT_EQ(t.params().size(), 4u);
    const Tensor loss = mse_loss(y, stop_gradient(target) * 0.9);
    minimize(loss, t.params(), SgdOptions{.learning_rate = 0.1});
    t.output("apart", max(abs(y - target)));
    const Graph frozen = finished(t);
    NamedTensors weights;
    const NamedTensors inputs{{"x", wave({4, 3}, 0)}};
    const auto first = interpret(frozen, inputs, weights);
    ASSERT_TRUE(first.ok()) << first.status().message();
    EXPECT_EQ(first->at("apart").get(0), 0);
    const auto second = interpret(frozen, inputs, weights);
    EXPECT_GT(second->at("apart").get(0), 0);

    EXPECT_TRUE(has(error_of([](Trace& trace) {
                        (void)trace.param("a.b.w", {2});
                        trace.target_copy("a.b", "a");
                    }),
                    "param 'a.b.w' is already declared"));
    EXPECT_TRUE(has(error_of([](Trace& trace) {
                        trace.target_copy("b", "a");
                        trace.target_copy("b", "c");
                    }),
                    "already a target copy of 'a'"));
}

TEST(Follow, MovesTheMirrorTowardsTheNextValuesOfItsOriginal) {
    for (const double rate : {1.0, 0.25}) {
        Trace t("learn");
        t.target_copy("target", "net");
        const Tensor copy = t.param("target.w", {3}, Init::constant(2));
        const Tensor w = t.param("net.w", {3}, Init::constant(2));
        t.assign(w, w + 4.0);
        polyak_update(t, "target", "net", rate);
        const Graph graph = finished(t);
        NamedTensors weights;
        double expected = 2, original = 2;
        for (int step = 0; step < 3; ++step) {
            ASSERT_TRUE(interpret(graph, {}, weights).ok());
            original += 4;
            expected = (1 - rate) * expected + rate * original;
            EXPECT_NEAR(weights.at("target.w").get(1), expected, 1e-6);
        }
        (void)copy;
    }
    EXPECT_TRUE(has(error_of([](Trace& t) { polyak_update(t, "target", "net", 0.5); }),
                    "has no state under the first"));
    EXPECT_TRUE(has(error_of([](Trace& t) {
                        (void)t.state("target.w", {3});
                        polyak_update(t, "target", "net", 0.5);
                    }),
                    "has no 'net.w' like 'target.w'"));
}

TEST(UseAverages, MayBeOfAPartAndMustFindIt) {
    Trace t("act");
    (void)t.param("actor.w", {2});
    (void)t.param("critic.w", {2});
    use_ema(t, "actor");
    EXPECT_NE(t.graph().find("actor.w.average"), kInvalidId);
    EXPECT_NE(t.graph().find("critic.w"), kInvalidId);
    EXPECT_TRUE(has(error_of([](Trace& trace) {
                        (void)trace.param("actor.w", {2});
                        use_ema(trace, "act");
                    }),
                    "has no param under 'act'"));
}

TEST(Orthogonal, TakesAGainForEachLayerAndForTheLast) {
    Trace t("act");
    (void)nn::mlp(t, "net", t.input("x", {1, 4}), {4, 4}, tanh,
                  {.init = nn::WeightInit::kOrthogonal, .gain = 3, .output_gain = 0.5});
    for (const auto& [name, gain] : {std::pair{"net.0.weight", 3.0}, {"net.1.weight", 0.5}}) {
        const HostTensor& w = *t.graph().value(t.graph().find(name)).data;
        double squares = 0;
        for (int64_t i = 0; i < 4; ++i) squares += w.get(i) * w.get(i);
        EXPECT_NEAR(std::sqrt(squares), gain, 1e-5) << name;
    }
}

TEST(Gru, LayerAndCellShareTheirWeightsAndResetAtNewEpisodes) {
    const auto x_at = [](int64_t i) { return wave({2, 3}, static_cast<double>(i)); };
    constexpr int64_t kLength = 5;
    Trace learn("learn");
    const nn::RecurrentResult run =
        nn::gru(learn, "memory", learn.input("x", {2, kLength, 3}), 4,
                {.seed = 2, .episode_starts = learn.input("resets", {2, kLength}, DType::kBool)});
    learn.output("y", run.output);
    Trace act("act");
    act.output("h",
               nn::gru_cell(act, "memory", act.input("x", {2, 3}), act.input("h", {2, 4}), 4,
                            {.seed = 2, .episode_starts = act.input("resets", {2}, DType::kBool)}));
    const Graph layer = finished(learn), cell = finished(act);
    HostTensor x(DType::kF32, {2, kLength, 3}), resets(DType::kBool, {2, kLength});
    resets.set_int(3, 1);            // agent 0 before element 3
    resets.set_int(kLength + 1, 1);  // agent 1 before element 1
    for (int64_t i = 0; i < kLength; ++i)
        for (int64_t agent = 0; agent < 2; ++agent)
            for (int64_t k = 0; k < 3; ++k)
                x.set((agent * kLength + i) * 3 + k, x_at(i).get(agent * 3 + k));
    NamedTensors weights;
    const auto whole = interpret(layer, {{"x", x}, {"resets", resets}}, weights);
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    HostTensor h(DType::kF32, {2, 4});
    for (int64_t i = 0; i < kLength; ++i) {
        HostTensor now(DType::kBool, {2});
        for (int64_t agent = 0; agent < 2; ++agent)
            now.set_int(agent, resets.get_int(agent * kLength + i));
        const auto step = interpret(cell, {{"x", x_at(i)}, {"h", h}, {"resets", now}}, weights);
        ASSERT_TRUE(step.ok()) << step.status().message();
        h = step->at("h");
        for (int64_t agent = 0; agent < 2; ++agent)
            for (int64_t k = 0; k < 4; ++k)
                EXPECT_NEAR(whole->at("y").get((agent * kLength + i) * 4 + k), h.get(agent * 4 + k),
                            1e-6);
    }
    // The same without resets is another sequence.
    const auto without =
        interpret(layer, {{"x", x}, {"resets", HostTensor(DType::kBool, {2, kLength})}}, weights);
    EXPECT_NE(difference(without->at("y"), whole->at("y"), 1e-3), "");
}

TEST(DiscountedSum, StartsAnewWhereAnEpisodeEnds) {
    Trace t("returns");
    const Tensor r = t.input("r", {2, 4}), ends = t.input("ends", {2, 4}, DType::kBool);
    t.output("back", discounted_cumsum(r, 0.5, ends, 1));
    t.output("ahead", discounted_cumsum(r, t.input("gamma", {}), ends, -1, /*reverse=*/false));
    HostTensor stops(DType::kBool, {2, 4});
    stops.set_int(1, 1);
    NamedTensors states;
    const auto out = interpret(finished(t),
                               {{"r", filled({2, 4}, {1, 2, 4, 8, 1, 1, 1, 1})},
                                {"ends", stops},
                                {"gamma", filled({}, {0.5})}},
                               states);
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_EQ(difference(out->at("back"), filled({2, 4}, {2, 2, 8, 8, 1.875, 1.75, 1.5, 1}), 0),
              "");
    EXPECT_EQ(difference(out->at("ahead"), filled({2, 4}, {1, 2, 5, 10.5, 1, 1.5, 1.75, 1.875}), 0),
              "");
}

TEST(OutputScalars, PacksNamedNumbersIntoOneOutput) {
    Trace t("learn");
    const Tensor x = t.input("x", {4});
    output_scalars("status", {{"mean", mean(x)}, {"most", max(x)}, {"first", slice(x, 0, 0, 1)}});
    const Graph graph = finished(t);
    ASSERT_EQ(graph.outputs.size(), 1u);
    EXPECT_EQ(graph.outputs[0].scalars, (std::vector<std::string>{"mean", "most", "first"}));
    NamedTensors states;
    const auto out = interpret(graph, {{"x", filled({4}, {3, 1, 8, 0})}}, states);
    ASSERT_TRUE(out.ok());
    EXPECT_EQ(difference(out->at("status"), filled({3}, {3, 8, 3}), 0), "");
    EXPECT_TRUE(has(error_of([](Trace& trace) {
                        output_scalars("s", {{"x", trace.input("x", {2})}});
                    }),
                    "'x' is [2], expected a single number"));
    EXPECT_TRUE(has(error_of([](Trace& trace) {
                        const Tensor one = trace.input("x", {});
                        output_scalars("s", {{"x", one}, {"x", one}});
                    }),
                    "the name 'x' is empty or given twice"));
}

}  // namespace
}  // namespace hearth::test
