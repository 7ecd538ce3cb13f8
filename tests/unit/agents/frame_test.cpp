// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The entry `frame` against `act` and `store` with the host in between: the same samples are stored
// and the same actions taken.

#include "unit/agents/learner_rig.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hearth::agents {
namespace {

constexpr int64_t kAgents = 3;

struct AnyLearner {
    const char* name;
    AgentGraphs (*trace)();
    bool has_memory;
    bool has_mask;
    std::vector<const char*> columns;  ///< that must be equal
};

HostTensor filled(const Shape& shape, double phase, DType dtype = DType::kF32) {
    HostTensor data(dtype, shape);
    for (int64_t i = 0; i < data.element_count(); ++i)
        data.set(i, std::sin(1.9 * static_cast<double>(i) + phase));
    return data;
}

NamedTensors only(const NamedTensors& all, std::initializer_list<const char*> names) {
    NamedTensors some;
    for (const char* name : names)
        if (all.contains(name)) some[name] = all.at(name);
    return some;
}

class FrameEntry : public ::testing::TestWithParam<AnyLearner> {};

TEST_P(FrameEntry, StoresAndActsAsTheTwoEntriesDo) {
    const AnyLearner& kind = GetParam();
    InterpretedLearner apart(kind.trace()), joined(kind.trace());
    HostTensor id(DType::kU32, {kAgents});
    for (int64_t i = 0; i < kAgents; ++i) id.set(i, static_cast<double>(kAgents - 1 - i));
    HostTensor begins = HostTensor::of({kAgents}, std::vector<float>(kAgents, 1.0f));
    HostTensor none(DType::kF32, {kAgents});
    NamedTensors said, before;
    for (int t = 0; t < 8; ++t) {
        NamedTensors now{{"id", id},
                         {"observation", filled({kAgents, 2}, t)},
                         {"exploration", HostTensor::scalar(kind.has_mask ? 0.5 : 1)},
                         {"final_observation", filled({kAgents, 2}, 100 + t)},
                         {"reward", filled({kAgents}, 50 + t)},
                         {"done_kind", none},
                         {"episode_start", begins}};
        if (kind.has_mask)
            now["mask"] =
                HostTensor::of({kAgents, 3}, std::vector<float>{1, 0, 1, 1, 1, 1, 0, 1, 1});
        if (kind.has_mask)
            now["final_mask"] =
                HostTensor::of({kAgents, 3}, std::vector<float>{0, 0, 1, 0, 1, 0, 1, 0, 0});
        if (t == 3) now["done_kind"].set(0, 1);
        if (t == 5) now["done_kind"].set(1, 2);
        if (t == 6) now["observation"].set(4, std::numeric_limits<double>::quiet_NaN());

        // One entry.
        NamedTensors inputs = now;
        inputs.erase(kind.has_mask ? "" : "mask");
        joined.frame(only(inputs, {"id", "observation", "mask", "exploration", "final_observation",
                                   "final_mask", "reward", "done_kind", "episode_start"}),
                     kAgents);

        // Two entries, and a host that remembers.
        if (t > 0) {
            NamedTensors rows = said;
            rows["id"] = id;
            rows["observation"] = before.at("observation");
            rows["reward"] = now.at("reward");
            rows["done_kind"] = now.at("done_kind");
            rows["next_observation"] = now.at("observation");
            for (int64_t i = 0; i < kAgents; ++i)
                if (now.at("done_kind").get(i) == 2)
                    for (int64_t k = 0; k < 2; ++k)
                        rows["next_observation"].set(2 * i + k,
                                                     now.at("final_observation").get(2 * i + k));
            if (kind.has_mask) {
                rows["mask"] = before.at("mask");
                rows["next_mask"] = now.at("mask");
                for (int64_t i = 0; i < kAgents; ++i)
                    if (now.at("done_kind").get(i) == 2)
                        for (int64_t k = 0; k < 3; ++k)
                            rows["next_mask"].set(3 * i + k, now.at("final_mask").get(3 * i + k));
            }
            apart.run(
                "store",
                only(rows, {"id", "observation", "mask", "decision", "log_prob", "recurrent_state",
                            "reward", "done_kind", "next_observation", "next_mask"}),
                kAgents);
        }
        NamedTensors acting = only(now, {"observation", "mask", "exploration"});
        if (kind.has_memory) {
            acting["id"] = id;
            acting["episode_start"] = begins;
            for (int64_t i = 0; i < kAgents; ++i)
                if (now.at("done_kind").get(i) != 0) acting["episode_start"].set(i, 1);
        }
        said = apart.run("act", acting, kAgents);
        before = now;
        const HostTensor& actions = joined.weights.at("last.action");
        const int64_t width = said.at("action").element_count() / kAgents;
        for (int64_t i = 0; i < kAgents; ++i)
            for (int64_t k = 0; k < width; ++k)
                ASSERT_EQ(actions.get((kAgents - 1 - i) * width + k),
                          said.at("action").get(i * width + k))
                    << "frame " << t << ", row " << i;
        begins = none;
    }
    for (const char* column : kind.columns) {
        const HostTensor &a = apart.weights.at(column), &b = joined.weights.at(column);
        for (int64_t i = 0; i < a.element_count(); ++i)
            ASSERT_EQ(a.get(i), b.get(i)) << column << "[" << i << "]";
    }
    for (size_t i = 0; i < kCounterCount; ++i)
        EXPECT_EQ(apart.status()[static_cast<Counter>(i)], joined.status()[static_cast<Counter>(i)])
            << kCounterNames[i];
    joined.run("publish");
    EXPECT_EQ(joined.status()[Counter::kPublications], 1u);
    // The sum in one state is as old as the last frame, whose two sound samples were added later.
    const auto words = status_words(joined.weights.at("agents.status").as<uint32_t>(),
                                    joined.weights.at("agents.recent").as<uint32_t>());
    const StatusView gathered(words);
    EXPECT_EQ(gathered[Counter::kSamples],
              joined.status()[Counter::kSamples] - (joined.adds_samples() ? 2 : 0));
    EXPECT_EQ(gathered[Counter::kPublications], 0u);
    if (!joined.adds_samples()) {
        EXPECT_EQ(gathered[AgentMetric::kEpisodeReturn],
                  joined.status()[AgentMetric::kEpisodeReturn]);
    }
    EXPECT_EQ(joined.status()[Counter::kSamples], 7u * 3 - 2);
    EXPECT_EQ(joined.status()[Counter::kSamplesRejected], 2u);  // it ends one and begins one
    EXPECT_EQ(joined.status()[Counter::kEpisodes], 2u);
}

AgentSpec hybrid() {
    return AgentSpec(ObservationSpec().box("x", 2),
                     ActionSpec().discrete("move", 3).continuous("aim", 2));
}

Ppo small_ppo() {
    Ppo ppo;
    ppo.n_agents = 4;
    ppo.n_steps = 8;
    return ppo;
}

const std::vector<const char*> kWindow = {
    "rollout.observation", "rollout.decision", "rollout.log_prob",         "rollout.reward",
    "rollout.end",         "rollout.valid",    "rollout.next_observation", "rollout.step"};
const std::vector<const char*> kReplay = {"replay.observation", "replay.decision",
                                          "replay.reward",      "replay.end",
                                          "replay.size",        "replay.next_observation"};

const AnyLearner kLearners[] = {
    {"Ppo", [] { return build_agent_graphs(hybrid(), mlp_network({4}), small_ppo()); }, false,
     false, kWindow},
    {"PpoWithMemory",
     [] {
         Ppo ppo = small_ppo();
         ppo.bptt_length = 4;
         return build_agent_graphs(hybrid(), gru_network(4), ppo);
     },
     true, false,
     [] {
         std::vector<const char*> columns = kWindow;
         columns.push_back("rollout.recurrent_state");
         columns.push_back("recurrent_state");
         return columns;
     }()},
    {"Dqn",
     [] {
         Dqn dqn;
         dqn.replay = {.n_agents = 4, .buffer_size = 32, .batch_size = 4, .learning_starts = 4};
         dqn.return_steps = 3;
         const AgentSpec schema(ObservationSpec().box("x", 2),
                                ActionSpec().discrete("move", 3, true));
         return build_agent_graphs(schema, mlp_network({4}), dqn);
     },
     false, true,
     [] {
         std::vector<const char*> columns = kReplay;
         columns.push_back("replay.next_mask");
         columns.push_back("replay.discount");
         return columns;
     }()},
    {"Sac",
     [] {
         Sac sac;
         sac.replay = {.n_agents = 4, .buffer_size = 32, .batch_size = 4, .learning_starts = 4};
         const AgentSpec schema(ObservationSpec().box("x", 2), ActionSpec().continuous("aim", 2));
         return build_agent_graphs(schema, mlp_network({4}), sac);
     },
     false, false, kReplay},
};

INSTANTIATE_TEST_SUITE_P(All, FrameEntry, ::testing::ValuesIn(kLearners),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(FrameEntry, PraiseSaidNowIsOfTheDecisionThatEnds) {
    Tamer praise;
    praise.n_agents = 2;
    praise.buffer_size = 8;
    praise.credit_window = {1, 0.5};
    const AgentSpec schema(ObservationSpec().box("x"), ActionSpec().discrete("move", 3));
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({}), praise));
    const auto frame = [&](double said, double begins) {
        learner.frame({{"id", HostTensor(DType::kU32, {1})},
                       {"observation", HostTensor(DType::kF32, {1, 1})},
                       {"exploration", HostTensor::scalar(1)},
                       {"praise", HostTensor::of({1}, std::vector<double>{said})},
                       {"done_kind", HostTensor(DType::kF32, {1})},
                       {"episode_start", HostTensor::of({1}, std::vector<double>{begins})}});
    };
    frame(1, 1);  // nothing was decided yet
    EXPECT_EQ(learner.weights.at("replay.size").get(0), 0);
    frame(0, 0);
    frame(-1, 0);
    frame(std::numeric_limits<double>::quiet_NaN(), 0);
    const double labels[] = {-0.5, -1, 0}, weights[] = {0.5, 1, 0};
    for (int64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(learner.weights.at("replay.label").get(i), labels[i]) << i;
        EXPECT_EQ(learner.weights.at("replay.weight").get(i), weights[i]) << i;
    }
    EXPECT_EQ(learner.status()[Counter::kSamplesRejected], 0u);
}

}  // namespace
}  // namespace hearth::agents
