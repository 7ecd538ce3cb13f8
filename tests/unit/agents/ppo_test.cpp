// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// PPO on the reference interpreter: one update beside PyTorch's, and what its rails do.

#include "unit/agents/learner_rig.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>

namespace hearth::agents {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

nlohmann::json reference() {
    nlohmann::json json;
    std::ifstream(HEARTH_TEST_DATA "/agents/ppo.json") >> json;
    return json;
}

/// What data/agents/make_ppo.py trains.
AgentSpec reference_schema() {
    return AgentSpec(ObservationSpec().box("x", 5),
                     ActionSpec().discrete("move", 3).continuous("aim", 2));
}

Ppo reference_settings() {
    Ppo ppo;
    ppo.gamma = 0.97;
    ppo.n_agents = 4;
    ppo.n_steps = 8;
    ppo.n_minibatches = 4;
    ppo.n_epochs = 2;
    ppo.learning_rate = 3e-3;
    ppo.ent_coef = 0.01;
    ppo.normalize_observations = false;
    ppo.normalize_rewards = false;
    ppo.limits.target_kl = 0;
    ppo.limits.clip_obs = 100;
    return ppo;
}

/// The reference rollout stored, and its window prepared; with the reference's order or its own.
class ReferenceWindow {
  public:
    explicit ReferenceWindow(const Ppo& ppo, bool has_own_order = false)
        : json(reference()),
          learner(build_agent_graphs(reference_schema(), mlp_network({8, 8}), ppo)) {
        set_weights("first");
        for (int t = 0; t < 8; ++t) {
            NamedTensors rows = rows_of(t);
            learner.run("store", rows, 4);
        }
        learner.run("compute_advantages");
        if (has_own_order) return;
        const auto order = json.at("order").get<std::vector<double>>();
        learner.weights["learn.order"] = HostTensor::of({64}, order, DType::kI32);
        const HostTensor& advantage = learner.weights.at("batch.advantage");
        learner.weights["learn.minibatches"] =
            minibatch_statistics(order, 8, [&](int64_t i) { return advantage.get(i); });
    }

    void set_weights(const char* which) {
        for (const auto& [name, values] : json.at(which).items()) {
            HostTensor& weight = learner.weights.at(name);
            ASSERT_EQ(weight.element_count(), static_cast<int64_t>(values.size())) << name;
            weight = HostTensor::of(weight.shape(), values.get<std::vector<double>>());
        }
    }
    HostTensor step_of(const char* name, int t) const {
        const auto all = json.at(name).get<std::vector<double>>();
        const size_t per_step = all.size() / 8;
        const auto width = static_cast<int64_t>(per_step / 4);
        const std::vector<double> own(all.begin() + static_cast<int64_t>(t * per_step),
                                      all.begin() + static_cast<int64_t>((t + 1) * per_step));
        return HostTensor::of(width == 1 ? Shape{4} : Shape{4, width}, own);
    }
    /// What `store` takes of step t: four agents.
    NamedTensors rows_of(int t) const {
        NamedTensors rows{{"id", HostTensor(DType::kU32, {4})}};
        for (int64_t i = 0; i < 4; ++i) rows["id"].set(i, static_cast<double>(i));
        for (const char* name :
             {"observation", "next_observation", "reward", "done_kind", "decision", "log_prob"})
            rows[name] = step_of(name, t);
        return rows;
    }
    void expect_near(const HostTensor& found, const nlohmann::json& expected, double tolerance,
                     const std::string& what) const {
        ASSERT_EQ(found.element_count(), static_cast<int64_t>(expected.size())) << what;
        for (int64_t i = 0; i < found.element_count(); ++i)
            ASSERT_NEAR(found.get(i), expected[static_cast<size_t>(i)].get<double>(), tolerance)
                << what << "[" << i << "]";
    }

