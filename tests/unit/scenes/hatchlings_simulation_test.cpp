// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The clearing as tensor code beside the clearing in C++.

#include "hatchlings/player.hpp"
#include "hatchlings/simulation.hpp"

#include <hearth/eval.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace hearth::hatchlings {
namespace {

constexpr uint32_t kWorlds = 3;
constexpr uint64_t kKey = 11;

Tensor counter_of(Trace& trace, uint32_t counter) {
    return trace.constant(counter, DType::kU32);
}

std::vector<float> row_of(const HostTensor& state, uint32_t row) {
    const size_t width = state.as<float>().size() / kWorlds;
    const auto all = state.as<float>().subspan(row * width, width);
    return {all.begin(), all.end()};
}

TEST(HatchlingsSimulation, BeginsAsTheWorldInCppDoesWithRulesThatVary) {
    const SimulationOptions options{.varies_rules = true};
    Trace trace("begin");
    const auto begun = eval(make_simulation(options).reset(counter_of(trace, 5), kKey, kWorlds));
    ASSERT_TRUE(begun.ok()) << begun.status().message();
    int hot = 0;
    for (uint32_t w = 0; w < kWorlds; ++w) {
        const Chance chance = chance_of_begin(5, kKey, w, kWorlds);
        const World world({.rules = varied_rules(chance)}, chance);
        hot += world.rules().is_hot_night ? 1 : 0;
        EXPECT_GE(world.rules().mote_count, kFewestMotes);
        EXPECT_LE(world.rules().mote_count, kMostVariedMotes);
        const std::vector<float> found = row_of(*begun, w);
        const std::vector<float> expected = state_of(options, world_of(options, found));
        const std::vector<float> in_cpp = state_of(options, world.state());
        ASSERT_EQ(expected.size(), in_cpp.size());
        for (size_t i = 0; i < in_cpp.size(); ++i)
            ASSERT_NEAR(expected[i], in_cpp[i], 2e-6) << "world " << w << ", number " << i;
    }
    EXPECT_GT(hot, 0) << "the key was chosen so that there are both";
    EXPECT_LT(hot, static_cast<int>(kWorlds));
}

/// 45 decisions of three clearings, each from where the one before left it: half of the hatchlings
/// forage, the others do not look.
class HatchlingsSimulationSteps : public ::testing::TestWithParam<bool> {};

TEST_P(HatchlingsSimulationSteps, AreThoseOfTheWorldInCpp) {
    const SimulationOptions options{.hatchlings = 24, .varies_rules = GetParam()};
    const agents::VectorEnv simulation = make_simulation(options);
    const int64_t agents = int64_t{kWorlds} * options.hatchlings;
    std::vector<World> worlds;
    for (uint32_t w = 0; w < kWorlds; ++w) {
        const Chance chance = chance_of_begin(0, kKey, w, kWorlds);
        worlds.emplace_back(
            WorldOptions{.hatchling_count = options.hatchlings,
                         .rules = options.varies_rules ? varied_rules(chance) : options.rules},
            chance);
    }
    uint32_t embers = 0, motes = 0;
    for (uint32_t t = 0; t < 45; ++t) {
        HostTensor before(DType::kF32, {kWorlds, simulation.state_size});
        HostTensor action(DType::kF32, {agents, kActionWidth});
        auto at = before.as<float>().begin();
        auto thrust = action.as<float>().begin();
        for (uint32_t w = 0; w < kWorlds; ++w) {
            at = std::ranges::copy(state_of(options, worlds[w].state()), at).out;
            for (uint32_t i = 0; i < options.hatchlings; ++i) {
                const Chance random{.key = kKey, .counter = t, .row = w};
                const glm::vec2 to = i % 2 == 0 ? forage(worlds[w].observe(i))
                                                : 1.2f * random.pair(Draw::kRules, 2 * i);
                *thrust++ = to.x;
                *thrust++ = to.y;
                worlds[w].set_thrust(i, to);
            }
        }
        Trace trace("step");
        const agents::StepResult step = simulation.step(
            trace.constant(before), trace.constant(action), counter_of(trace, t), kKey);
        const std::vector<Tensor> asked = {step.state, step.reward, simulation.observe(step.state),
                                           cast(step.terminated, DType::kF32)};
        const auto found = eval(asked);
        ASSERT_TRUE(found.ok()) << found.status().message();
        for (uint32_t w = 0; w < kWorlds; ++w) {
            World& world = worlds[w];
            for (uint32_t f = 0; f < kFramesPerDecision; ++f)
                world.step(chance_of_frame(t, kKey, f, w, kWorlds));
            const std::vector<float> state = row_of((*found)[0], w);
            const std::vector<float> expected = state_of(options, world.state());
            // Four frames' roundings of metres; those that are not there are not compared.
            const std::vector<float> known = state_of(options, world_of(options, state));
            for (size_t i = 0; i < expected.size(); ++i)
                ASSERT_NEAR(known[i], expected[i], 1e-5)
                    << "step " << t << ", world " << w << ", number " << i;
            EXPECT_EQ((*found)[3].get(w), 0);
            for (uint32_t i = 0; i < options.hatchlings; ++i) {
                const int64_t agent = int64_t{w} * options.hatchlings + i;
                ASSERT_NEAR((*found)[1].get(agent), static_cast<double>(world.take_reward(i)), 1e-6)
                    << "step " << t << ", world " << w << ", hatchling " << i;
                const Observation seen = world.observe(i);
                for (int64_t k = 0; k < kObservationWidth; ++k)
                    ASSERT_NEAR((*found)[2].get(agent * kObservationWidth + k),
                                static_cast<double>(seen[static_cast<size_t>(k)]), 1e-5)
                        << "step " << t << ", world " << w << ", hatchling " << i << ", " << k;
            }
        }
    }
    for (const World& world : worlds)
        for (const Hatchling& h : world.hatchlings()) {
            embers += h.embers;
            motes += h.motes;
        }
    EXPECT_GE(embers, 20u) << "there was something to compare";
    EXPECT_GE(motes, 5u);
}

INSTANTIATE_TEST_SUITE_P(Rules, HatchlingsSimulationSteps, ::testing::Bool(),
                         [](const auto& instance) { return instance.param ? "Varied" : "Fixed"; });

}  // namespace
}  // namespace hearth::hatchlings
