// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learners from rings on the reference interpreter: what is stored, what one step does, what their
// rails do.

#include "unit/agents/learner_rig.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace hearth::agents {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

HostTensor row(std::vector<double> values, DType dtype = DType::kF32) {
    return HostTensor::of({static_cast<int64_t>(values.size())}, values, dtype);
}
HostTensor rows(int64_t count, std::vector<double> values) {
    return HostTensor::of({count, static_cast<int64_t>(values.size()) / count}, values);
}

NamedTensors trained(const InterpretedLearner& learner) {
    NamedTensors out;
    for (const auto& [name, value] : learner.weights)
        for (const char* path :
             {"q.", "actor.", "critic", "judge.", "net.", "temperature.", "adam", "target."})
            if (name.starts_with(path)) out[name] = value;
    return out;
}

AgentSpec choices(int64_t count = 3) {
    return AgentSpec(ObservationSpec().box("x", 2), ActionSpec().discrete("move", count));
}

NamedTensors step(double id, std::vector<double> seen, double move, double reward, double end,
                  std::vector<double> next) {
    return {{"id", row({id}, DType::kU32)}, {"observation", rows(1, std::move(seen))},
            {"decision", rows(1, {move})},  {"reward", row({reward})},
            {"done_kind", row({end})},      {"next_observation", rows(1, std::move(next))}};
}

Dqn small_dqn() {
    Dqn dqn;
    dqn.replay = {.n_agents = 2, .buffer_size = 8, .batch_size = 4, .learning_starts = 1};
    dqn.dueling = false;
    dqn.gamma = 0.5;
    dqn.target_update_interval = 1000;
    return dqn;
}

TEST(ReplayOptions, SamplesThatAreRefusedTakeNoPlaceAndTheRingGoesRound) {
    InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({}), small_dqn()));
    double next = 0;
    for (int i = 0; i < 4; ++i) {
        NamedTensors three{{"id", row({0, 1, 0}, DType::kU32)},
                           {"observation", rows(3, {next, 0, kNaN, 0, next + 1, 0})},
                           {"decision", rows(3, {0, 1, 2})},
                           {"reward", row({0, 0, 0})},
                           {"done_kind", row({0, 0, 0})},
                           {"next_observation", rows(3, {0, 0, 0, 0, 0, 0})}};
        learner.run("store", three, 3);
        next += 2;
    }
    NamedTensors last = step(0, {8, 0}, 1, 0, 0, {0, 0});
    learner.run("store", last, 1);
    const HostTensor& seen = learner.weights.at("replay.observation");
    const double expected[] = {8, 1, 2, 3, 4, 5, 6, 7};
    for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(seen.get(2 * i), expected[i]) << i;
    EXPECT_EQ(learner.weights.at("replay.size").get(0), 8);
    EXPECT_EQ(learner.weights.at("replay.cursor").get(0), 1);
    EXPECT_EQ(learner.status()[Counter::kSamples], 9u);
    EXPECT_EQ(learner.status()[Counter::kSamplesRejected], 4u);
}

TEST(ReplayOptions, NothingIsLearnedBeforeTheWarmUp) {
    Dqn dqn = small_dqn();
    dqn.replay.learning_starts = 2;
    InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({}), dqn));
    const NamedTensors before = trained(learner);
    learner.run("learn");
    learner.run("store", step(0, {1, 0}, 1, 1, 0, {0, 1}));
    learner.run("learn");
    EXPECT_EQ(trained(learner), before);
    EXPECT_EQ(learner.status()[Counter::kGradientSteps], 0u);
    EXPECT_EQ(learner.status()[Counter::kSkippedNonFinite], 0u);
    learner.run("store", step(0, {1, 0}, 1, 1, 0, {0, 1}));
    learner.run("learn");
    EXPECT_EQ(learner.status()[Counter::kGradientSteps], 1u);
    EXPECT_NE(trained(learner), before);
}

// --- DQN ---