    nlohmann::json json;
    InterpretedLearner learner;
};

// There is nothing to draw, and all epochs have the same statistics.
TEST(Ppo, AMinibatchThatIsTheWindowHoldsEachSampleOnceInOrder) {
    Ppo ppo = reference_settings();
    ppo.n_minibatches = 1;
    ReferenceWindow window(ppo, /*has_own_order=*/true);
    const HostTensor& order = window.learner.weights.at("learn.order");
    ASSERT_EQ(order.element_count(), 64);
    for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(order.get(i), static_cast<double>(i % 32));
    const HostTensor& advantage = window.learner.weights.at("batch.advantage");
    std::vector<double> places(64);
    for (size_t i = 0; i < 64; ++i) places[i] = order.get(static_cast<int64_t>(i));
    const HostTensor expected =
        minibatch_statistics(places, 32, [&](int64_t i) { return advantage.get(i); });
    const HostTensor& found = window.learner.weights.at("learn.minibatches");
    ASSERT_EQ(found.shape(), expected.shape());
    for (int64_t i = 0; i < found.element_count(); ++i)
        EXPECT_NEAR(found.get(i), expected.get(i), 1e-5) << i;
}

TEST(Ppo, AdvantagesAndReturnsAgreeWithPyTorch) {
    const ReferenceWindow window(reference_settings());
    window.expect_near(window.learner.weights.at("batch.advantage"), window.json.at("advantage"),
                       2e-6, "advantage");
    window.expect_near(window.learner.weights.at("batch.returns"), window.json.at("returns"), 2e-6,
                       "returns");
}

TEST(Ppo, WeightsAfterEachEpochAgreeWithPyTorch) {
    ReferenceWindow window(reference_settings());
    for (int epoch = 1; epoch <= 2; ++epoch) {
        for (int m = 0; m < 4; ++m) {
            window.learner.run("learn");
            const auto at = static_cast<size_t>((epoch - 1) * 4 + m) * 7;
            const AgentMetric order[] = {AgentMetric::kLoss,        AgentMetric::kPolicyLoss,
                                         AgentMetric::kValueLoss,   AgentMetric::kEntropy,
                                         AgentMetric::kKl,          AgentMetric::kClipFraction,
                                         AgentMetric::kGradientNorm};
            for (size_t i = 0; i < 7; ++i)
                EXPECT_NEAR(static_cast<double>(window.learner.status()[order[i]]),
                            window.json.at("diagnostics")[at + i].get<double>(), 2e-5)
                    << kMetricNames[static_cast<size_t>(order[i])] << ", minibatch " << m;
        }
        const auto& expected = window.json.at("after_epoch_" + std::to_string(epoch));
        for (const auto& [name, values] : expected.items())
            window.expect_near(window.learner.weights.at(name), values, 1e-5,
                               name + " after epoch " + std::to_string(epoch));
    }
    EXPECT_EQ(window.learner.status()[Counter::kGradientSteps], 8u);
    EXPECT_EQ(window.learner.status()[Counter::kSamples], 32u);
}

// The window's weights are masks: an absent agent's slots change nothing.
TEST(Ppo, SlotsWithoutAnAgentWeighNothing) {
    Ppo larger = reference_settings();
    larger.n_agents = 6;
    larger.n_minibatches = 1;
    larger.n_epochs = 1;
    Ppo exact = larger;
    exact.n_agents = 4;
    const auto after = [&](const Ppo& ppo) {
        InterpretedLearner learner(
            build_agent_graphs(reference_schema(), mlp_network({8, 8}), ppo));
        const ReferenceWindow window(reference_settings());
        for (int t = 0; t < 8; ++t) {
            NamedTensors rows = window.rows_of(t);
            learner.run("store", rows, 4);
        }
        learner.run("compute_advantages");
        learner.run("learn");
        EXPECT_EQ(learner.status()[Counter::kGradientSteps], 1u);
        return learner.weights;
    };
    const NamedTensors a = after(exact), b = after(larger);
    for (const auto& [name, value] : a) {
        if (!name.starts_with("actor") && !name.starts_with("critic")) continue;
        for (int64_t i = 0; i < value.element_count(); ++i)
            ASSERT_NEAR(value.get(i), b.at(name).get(i), 1e-6) << name;
    }
}

TEST(Ppo, PublishingGivesActWhatWasLearned) {
    ReferenceWindow window(reference_settings());
    InterpretedLearner& learner = window.learner;
    const NamedTensors inputs{{"observation", window.step_of("observation", 0)},
                              {"exploration", HostTensor::scalar(0)}};
    const NamedTensors before = learner.run("act", inputs, 4);
    for (int i = 0; i < 8; ++i) learner.run("learn");
    const NamedTensors while_learning = learner.run("act", inputs, 4);
    EXPECT_EQ(before.at("decision"), while_learning.at("decision"));
    EXPECT_EQ(while_learning.at("version").get(0), 0);
    learner.run("publish");
    const NamedTensors after = learner.run("act", inputs, 4);
    EXPECT_NE(before.at("decision"), after.at("decision"));
    EXPECT_EQ(after.at("version").get(0), 1);
    EXPECT_EQ(learner.status()[Counter::kPublications], 1u);
    for (const char* name : {"actor.0.weight", "actor.log_std", "actor.head.bias"})
        EXPECT_EQ(learner.weights.at("published.param." + std::string(name)),
                  learner.weights.at(name));
}

// --- Rails, by injection ---

TEST(PpoRails, SamplesThatAreNotFiniteAreRefusedAndCounted) {
    for (const char* poisoned :
         {"observation", "next_observation", "reward", "done_kind", "decision", "log_prob"}) {
        ReferenceWindow window(reference_settings());
        InterpretedLearner& learner = window.learner;
        for (int t = 0; t < 8; ++t) {
            NamedTensors rows = window.rows_of(t);
            if (t == 3) rows[poisoned].set(0, static_cast<double>(kNaN));
            learner.run("store", rows, 4);
        }
        learner.run("compute_advantages");
        for (int i = 0; i < 8; ++i) learner.run("learn");
        learner.run("publish");
        EXPECT_EQ(learner.status()[Counter::kSamplesRejected], 1u) << poisoned;
        EXPECT_EQ(learner.status()[Counter::kSamples], 32u + 31u) << poisoned;
        EXPECT_EQ(learner.status()[Counter::kGradientSteps], 8u) << poisoned;
        EXPECT_EQ(learner.first_not_finite(), "") << poisoned;
    }
}

TEST(PpoRails, HugeNumbersAreLimitedAndCounted) {
    Ppo ppo = reference_settings();
    ppo.normalize_observations = true;
    ppo.normalize_rewards = true;
    ppo.limits.clip_obs = 10;
    ReferenceWindow window(ppo);
    InterpretedLearner& learner = window.learner;
    const uint64_t rewards = learner.status()[Counter::kRewardsClamped];
    const uint64_t observations = learner.status()[Counter::kObservationsClamped];
    for (int t = 0; t < 8; ++t) {
        NamedTensors rows = window.rows_of(t);
        rows["observation"].set(t % 4 * 5, 1e30);
        rows["reward"].set(t % 4, t % 2 ? 1e30 : -1e30);
        learner.run("store", rows, 4);
    }
    EXPECT_EQ(learner.status()[Counter::kRewardsClamped], rewards + 8);
    EXPECT_EQ(learner.status()[Counter::kObservationsClamped], observations + 8);
    learner.run("compute_advantages");
    for (int i = 0; i < 8; ++i) learner.run("learn");
    learner.run("publish");
    EXPECT_EQ(learner.first_not_finite(), "");
}

TEST(PpoRails, ChoicesAndAgentsThatDoNotExistAreRefused) {
    ReferenceWindow window(reference_settings());
    InterpretedLearner& learner = window.learner;
    NamedTensors rows = window.rows_of(0);
    rows["decision"].set(0, 3);  // choices are 0, 1, 2
    rows["decision"].set(3, -1);
    rows["id"].set(2, 4);  // agents are 0 to 3
    rows["id"].set(3, 4000000000.0);
    learner.run("store", rows, 4);
    EXPECT_EQ(learner.status()[Counter::kSamplesRejected], 4u);
}

TEST(PpoRails, AFullWindowDropsWhatComesLater) {
    ReferenceWindow window(reference_settings());
    InterpretedLearner& learner = window.learner;
    for (int t = 0; t < 9; ++t) {
        NamedTensors rows = window.rows_of(t % 8);
        learner.run("store", rows, 4);
    }
    EXPECT_EQ(learner.status()[Counter::kSamplesDropped], 4u);
    EXPECT_EQ(learner.status()[Counter::kSamples], 64u);
}

// While a window is learned from, samples are dropped; the game goes on.
TEST(PpoRails, EpisodesThatEndWhileTheWindowIsFullAreCountedAndNotJoined) {
    Ppo ppo = reference_settings();
    ppo.normalize_rewards = false;
    InterpretedLearner learner(build_agent_graphs(reference_schema(), mlp_network({8}), ppo));
    const auto step = [&](double begins, double reward, double end, double seen = 0.1) {
        HostTensor observation(DType::kF32, {1, 5});
        for (int64_t i = 0; i < 5; ++i) observation.set(i, seen);
        learner.frame({{"id", HostTensor(DType::kU32, {1})},
                       {"observation", observation},
                       {"exploration", HostTensor::scalar(1)},
                       {"final_observation", observation},
                       {"reward", HostTensor::of({1}, std::vector<double>{reward})},
                       {"done_kind", HostTensor::of({1}, std::vector<double>{end})},
                       {"episode_start", HostTensor::of({1}, std::vector<double>{begins})}});
    };
    step(1, 100, 0);  // ends nothing: no step of an episode, and no reward
    const auto episode = [&](int length, double nan_at = -1) {
        for (int t = 1; t <= length; ++t)
            step(0, 2, t == length ? 1 : 0, t == nan_at ? static_cast<double>(kNaN) : 0.1);
    };
    for (int i = 0; i < 4; ++i) episode(5);  // the window of 8 is full in the second
    EXPECT_EQ(learner.status()[Counter::kSamplesDropped], 12u);
    EXPECT_EQ(learner.status()[Counter::kEpisodes], 4u);
    EXPECT_EQ(learner.status()[AgentMetric::kEpisodeLength], 5.0f);
    EXPECT_EQ(learner.status()[AgentMetric::kEpisodeReturn], 10.0f);

    // A refused sample (what was seen last) that ends an episode ends it all the same; its reward
    // is refused.
    InterpretedLearner refusing(build_agent_graphs(reference_schema(), mlp_network({8}), ppo));
    std::swap(learner, refusing);
    step(1, 0, 0);
    for (int i = 0; i < 4; ++i) episode(5, 4);
    EXPECT_EQ(learner.status()[Counter::kEpisodes], 4u);
    EXPECT_EQ(learner.status()[AgentMetric::kEpisodeLength], 5.0f);
    EXPECT_EQ(learner.status()[AgentMetric::kEpisodeReturn], 6.0f);
}

NamedTensors trained(const InterpretedLearner& learner) {
    NamedTensors out;
    for (const auto& [name, value] : learner.weights)
        if (name.starts_with("actor") || name.starts_with("critic") || name.starts_with("adam"))
            out[name] = value;
    return out;
}

TEST(PpoRails, AStepWhoseGradientIsNotFiniteIsNotTaken) {
    for (const char* poisoned : {"batch.advantage", "batch.returns", "batch.observation"}) {
        ReferenceWindow window(reference_settings());
        InterpretedLearner& learner = window.learner;
        HostTensor& column = learner.weights.at(poisoned);
        for (int64_t i = 0; i < column.element_count(); ++i)
            column.set(i, poisoned == std::string("batch.observation") ? 0 : 3e38);
        // Observations are cleaned before they reach a network; its weights are not.
        if (poisoned == std::string("batch.observation"))
            learner.weights.at("critic.head.bias").set(0, static_cast<double>(kNaN));
        const NamedTensors before = trained(learner);
        learner.run("learn");
        const StatusView status = learner.status();
        EXPECT_EQ(status[Counter::kSkippedNonFinite], 1u) << poisoned;
        EXPECT_EQ(status[Counter::kGradientSteps], 0u) << poisoned;
        for (const auto& [name, value] : trained(learner)) {
            const auto a = value.bytes(), b = before.at(name).bytes();
            EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin())) << poisoned << ": " << name;
        }
    }
}

