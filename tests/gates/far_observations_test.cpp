// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learners that normalize observations do not mind where these lie and how far they spread, or say
// which one an f32 does not resolve.

#include "gates/device_learner.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/agents/run_log.hpp>
#include <hearth/core/philox.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace hearth::gates {
namespace {

using namespace agents;

constexpr int64_t kAgents = 32;

struct FarLearner {
    const char* name;
    AgentSpec (*schema)();
    AgentGraphs (*graphs)(const AgentSpec& schema);
    int rounds, updates;  ///< updates of each round
};

/// The hidden value z, -1 to 1, is seen as offset + scale * z.
AgentSpec sides() {
    return AgentSpec(ObservationSpec().box("place.x"), ActionSpec().discrete("side", 2));
}
AgentSpec aims() {
    return AgentSpec(ObservationSpec().box("place.x"), ActionSpec().continuous("aim"));
}

constexpr ReplayOptions kReplay{.n_agents = kAgents,
                                .buffer_size = 4096,
                                .batch_size = 64,
                                .learning_starts = 64,
                                .normalize_observations = true};

const FarLearner kFar[] = {
    {"Ppo", sides,
     [](const AgentSpec& schema) {
         Ppo ppo{.n_agents = kAgents, .n_steps = 8};
         ppo.learning_rate = 5e-3;
         return build_agent_graphs(schema, mlp_network({16}), ppo);
     },
     120, 16},
    {"Dqn", sides,
     [](const AgentSpec& schema) {
         Dqn dqn{.replay = kReplay};
         dqn.learning_rate = 3e-3;
         dqn.target_update_interval = 20;
         return build_agent_graphs(schema, mlp_network({16}, relu), dqn);
     },
     60, 8},
    {"Sac", aims,
     [](const AgentSpec& schema) {
         Sac sac{.replay = kReplay};
         sac.learning_rate = 3e-3;
         sac.ent_coef_init = 0.1;
         return build_agent_graphs(schema, mlp_network({32}, relu), sac);
     },
     100, 8},
    {"Clone", sides,
     [](const AgentSpec& schema) {
         BehaviorCloning clone{.n_agents = kAgents, .normalize_observations = true};
         clone.learning_rate = 3e-3;
         return build_agent_graphs(schema, mlp_network({16}), clone);
     },
     40, 8},
    {"Tamer", sides,
     [](const AgentSpec& schema) {
         Tamer tamer{.n_agents = kAgents, .batch_size = 64, .normalize_observations = true};
         tamer.credit_window = {1};
         return build_agent_graphs(schema, mlp_network({16}), tamer);
     },
     60, 8}};

struct Place {
    double offset = 0, scale = 1;
};

class FarObservations : public test::VulkanTest, public ::testing::WithParamInterface<FarLearner> {
  protected:
    void SetUp() override {
        test::VulkanTest::SetUp();
        if (IsSkipped()) return;
        auto made = DeviceLearner::create(device(), GetParam().graphs(schema_), kAgents);
        ASSERT_TRUE(made.ok()) << made.status().message();
        learner_ = std::move(made).value();
        auto all = learner_->runner().read_variables();
        ASSERT_TRUE(all.ok()) << all.status().message();
        initial_ = std::move(all).value();
    }

    void TearDown() override {
        learner_.reset();  // before its device
        test::VulkanTest::TearDown();
    }

    bool is(const char* name) const { return std::string_view(GetParam().name) == name; }

    NamedTensors run(const char* entry, const NamedTensors& inputs = {}) {
        auto outputs = learner_->run(entry, inputs, kAgents);
        EXPECT_TRUE(outputs.ok()) << entry << ": " << outputs.status().message();
        return outputs.ok() ? std::move(outputs).value() : NamedTensors();
    }

    static HostTensor seen(const std::vector<double>& z, Place place) {
        HostTensor x(DType::kF32, {kAgents, 1});
        for (int64_t i = 0; i < kAgents; ++i)
            x.set(i, place.offset + place.scale * z[static_cast<size_t>(i)]);
        return x;
    }
    HostTensor rewards(const std::vector<double>& z, const HostTensor& action) const {
        HostTensor reward(DType::kF32, {kAgents});
        for (int64_t i = 0; i < kAgents; ++i) {
            const double own = z[static_cast<size_t>(i)], did = action.get(i);
            reward.set(i, is("Sac") ? 1 - std::abs(did - own) : (did == 1) == (own > 0) ? 1 : 0);
        }
        return reward;
    }