// One sample, linear values: the loss by hand.
TEST(Dqn, TheLossIsThatOfADoubleEstimate) {
    for (const bool is_double : {false, true}) {
        Dqn dqn = small_dqn();
        dqn.double_q = is_double;
        InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({}), dqn));
        const HostTensor online = rows(3, {1, 0, 0, 2, 0.5, 0.5}),
                         target = rows(3, {3, 1, 1, 1, 0, 4});
        learner.weights.at("q.choices.move.weight") = online;
        learner.weights.at("target.q.choices.move.weight") = target;
        learner.run("store", step(0, {0.2, 0.4}, 2, 0.7, 0, {0.1, 0.6}));
        learner.run("learn");
        const auto value = [](const HostTensor& w, int64_t c, double x, double y) {
            return w.get(2 * c) * x + w.get(2 * c + 1) * y;
        };
        // Of the next observation the online net prefers choice 1, the target choice 2.
        const double next = is_double ? value(target, 1, 0.1, 0.6) : value(target, 2, 0.1, 0.6);
        const double off = value(online, 2, 0.2, 0.4) - (0.7 + 0.5 * next);
        const double expected = std::abs(off) < 1 ? off * off / 2 : std::abs(off) - 0.5;
        EXPECT_NEAR(static_cast<double>(learner.status()[AgentMetric::kLoss]), expected, 1e-5);
    }
}

TEST(Dqn, AnEndHasNoNextValueButACutHas) {
    for (const double end : {0.0, 1.0, 2.0}) {
        InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({}), small_dqn()));
        learner.weights.at("q.choices.move.weight") = rows(3, {0, 0, 0, 0, 0, 0});
        learner.weights.at("target.q.choices.move.weight") = rows(3, {1, 0, 1, 0, 1, 0});
        learner.run("store", step(0, {1, 0}, 0, 0.25, end, {1, 0}));
        learner.run("learn");
        const double wanted = end == 1 ? 0.25 : 0.25 + 0.5 * 1;
        EXPECT_NEAR(static_cast<double>(learner.status()[AgentMetric::kLoss]), wanted * wanted / 2,
                    1e-6)
            << end;
    }
}

TEST(Dqn, ReturnsOfSeveralStepsGrowInPlace) {
    Dqn dqn = small_dqn();
    dqn.return_steps = 3;
    dqn.replay.buffer_size = 16;
    InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({}), dqn));
    // Two agents in turn; agent 1's rewards are 100 times those of agent 0.
    for (int t = 0; t < 5; ++t)
        for (int id = 0; id < 2; ++id) {
            const double end = id == 0 && t == 3 ? 1 : 0;
            learner.run("store",
                        step(id, {t * 1.0, 0}, 0, (t + 1) * (id ? 0.1 : 0.001), end, {t + 1.0, 0}));
        }
    const auto at = [&](const char* name, int t, int id, int width = 1) {
        return learner.weights.at("replay." + std::string(name)).get((2 * t + id) * width);
    };
    for (int id = 0; id < 2; ++id) {
        const double unit = id ? 0.1 : 0.001;
        for (int t = 0; t < 5; ++t) {
            double total = 0;
            int last = t;
            for (int k = 0; k < 3 && t + k < 5; ++k) {
                total += std::pow(0.5, k) * (t + k + 1) * unit;
                last = t + k;
                if (id == 0 && t + k == 3) break;  // ended
            }
            EXPECT_NEAR(at("reward", t, id), total, 1e-6) << "agent " << id << " at " << t;
            EXPECT_NEAR(at("discount", t, id), std::pow(0.5, last - t + 1), 1e-7);
            EXPECT_EQ(at("next_observation", t, id, 2), last + 1);
            EXPECT_EQ(at("end", t, id), id == 0 && last == 3 ? 1 : 0);
        }
    }
}

TEST(Dqn, AnAgentThatPausedDoesNotAddToSamplesOfOthers) {
    Dqn dqn = small_dqn();
    dqn.return_steps = 2;
    InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({}), dqn));
    learner.run("store", step(0, {1, 0}, 0, 1, 0, {2, 0}));
    for (int t = 0; t < 8; ++t)  // the whole ring is written over
        learner.run("store", step(1, {0, 0}, 0, 0, 1, {0, 0}));
    learner.run("store", step(0, {2, 0}, 0, 1, 0, {3, 0}));
    double total = 0;
    for (int64_t i = 0; i < 8; ++i) total += learner.weights.at("replay.reward").get(i);
    EXPECT_EQ(total, 1);
}