TEST(PpoRails, WeightsThatAreNotFiniteAreNotPublished) {
    ReferenceWindow window(reference_settings());
    InterpretedLearner& learner = window.learner;
    learner.run("publish");
    const HostTensor published = learner.weights.at("published.param.actor.0.weight");
    learner.weights.at("actor.1.weight").set(7, std::numeric_limits<double>::infinity());
    learner.run("publish");
    EXPECT_EQ(learner.status()[Counter::kPublications], 1u);
    EXPECT_EQ(learner.status()[Counter::kPublicationsRejected], 1u);
    EXPECT_EQ(learner.weights.at("published.param.actor.0.weight"), published);
    EXPECT_EQ(learner.weights.at("published.version").get(0), 1);
}

TEST(PpoRails, APolicyThatMovedTooFarStopsUntilTheNextWindow) {
    Ppo ppo = reference_settings();
    ppo.limits.target_kl = 0.02;
    ReferenceWindow window(ppo);
    InterpretedLearner& learner = window.learner;
    // The reference's old log-probabilities are noisy: about 0.011 apart; here farther.
    HostTensor& old = learner.weights.at("batch.log_prob");
    const HostTensor near = old;
    for (int64_t i = 0; i < 32; i += 2) old.set(i, old.get(i) - 1);
    const NamedTensors before = trained(learner);
    learner.run("learn");
    EXPECT_EQ(learner.status()[Counter::kSkippedKl], 1u);
    old = near;
    learner.run("learn");  // near enough, but this window is over
    EXPECT_EQ(learner.status()[Counter::kSkippedKl], 2u);
    EXPECT_EQ(trained(learner), before);
    learner.run("compute_advantages");
    EXPECT_EQ(learner.weights.at("learn.has_stopped").get(0), 0);
}