    /// The mean reward of the likeliest actions after learning, over evenly spread values.
    double learned(Place place) {
        for (const auto& [name, value] : initial_) {
            const Status written = learner_->runner().write_variable(name.c_str(), value.bytes());
            EXPECT_TRUE(written.ok()) << name << ": " << written.message();
        }
        const auto same = [](double value) {
            return HostTensor::of({kAgents}, std::vector<double>(kAgents, value));
        };
        HostTensor id(DType::kU32, {kAgents});
        for (int64_t i = 0; i < kAgents; ++i) id.set(i, static_cast<double>(i));
        HostTensor praise = same(0);
        for (int round = 0; round < GetParam().rounds; ++round) {
            std::vector<double> z;
            for (uint32_t i = 0; i < kAgents; ++i)
                z.push_back(2 * uniform_from_bits(philox_bits(5, static_cast<uint32_t>(round), i)) -
                            1);
            const HostTensor x = seen(z, place);
            NamedTensors rows =
                run("act", {{"observation", x},
                            {"exploration", HostTensor::scalar(is("Ppo") || is("Sac") ? 1 : 0.3)}});
            const HostTensor reward = rewards(z, rows.at("action"));
            rows.erase("action");
            rows.erase("version");
            rows["id"] = id;
            rows["observation"] = rows["next_observation"] = x;
            rows["reward"] = reward;
            rows["done_kind"] = same(1);
            if (is("Clone")) {
                HostTensor shown(DType::kF32, {kAgents, 1});
                for (int64_t i = 0; i < kAgents; ++i)
                    shown.set(i, z[static_cast<size_t>(i)] > 0 ? 1 : 0);
                rows = {{"observation", x}, {"action", shown}};
            }
            if (is("Tamer")) {
                rows = {{"id", id},
                        {"observation", x},
                        {"decision", rows.at("decision")},
                        {"praise", praise}};
                for (int64_t i = 0; i < kAgents; ++i) praise.set(i, 2 * reward.get(i) - 1);
            }
            run("store", rows);
            if (is("Ppo")) {
                if (round % 8 != 7) continue;
                run("compute_advantages");
            }
            for (int i = 0; i < GetParam().updates; ++i) run("learn");
            run("publish");
        }
        std::vector<double> z;
        for (int64_t i = 0; i < kAgents; ++i)
            z.push_back(-1 + 2 * (static_cast<double>(i) + 0.5) / static_cast<double>(kAgents));
        const HostTensor reward = rewards(
            z, run("act", {{"observation", seen(z, place)}, {"exploration", HostTensor::scalar(0)}})
                   .at("action"));
        double sum = 0;
        for (int64_t i = 0; i < kAgents; ++i) sum += reward.get(i);
        return sum / static_cast<double>(kAgents);
    }

    bool warns() {
        const auto words = learner_->runner().read_variable("agents.observation_limits");
        EXPECT_TRUE(words.ok()) << words.status().message();
        return std::ranges::any_of(observations_at_limit(schema_, words->as<uint32_t>()),
                                   [](const ObservationAtLimit& observation) {
                                       return observation.name == "place.x" &&
                                              observation.limit == ObservationLimit::kUnresolved;
                                   });
    }

    AgentSpec schema_ = GetParam().schema();
    std::unique_ptr<DeviceLearner> learner_;
    NamedTensors initial_;
};

TEST_P(FarObservations, AreLearnedFromLikeNearOnesOrNamed) {
    const double near = learned({});
    EXPECT_GT(near, 0.85);
    EXPECT_FALSE(warns());
    int named = 0;
    for (const double offset : {1e2, 1e4, 1e7})
        for (const double scale : {1e-3, 1.0, 1e5}) {
            const double far = learned({offset, scale});
            const bool is_named = warns();
            named += is_named;
            RecordProperty(std::to_string(offset) + "+-" + std::to_string(scale),
                           std::to_string(far));
            EXPECT_TRUE(is_named || std::abs(far - near) <= 0.1 * near)
                << offset << " +- " << scale << ": " << far << ", near " << near;
            // Where the spread is a few units in the last place.
            EXPECT_EQ(is_named, scale < offset * 0x1p-19) << offset << " +- " << scale;
        }
    EXPECT_EQ(named, 3);
}

INSTANTIATE_TEST_SUITE_P(All, FarObservations, ::testing::ValuesIn(kFar),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace hearth::gates