TEST(Dqn, SamplesAreDrawnByTheirSurpriseAndWeighedAgainstIt) {
    Dqn dqn = small_dqn();
    dqn.prioritized_alpha = 1;
    dqn.prioritized_beta = 1;
    dqn.replay.batch_size = 64;
    dqn.learning_rate = 0.0;
    InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({}), dqn));
    for (int i = 0; i < 4; ++i)
        learner.run("store", step(0, {i == 0 ? 1.0 : 0.0, 0}, 0, i == 0 ? 3 : 1, 1, {0, 0}));
    learner.weights.at("q.choices.move.weight") = rows(3, {0, 0, 0, 0, 0, 0});
    const HostTensor& priority = learner.weights.at("replay.priority");
    for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(priority.get(i), i < 4 ? 1 : 0);
    learner.run("learn");
    for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(priority.get(i), i == 0 ? 3 : 1, 1e-5);
    // Huber losses are 2.5 and 0.5; samples come 3 : 1 : 1 : 1 with weights 1 : 3 : 3 : 3, which
    // are divided by the largest.  So the sum over 64 is 32 * 2.5 / 3 + 32 * 0.5.
    learner.run("learn");
    EXPECT_NEAR(static_cast<double>(learner.status()[AgentMetric::kLoss]),
                (32 * 2.5 / 3 + 32 * 0.5) / 64, 1e-4);
    EXPECT_NEAR(learner.weights.at("replay.max_priority").get(0), 3, 1e-5);
}

TEST(Dqn, TheTargetFollowsWhenItsPeriodIsOver) {
    Dqn dqn = small_dqn();
    dqn.target_update_interval = 3;
    InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({4}), dqn));
    learner.run("store", step(0, {0.2, 0.4}, 2, 0.7, 0, {0.1, 0.6}));
    const HostTensor first = learner.weights.at("target.q.0.weight");
    EXPECT_EQ(first, learner.weights.at("q.0.weight"));
    for (int i = 0; i < 2; ++i) learner.run("learn");
    EXPECT_EQ(learner.weights.at("target.q.0.weight"), first);
    EXPECT_NE(learner.weights.at("q.0.weight"), first);
    learner.run("learn");
    EXPECT_EQ(learner.weights.at("target.q.0.weight"), learner.weights.at("q.0.weight"));
}

TEST(Dqn, ActTakesTheBestChoiceThatIsThereAndExploresAsOftenAsItIsTold) {
    const AgentSpec schema(ObservationSpec().box("x", 2),
                           ActionSpec().discrete("move", 3, true).discrete("shout", 2));
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({}), small_dqn()));
    const std::string q = "published.param.q.choices.";
    learner.weights.at(q + "move.weight") = rows(3, {3, 0, 2, 0, 1, 0});
    learner.weights.at(q + "shout.weight") = rows(2, {0, 0, 1, 0});
    constexpr int64_t kRowCount = 2000;
    HostTensor seen(DType::kF32, {kRowCount, 2}), mask(DType::kF32, {kRowCount, 3});
    for (int64_t i = 0; i < kRowCount; ++i) {
        seen.set(2 * i, 1);
        mask.set(3 * i + 1, 1);
        mask.set(3 * i + 2, 1);
    }
    NamedTensors inputs{
        {"observation", seen}, {"mask", mask}, {"exploration", HostTensor::scalar(0)}};
    const HostTensor greedy = learner.run("act", inputs, kRowCount).at("decision");
    for (int64_t i = 0; i < kRowCount; ++i) {
        ASSERT_EQ(greedy.get(2 * i), 1);
        ASSERT_EQ(greedy.get(2 * i + 1), 1);
    }
    inputs["exploration"] = HostTensor::scalar(0.5);
    const HostTensor exploring = learner.run("act", inputs, kRowCount).at("decision");
    int others = 0, masked = 0;
    for (int64_t i = 0; i < kRowCount; ++i) {
        masked += exploring.get(2 * i) == 0;
        others += exploring.get(2 * i) == 2;
    }
    EXPECT_EQ(masked, 0);
    EXPECT_NEAR(others, kRowCount / 4, 60);  // half of the rows draw evenly from two
}

TEST(Dqn, NumbersAreRefused) {
    const AgentSpec schema(ObservationSpec().box("x"), ActionSpec().continuous("aim"));
    EXPECT_NE(build_agent_graphs(schema, mlp_network({}), Dqn{})[0]->status().message().find(
                  "action 'aim' is continuous"),
              std::string::npos);
    const AgentSpec sound = choices();
    EXPECT_NE(build_agent_graphs(sound, mlp_network({}), Sac{})[0]->status().message().find(
                  "action 'move' is discrete"),
              std::string::npos);
}