TEST(PpoRails, AStepThatChangesAWeightTooMuchAtOnceIsNotTaken) {
    Ppo ppo = reference_settings();
    ppo.learning_rate = Hyperparameter::tunable(3e-3);
    ReferenceWindow window(ppo);
    InterpretedLearner& learner = window.learner;
    const NamedTensors before = trained(learner);
    learner.run("learn", {{"learning_rate", HostTensor::scalar(1)}});
    EXPECT_EQ(learner.status()[Counter::kSkippedRatio], 1u);
    EXPECT_GT(learner.status()[AgentMetric::kUpdateToWeightRatio], 0.5f);
    EXPECT_EQ(trained(learner), before);
    learner.run("learn", {{"learning_rate", HostTensor::scalar(1e-3)}});
    EXPECT_EQ(learner.status()[Counter::kGradientSteps], 1u);
    EXPECT_NE(trained(learner), before);
}

TEST(PpoRails, CountersGoOnBeyond32Bits) {
    ReferenceWindow window(reference_settings());
    InterpretedLearner& learner = window.learner;
    const auto samples = static_cast<int64_t>(Counter::kSamples);
    learner.weights.at("agents.counters.store").set(samples, 4294967294.0);
    learner.weights.at("agents.carries.store").set(samples, 1);
    NamedTensors rows = window.rows_of(0);
    learner.run("store", rows, 4);
    EXPECT_EQ(learner.status()[Counter::kSamples], 8589934594u);  // 2^33 + 2
}

TEST(Ppo, TheLeashPullsTowardsTheFirstActor) {
    Ppo ppo = reference_settings();
    ppo.reference_kl_coef = Hyperparameter::tunable(0);
    const auto apart = [&](double leash) {
        ReferenceWindow window(ppo);
        InterpretedLearner& learner = window.learner;
        for (const char* name :
             {"0.weight", "0.bias", "1.weight", "1.bias", "head.weight", "head.bias", "log_std"})
            learner.weights.at("reference.actor." + std::string(name)) =
                learner.weights.at("actor." + std::string(name));
        for (int i = 0; i < 8; ++i)
            learner.run("learn", {{"reference_kl_coef", HostTensor::scalar(leash)}});
        return static_cast<double>(learner.status()[AgentMetric::kReferenceKl]);
    };
    const double free = apart(0), held = apart(10);
    EXPECT_GT(free, 0);
    EXPECT_LT(held, 0.5 * free);
}

NamedTensors shown(std::vector<double> seen, std::vector<double> action) {
    const auto rows = static_cast<int64_t>(seen.size()) / 5;
    return {{"observation", HostTensor::of({rows, 5}, seen)},
            {"action", HostTensor::of({rows, 3}, action)}};
}

// What a person shows is learned beside what is rewarded, in the same step.
TEST(Ppo, DemonstrationsPullTheActorTowardsThem) {
    Ppo ppo = reference_settings();
    ppo.demo_capacity = 64;
    ppo.bc_coef = Hyperparameter::tunable(0);
    const auto likelihood = [&](double weight) {
        ReferenceWindow window(ppo);
        InterpretedLearner& learner = window.learner;
        const std::vector<double> seen = {0.3, -0.2, 0.5, 0.1, -0.4};
        for (int i = 0; i < 4; ++i) learner.run("add_demonstrations", shown(seen, {2, 0.5, -0.5}));
        for (int epoch = 0; epoch < 10; ++epoch) {
            learner.weights.at("learn.cursor").set(0, 0);
            for (int i = 0; i < 8; ++i)
                learner.run("learn", {{"bc_coef", HostTensor::scalar(weight)}});
        }
        learner.run("publish");
        const NamedTensors said = learner.run("act", {{"observation", HostTensor::of({1, 5}, seen)},
                                                      {"exploration", HostTensor::scalar(0)}});
        const HostTensor& d = said.at("decision");
        return std::abs(d.get(1) - 0.5) + std::abs(d.get(2) + 0.5);
    };
    const double free = likelihood(0), taught = likelihood(10);
    EXPECT_GT(free, 0.3);
    EXPECT_LT(taught, 0.5 * free);
}