// --- SAC ---

AgentSpec numbers_schema() {
    return AgentSpec(ObservationSpec().box("x", 2), ActionSpec().continuous("aim", 1));
}

Sac small_sac() {
    Sac sac;
    sac.replay = {.n_agents = 2, .buffer_size = 64, .batch_size = 32, .learning_starts = 8};
    return sac;
}

void store_random(InterpretedLearner& learner, int count) {
    for (int i = 0; i < count; ++i) {
        const double a = std::sin(1.7 * i), b = std::cos(2.3 * i);
        learner.run("store", step(0, {a, b}, std::sin(5.1 * i), a * b, i % 7 == 6, {b, a}));
    }
}

// The reward says: aim at 0.6.  No rest of the task interferes.
TEST(Sac, FindsTheBestOfASingleDecision) {
    Sac sac = small_sac();
    sac.learning_rate = 3e-3;
    sac.replay.buffer_size = 512;
    InterpretedLearner learner(
        build_agent_graphs(numbers_schema(), mlp_network({32, 32}, relu), sac, 3));
    for (int i = 0; i < 256; ++i) {
        const double aim = -1 + 2 * std::fmod(0.618034 * i, 1.0);
        learner.run("store", step(0, {1, -1}, aim, -4 * (aim - 0.6) * (aim - 0.6), 1, {1, -1}));
    }
    for (int i = 0; i < 800; ++i) learner.run("learn");
    learner.run("publish");
    const NamedTensors said = learner.run(
        "act", {{"observation", rows(1, {1, -1})}, {"exploration", HostTensor::scalar(0)}});
    EXPECT_NEAR(said.at("action").get(0), 0.6, 0.15);
    // The temperature steers the entropy to minus one, so it left its beginning.
    EXPECT_LT(learner.status()[AgentMetric::kEntCoef], 0.9f);
    EXPECT_EQ(learner.status()[Counter::kGradientSteps], 800u);
}

TEST(Network, LayersAndTheHeadsOfValuesBeginAsTheyAreAskedTo) {
    const PolicyNetwork network = mlp_network({16}, relu, 3, nn::WeightInit::kPyTorchDefault);
    const InterpretedLearner sac(build_agent_graphs(numbers_schema(), network, small_sac()));
    const InterpretedLearner dqn(build_agent_graphs(choices(), network, small_dqn()));
    const auto expect_within = [](const InterpretedLearner& learner, const std::string& layer,
                                  double fan_in) {
        for (const char* part : {".weight", ".bias"}) {
            const HostTensor& values = learner.weights.at(layer + part);
            double largest = 0;
            for (int64_t i = 0; i < values.element_count(); ++i)
                largest = std::max(largest, std::abs(values.get(i)));
            EXPECT_GT(largest, 0) << layer << part;
            EXPECT_LE(largest, 1 / std::sqrt(fan_in)) << layer << part;
        }
    };
    expect_within(sac, "actor.0", 2);
    expect_within(sac, "critic2.0", 3);
    for (const char* head : {"actor.head", "critic1.head", "critic2.head"})
        expect_within(sac, head, 16);
    expect_within(dqn, "q.0", 2);
    expect_within(dqn, "q.choices.move", 16);
    EXPECT_EQ(sac.weights.at("target.critic1.head.weight"), sac.weights.at("critic1.head.weight"));
    // Those of an orthogonal matrix lie beyond.
    const InterpretedLearner usual(
        build_agent_graphs(choices(), mlp_network({16}, relu), small_dqn()));
    const HostTensor& values = usual.weights.at("q.choices.move.weight");
    double largest = 0;
    for (int64_t i = 0; i < values.element_count(); ++i)
        largest = std::max(largest, std::abs(values.get(i)));
    EXPECT_GT(largest, 0.25);
}

TEST(Sac, TargetsFollowSlowly) {
    Sac sac = small_sac();
    sac.tau = 0.25;
    InterpretedLearner learner(build_agent_graphs(numbers_schema(), mlp_network({4}), sac));
    store_random(learner, 16);
    const NamedTensors before = learner.weights;
    learner.run("learn");
    for (const char* name : {"critic1.0.weight", "critic2.head.bias"}) {
        const HostTensor& old = before.at("target." + std::string(name));
        EXPECT_EQ(old, before.at(name));
        for (int64_t i = 0; i < old.element_count(); ++i)
            EXPECT_NEAR(learner.weights.at("target." + std::string(name)).get(i),
                        0.75 * old.get(i) + 0.25 * learner.weights.at(name).get(i), 1e-6);
    }
}