TEST(Ppo, WithoutDemonstrationsTheirTermIsNothing) {
    Ppo ppo = reference_settings(), teachable = ppo;
    teachable.demo_capacity = 64;
    teachable.bc_coef = 10;
    ReferenceWindow plain(ppo), window(teachable);
    plain.learner.run("learn");
    window.learner.run("learn");
    EXPECT_EQ(window.learner.status()[Counter::kGradientSteps], 1u);
    for (const auto& [name, value] : trained(plain.learner))
        for (int64_t i = 0; i < value.element_count(); ++i)
            EXPECT_NEAR(window.learner.weights.at(name).get(i), value.get(i), 1e-7) << name;
}

TEST(PpoRails, DemonstrationsThatAreNotFiniteOrNoActionsAreRefusedAndCounted) {
    Ppo ppo = reference_settings();
    ppo.demo_capacity = 16;
    ReferenceWindow window(ppo);
    InterpretedLearner& learner = window.learner;
    const uint64_t stored = learner.status()[Counter::kSamples];
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> seen(5, 0.1);
    for (const std::vector<double>& action : std::vector<std::vector<double>>{
             {0, static_cast<double>(kNaN), 0}, {0, inf, 0}, {3, 0, 0}, {-1, 0, 0}})
        learner.run("add_demonstrations", shown(seen, action));
    learner.run("add_demonstrations", shown({0, 0, static_cast<double>(kNaN), 0, 0}, {0, 0, 0}));
    EXPECT_EQ(learner.status()[Counter::kSamplesRejected], 5u);
    EXPECT_EQ(learner.status()[Counter::kSamples], stored);
    // Huge ones are finite: they are stored, and steps that they would spoil are not taken.
    learner.run("add_demonstrations", shown({1e30, -1e30, 0, 0, 0}, {1, 1e30, -1e30}));
    EXPECT_EQ(learner.status()[Counter::kSamples], stored + 1);
    for (int i = 0; i < 8; ++i) learner.run("learn");
    learner.run("publish");
    EXPECT_EQ(learner.first_not_finite(), "");
}