// --- Cloning and regression ---

TEST(BehaviorCloning, LearnsWhatWasShown) {
    const AgentSpec schema(ObservationSpec().box("x", 1),
                           ActionSpec().discrete("side", 2).continuous("aim", 1, {0, 10}));
    for (const BcLoss loss : {BcLoss::kNegativeLogLikelihood, BcLoss::kMse}) {
        BehaviorCloning clone;
        clone.buffer_size = 256;
        clone.batch_size = 32;
        clone.learning_starts = 32;
        clone.learning_rate = 1e-2;
        clone.loss = loss;
        InterpretedLearner learner(build_agent_graphs(schema, mlp_network({16}), clone));
        for (int i = 0; i < 128; ++i) {
            const double x = -1 + 2 * std::fmod(0.618034 * i, 1.0);
            learner.run("store", {{"observation", rows(1, {x})},
                                  {"action", rows(1, {x > 0 ? 1.0 : 0.0, 5 + 3 * x})}});
        }
        for (int i = 0; i < 300; ++i) learner.run("learn");
        learner.run("publish");
        for (const double x : {-0.8, -0.4, 0.4, 0.8}) {
            const NamedTensors said = learner.run(
                "act", {{"observation", rows(1, {x})}, {"exploration", HostTensor::scalar(0)}});
            EXPECT_EQ(said.at("action").get(0), x > 0 ? 1 : 0) << x;
            EXPECT_NEAR(said.at("action").get(1), 5 + 3 * x, 0.5) << x;
        }
    }
}

TEST(BehaviorCloning, DemonstrationsThatAreNoActionsAreRefused) {
    const AgentSpec schema(ObservationSpec().box("x", 1),
                           ActionSpec().discrete("side", 2).continuous("aim"));
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({4}), BehaviorCloning{}));
    learner.run("store",
                {{"observation", rows(4, {0, kNaN, 0, 0})},
                 {"action", rows(4, {0, 0, 0, 0, 2, 0, 1, kNaN})}},
                4);
    EXPECT_EQ(learner.status()[Counter::kSamples], 1u);
    EXPECT_EQ(learner.status()[Counter::kSamplesRejected], 3u);
    // Beyond the range is what the range ends at: a policy could not do it either.
    learner.run("store", {{"observation", rows(1, {0})}, {"action", rows(1, {1, 1e30})}});
    EXPECT_EQ(learner.weights.at("replay.decision").get(3), 1);
}