// Acted, stored and learned from: as long as nothing was learned, the policy is the one that acted.
// With memory, sequences must begin with what was remembered and forget where an episode ended.
TEST(Ppo, TheFirstMinibatchSeesThePolicyThatActed) {
    for (const bool has_memory : {false, true}) {
        Ppo ppo;
        ppo.n_agents = 3;
        ppo.n_steps = 12;
        ppo.n_minibatches = 1;
        ppo.n_epochs = 1;
        ppo.bptt_length = has_memory ? 4 : 1;
        ppo.limits.target_kl = 0;
        InterpretedLearner learner(build_agent_graphs(
            reference_schema(), has_memory ? gru_network(6) : mlp_network({8}), ppo));
        if (has_memory)  // heads start so small that memory would hardly show
            for (const char* name : {"actor.head.weight", "published.param.actor.head.weight"}) {
                HostTensor& head = learner.weights.at(name);
                for (int64_t i = 0; i < head.element_count(); ++i)
                    head.set(i, std::sin(2.1 * static_cast<double>(i)));
            }
        for (int window = 0; window < 2; ++window) {
            HostTensor is_first = HostTensor::of({3}, std::vector<float>{1, 1, 1});
            for (int t = 0; t < 12; ++t) {
                NamedTensors rows{{"id", HostTensor(DType::kU32, {3})},
                                  {"observation", HostTensor(DType::kF32, {3, 5})},
                                  {"next_observation", HostTensor(DType::kF32, {3, 5})},
                                  {"exploration", HostTensor::scalar(1)},
                                  {"episode_start", is_first},
                                  {"reward", HostTensor(DType::kF32, {3})},
                                  {"done_kind", HostTensor(DType::kF32, {3})}};
                for (int64_t i = 0; i < 15; ++i) {
                    rows["observation"].set(i, std::sin(0.9 * static_cast<double>(i + 15 * t)));
                    rows["next_observation"].set(
                        i, std::sin(0.9 * static_cast<double>(i + 15 * (t + 1))));
                }
                for (int64_t i = 0; i < 3; ++i) rows["id"].set(i, static_cast<double>(i));
                const bool ends = t == 5 || t == 8;
                rows["done_kind"].set(1, ends ? 1 : 0);
                const auto only = [&](std::initializer_list<const char*> names) {
                    NamedTensors some;
                    for (const char* name : names)
                        if (rows.contains(name)) some[name] = rows.at(name);
                    return some;
                };
                const NamedTensors said = learner.run(
                    "act",
                    has_memory ? only({"observation", "exploration", "id", "episode_start"})
                               : only({"observation", "exploration"}),
                    3);
                for (const auto& [name, value] : said) rows[name] = value;
                learner.run("store",
                            only({"id", "observation", "decision", "log_prob", "recurrent_state",
                                  "reward", "done_kind", "next_observation"}),
                            3);
                is_first = HostTensor::of({3}, std::vector<float>{0, ends ? 1.0f : 0.0f, 0});
            }
            learner.run("compute_advantages");
            learner.run("learn");
            EXPECT_NEAR(static_cast<double>(learner.status()[AgentMetric::kKl]), 0, 1e-6)
                << has_memory << window;
            EXPECT_EQ(learner.status()[AgentMetric::kClipFraction], 0.0f) << has_memory << window;
            learner.run("publish");
        }
        EXPECT_EQ(learner.status()[Counter::kGradientSteps], 2u);
    }
}

// The advantage of a single sample is not normalized: relative to itself it would be zero.
TEST(Ppo, AMinibatchOfOneSampleHasAPolicyGradient) {
    Ppo ppo = reference_settings();
    ppo.n_agents = 1;
    ppo.n_steps = ppo.n_minibatches = 4;
    ppo.n_epochs = 1;
    ppo.ent_coef = 0;
    InterpretedLearner learner(build_agent_graphs(reference_schema(), mlp_network({8}), ppo));
    for (int t = 0; t < 4; ++t)
        learner.run("store", {{"id", HostTensor(DType::kU32, {1})},
                              {"observation", HostTensor(DType::kF32, {1, 5})},
                              {"decision", HostTensor(DType::kF32, {1, 3})},
                              {"log_prob", HostTensor::of({1}, std::vector<double>{-2})},
                              {"reward", HostTensor::of({1}, std::vector<double>{t - 1.5})},
                              {"done_kind", HostTensor(DType::kF32, {1})},
                              {"next_observation", HostTensor(DType::kF32, {1, 5})}});
    learner.run("compute_advantages");
    const HostTensor before = learner.weights.at("actor.head.bias");
    learner.run("learn");
    EXPECT_EQ(learner.status()[Counter::kGradientSteps], 1u);
    EXPECT_NE(learner.status()[AgentMetric::kPolicyLoss], 0.0f);
    EXPECT_NE(learner.weights.at("actor.head.bias"), before);
}