TEST(Regression, InputsAreCutOffWhereTheirSquaresOverflowAndCounted) {
    Regression r;
    r.buffer_size = 8;
    r.batch_size = r.learning_starts = 4;
    InterpretedLearner learner(build_regression_graphs(mlp_network({}), r));
    learner.weights.at("published.param.net.head.weight").set(0, 1);
    const auto predicted = [&](double x) {
        return learner.run("predict", {{"input", rows(1, {x})}}).at("output").get(0);
    };
    EXPECT_EQ(predicted(20'000), 20'000);
    EXPECT_EQ(predicted(60'000), 60'000);
    EXPECT_NEAR(predicted(1e30), 1e15, 1e8);
    for (const double x : {60'000.0, 1e30})
        learner.run("store", {{"input", rows(1, {x})}, {"target", rows(1, {0})}});
    EXPECT_EQ(learner.status()[Counter::kObservationsClamped], 1u);
}

TEST(Regression, LearnsACurve) {
    Regression r;
    r.buffer_size = 128;
    r.batch_size = 32;
    r.learning_starts = 32;
    r.learning_rate = 1e-2;
    InterpretedLearner learner(build_regression_graphs(mlp_network({16, 16}), r));
    for (int i = 0; i < 128; ++i) {
        const double x = -1 + 2 * std::fmod(0.618034 * i, 1.0);
        learner.run("store", {{"input", rows(1, {x})}, {"target", rows(1, {std::sin(3 * x)})}});
    }
    learner.run("store", {{"input", rows(1, {kNaN})}, {"target", rows(1, {0})}});
    EXPECT_EQ(learner.status()[Counter::kSamplesRejected], 1u);
    for (int i = 0; i < 1000; ++i) learner.run("learn");
    learner.run("publish");
    for (const double x : {-0.7, 0.1, 0.5})
        EXPECT_NEAR(learner.run("predict", {{"input", rows(1, {x})}}).at("output").get(0),
                    std::sin(3 * x), 0.1);
}

// --- Praise ---

TEST(Tamer, IsCreditedToWhatTheAgentDidBefore) {
    Tamer praise;
    praise.n_agents = 2;
    praise.buffer_size = 16;
    praise.credit_window = {0.5, 1};
    InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({}), praise));
    const auto decide = [&](double id, double move, double said) {
        learner.run("store", {{"id", row({id}, DType::kU32)},
                              {"observation", rows(1, {1, 0})},
                              {"decision", rows(1, {move})},
                              {"praise", row({said})}});
    };
    decide(0, 0, 0);   // place 0
    decide(1, 1, 0);   // place 1, of the other agent
    decide(0, 2, 0);   // place 2
    decide(0, 1, 1);   // place 3: praise for places 2 and 0
    decide(0, 0, -5);  // place 4: scolded, limited to -1, for places 3 and 2
    const HostTensor& label = learner.weights.at("replay.label");
    const HostTensor& weight = learner.weights.at("replay.weight");
    const double labels[] = {1, 0, 0.5 - 1, -0.5, 0}, weights[] = {1, 0, 1.5, 0.5, 0};
    for (int64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(label.get(i), labels[i]) << i;
        EXPECT_EQ(weight.get(i), weights[i]) << i;
    }
    EXPECT_EQ(learner.status()[Counter::kRewardsClamped], 1u);
}

TEST(Tamer, WhatIsPraisedIsDoneAgain) {
    Tamer praise;
    praise.n_agents = 1;
    praise.credit_window = {1};
    praise.learning_rate = 1e-2;
    InterpretedLearner learner(build_agent_graphs(choices(), mlp_network({8}), praise));
    // Praised for choice 1 where x > 0, for choice 2 elsewhere, scolded for all others.
    double said = 0;
    for (int i = 0; i < 60; ++i) {
        const double x = i % 2 ? 1 : -1;
        const int move = i % 3;
        learner.run("store", {{"id", row({0}, DType::kU32)},
                              {"observation", rows(1, {x, 0})},
                              {"decision", rows(1, {static_cast<double>(move)})},
                              {"praise", row({said})}});
        said = move == (x > 0 ? 1 : 2) ? 1 : -1;
        learner.run("learn");
    }
    for (int i = 0; i < 150; ++i) learner.run("learn");
    learner.run("publish");
    for (const double x : {-1.0, 1.0})
        EXPECT_EQ(learner
                      .run("act", {{"observation", rows(1, {x, 0})},
                                   {"exploration", HostTensor::scalar(0)}})
                      .at("decision")
                      .get(0),
                  x > 0 ? 1 : 2);
}

// --- Rails and adapt, of every learner ---

struct AnyLearner {
    const char* name;
    AgentGraphs (*trace)();
    const char* weight;  ///< one that its loss depends on
};

NamedTensors sample_for(const std::string& name, int i) {
    const double a = std::sin(1.7 * i), b = std::cos(2.3 * i);
    NamedTensors out = step(0, {a, b}, i % 3, a * b, i % 7 == 6, {b, a});
    if (name == "Sac") out["decision"] = rows(1, {std::sin(5.1 * i)});
    if (name == "Clone") out["action"] = rows(1, {i % 3 * 1.0});
    if (name == "Praise") out["praise"] = row({i % 2 ? 1.0 : -1.0});
    if (name == "Regression") {
        out["input"] = rows(1, {a, b});
        out["target"] = rows(1, {a * b});
    }
    return out;
}

class EveryLearner : public ::testing::TestWithParam<AnyLearner> {
  protected:
    static InterpretedLearner ready() {
        InterpretedLearner learner(GetParam().trace());
        for (int i = 0; i < 32; ++i) learner.run("store", sample_for(GetParam().name, i));
        learner.run("learn");
        learner.run("publish");
        EXPECT_EQ(learner.status()[Counter::kGradientSteps], 1u);
        EXPECT_EQ(learner.status()[Counter::kPublications], 1u);
        EXPECT_EQ(learner.first_not_finite(), "");
        return learner;
    }
};

TEST_P(EveryLearner, TakesNoStepWhoseLossIsNotFinite) {
    InterpretedLearner learner = ready();
    for (const double poison : {kNaN, -kNaN}) {
        const HostTensor sound = learner.weights.at(GetParam().weight);
        for (int64_t i = 0; i < sound.element_count(); ++i)
            learner.weights.at(GetParam().weight).set(i, poison);
        const uint64_t skipped = learner.status()[Counter::kSkippedNonFinite];
        const NamedTensors before = trained(learner);
        learner.run("learn");
        EXPECT_EQ(learner.status()[Counter::kSkippedNonFinite], skipped + 1) << poison;
        EXPECT_EQ(learner.status()[Counter::kGradientSteps], 1u);
        for (const auto& [name, value] : trained(learner)) {
            const auto a = value.bytes(), b = before.at(name).bytes();
            EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin())) << name;
        }
        learner.weights.at(GetParam().weight) = sound;
    }
    learner.run("learn");
    EXPECT_EQ(learner.status()[Counter::kGradientSteps], 2u);
}

TEST_P(EveryLearner, StoresNothingThatIsNotFinite) {
    for (const double poison : {kNaN, std::numeric_limits<double>::infinity()}) {
        InterpretedLearner learner = ready();
        const NamedTensors sound = sample_for(GetParam().name, 5);
        int poisoned = 0;
        for (const char* name : {"observation", "next_observation", "reward", "decision", "action",
                                 "input", "target"}) {
            const std::string of = GetParam().name;
            const bool takes = of == "Regression" ? name[0] == 'i' || name[0] == 't'
                               : of == "Clone"    ? name[0] == 'o' || name[0] == 'a'
                               : of == "Praise"
                                   ? name[0] == 'o' || name[0] == 'd'
                                   : name[0] != 'a' && name[0] != 'i' && name[0] != 't';
            if (!takes) continue;
            NamedTensors bad = sound;
            bad.at(name).set(0, poison);
            learner.run("store", bad);
            ++poisoned;
            EXPECT_EQ(learner.status()[Counter::kSamplesRejected], static_cast<uint64_t>(poisoned))
                << name;
        }
        EXPECT_GE(poisoned, 2);
        for (int i = 0; i < 5; ++i) learner.run("learn");
        learner.run("publish");
        EXPECT_EQ(learner.first_not_finite(), "");
    }
}

TEST_P(EveryLearner, HugeNumbersLeaveItFinite) {
    InterpretedLearner learner = ready();
    for (int i = 0; i < 8; ++i) {
        NamedTensors huge = sample_for(GetParam().name, i);
        for (const char* name : {"observation", "next_observation", "reward", "input", "target"})
            if (huge.contains(name)) huge.at(name).set(0, i % 2 ? 1e30 : -1e30);
        learner.run("store", huge);
    }
    for (int i = 0; i < 20; ++i) learner.run("learn");
    learner.run("publish");
    EXPECT_EQ(learner.first_not_finite(), "");
}

// Of the roles that run here; what draws random numbers goes on as well.
TEST_P(EveryLearner, CountersGoOnBeyond32Bits) {
    InterpretedLearner learner = ready();
    for (auto& [name, value] : learner.weights) {
        const bool is_low = name.starts_with("agents.counters.");
        if (is_low || name.ends_with(".draws") || name.ends_with(".version"))
            for (int64_t i = 0; i < value.element_count(); ++i) value.set(i, 4294967295.0);
        if (name.starts_with("agents.carries."))
            for (int64_t i = 0; i < value.element_count(); ++i) value.set(i, 1);
    }
    learner.run("store", sample_for(GetParam().name, 3));
    learner.run("learn");
    learner.run("publish");
    const uint64_t whole = (uint64_t{1} << 33) - 1;  // of each role, before
    const auto gained = [&](Counter c) { return learner.status()[c] % whole; };
    EXPECT_EQ(gained(Counter::kSamples), 1u);
    EXPECT_EQ(gained(Counter::kGradientSteps), 1u);
    EXPECT_EQ(gained(Counter::kPublications), 1u);
    EXPECT_GE(learner.status()[Counter::kSamples], whole + 1);
    EXPECT_EQ(learner.first_not_finite(), "");
}