TEST(Ppo, CuriosityRewardsWhatItsNetworkHasNotLearned) {
    const Ppo plain = reference_settings();
    Ppo curious = plain;
    curious.rnd_coef = Hyperparameter::tunable(1);
    curious.rnd_size = 8;
    curious.n_minibatches = 1;
    curious.n_epochs = 32;
    curious.limits.target_kl = 0;
    InterpretedLearner learner(
        build_agent_graphs(reference_schema(), mlp_network({8, 8}), curious));
    const ReferenceWindow window(plain);
    const auto returns_with = [&](double coefficient) {
        for (int t = 0; t < 8; ++t) {
            NamedTensors rows = window.rows_of(t);
            learner.run("store", rows, 4);
        }
        learner.run("compute_advantages", {{"rnd_coef", HostTensor::scalar(coefficient)}});
        return learner.weights.at("batch.returns");
    };
    const auto sum_of = [](const HostTensor& x) {
        double total = 0;
        for (int64_t i = 0; i < x.element_count(); ++i) total += x.get(i);
        return total;
    };
    const NamedTensors initial = learner.weights;
    const double without = sum_of(returns_with(0));
    learner.weights = initial;
    const double with = sum_of(returns_with(1));
    EXPECT_GT(with, without + 1) << "each observation is new";
    EXPECT_GT(learner.weights.at("rnd.returns.count").get(0), 0);
    for (int i = 0; i < 32; ++i) learner.run("learn");
    EXPECT_EQ(learner.status()[Counter::kGradientSteps], 32u);
    EXPECT_NE(learner.weights.at("rnd.predictor.0.weight"), initial.at("rnd.predictor.0.weight"));
    EXPECT_EQ(learner.weights.at("rnd.target.0.weight"), initial.at("rnd.target.0.weight"));
    EXPECT_NE(initial.at("rnd.target.0.weight"), initial.at("rnd.predictor.0.weight"));
    // The same again: the difference that curiosity makes has shrunk.  Rewards are normalized by
    // statistics that have changed, so both are computed anew.
    NamedTensors later = learner.weights;
    const double with_again = sum_of(returns_with(1));
    learner.weights = later;
    const double without_again = sum_of(returns_with(0));
    EXPECT_LT(with_again - without_again, 0.7 * (with - without));

    const ReferenceWindow off(plain);
    for (const auto& [name, value] : off.learner.weights)
        EXPECT_FALSE(name.starts_with("rnd.") || name == "batch.novel") << name;
}

TEST(Ppo, SettingsThatCannotWorkAreErrors) {
    const auto error = [](auto change) {
        Ppo ppo = reference_settings();
        change(ppo);
        return build_agent_graphs(reference_schema(), mlp_network({8}), ppo)[0]->status().message();
    };
    EXPECT_EQ(error([](Ppo&) {}), "");
    EXPECT_NE(error([](Ppo& p) { p.n_minibatches = 5; }).find("5 minibatches do not divide"),
              std::string::npos);
    EXPECT_NE(error([](Ppo& p) { p.bptt_length = 4; }).find("without recurrent state"),
              std::string::npos);
    EXPECT_NE(error([](Ppo& p) { p.n_epochs = 0; }).find("epochs is 0"), std::string::npos);
    EXPECT_NE(error([](Ppo& p) { p.demo_capacity = -1; }).find("demo_capacity is -1"),
              std::string::npos);
    const AgentSpec blind(ObservationSpec().entities("foes", 2, ObservationSpec().box("x")),
                          ActionSpec().discrete("move", 2));
    EXPECT_NE(build_agent_graphs(blind, mlp_network({8}), Ppo{.rnd_coef = 0.1})[0]
                  ->status()
                  .message()
                  .find("all observations are entities"),
              std::string::npos);
}

}  // namespace
}  // namespace hearth::agents