TEST_P(EveryLearner, KeepsRingsAndWhatAgentsDoOutOfBrains) {
    uint64_t kept = 0, params = 0, all = 0;
    std::map<std::string, uint64_t> states;
    for (const auto& trace : GetParam().trace())
        for (const Value& v : trace->graph().values) {
            if (v.kind != ValueKind::kParam && v.kind != ValueKind::kState) continue;
            if (!states.emplace(v.name, 0).second) continue;
            const auto bytes = static_cast<uint64_t>(v.shape.element_count(1)) * 4;
            all += bytes;
            if (v.is_persistent) kept += bytes;
            if (v.kind == ValueKind::kParam) params += bytes;
            for (const char* of : {"replay.", "last.", "episodes.return", "episodes.length"})
                EXPECT_FALSE(v.is_persistent && v.name.starts_with(of)) << v.name;
        }
    // Weights, two moments, what is published and a target; a few counters and statistics.
    EXPECT_LE(kept, 5 * params + 2048);
    EXPECT_LT(kept, all);
}

TEST_P(EveryLearner, AdaptsAsStronglyAsItIsTold) {
    InterpretedLearner learner = ready();
    const NamedTensors before = learner.weights;
    const auto strength = [](double s) {
        return NamedTensors{{"strength", HostTensor::scalar(s)}};
    };
    learner.run("shrink_and_perturb", strength(0));
    for (const auto& [name, value] : learner.weights) {
        const bool is_moment = name.ends_with(".m") || name.ends_with(".v") ||
                               name.ends_with(".correction1") || name.ends_with(".correction2");
        if (is_moment) {
            EXPECT_EQ(value, HostTensor(value.dtype(), value.shape())) << name;
        } else if (name.starts_with("target.")) {
            EXPECT_EQ(value, learner.weights.at(name.substr(7)));
        } else if (name != "shrink_and_perturb.steps") {
            EXPECT_EQ(value, before.at(name)) << name;
        }
    }
    learner.run("shrink_and_perturb", strength(1));
    const HostTensor &fresh = learner.weights.at(GetParam().weight),
                     &old = before.at(GetParam().weight);
    double size = 0, old_size = 0, product = 0;
    for (int64_t i = 0; i < fresh.element_count(); ++i) {
        size += fresh.get(i) * fresh.get(i);
        old_size += old.get(i) * old.get(i);
        product += fresh.get(i) * old.get(i);
    }
    EXPECT_NEAR(std::sqrt(size / old_size), 1, 0.5);                 // as large
    EXPECT_LT(std::abs(product), 0.7 * std::sqrt(size * old_size));  // and others
    EXPECT_EQ(learner.weights.at("published.version"), before.at("published.version"));
    learner.run("learn");
    EXPECT_EQ(learner.status()[Counter::kGradientSteps], 2u);
}

const AnyLearner kEvery[] = {
    {"Dqn",
     [] {
         Dqn dqn = small_dqn();
         dqn.return_steps = 3;
         dqn.prioritized_alpha = 0.6;
         dqn.dueling = true;
         dqn.replay.buffer_size = 32;
         dqn.replay.normalize_observations = true;
         return build_agent_graphs(choices(), mlp_network({8}), dqn);
     },
     "q.0.weight"},
    {"Sac", [] { return build_agent_graphs(numbers_schema(), mlp_network({8}), small_sac()); },
     "critic1.0.weight"},
    {"Clone",
     [] {
         BehaviorCloning clone;
         clone.buffer_size = 64;
         clone.batch_size = clone.learning_starts = 16;
         clone.normalize_observations = true;
         return build_agent_graphs(choices(), mlp_network({8}), clone);
     },
     "actor.0.weight"},
    {"Praise",
     [] {
         Tamer praise;
         praise.buffer_size = 64;
         return build_agent_graphs(choices(), mlp_network({8}), praise);
     },
     "judge.0.weight"},
    {"Regression",
     [] {
         Regression r;
         r.input_size = 2;
         r.buffer_size = 64;
         r.batch_size = r.learning_starts = 16;
         return build_regression_graphs(mlp_network({8}), r);
     },
     "net.0.weight"},
};

INSTANTIATE_TEST_SUITE_P(All, EveryLearner, ::testing::ValuesIn(kEvery),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace hearth::agents
