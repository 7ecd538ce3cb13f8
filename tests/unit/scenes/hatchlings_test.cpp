// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "hatchlings/player.hpp"
#include "hatchlings/progress.hpp"
#include "random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hearth::hatchlings {
namespace {

enum class Policy { kForage, kRandom, kIdle };

/// Lets all hatchlings play for some seconds; embers for each of them and minute.
double play(World& world, double seconds, Policy policy) {
    uint64_t draws = 0, before = 0, after = 0;
    for (const Hatchling& h : world.hatchlings()) before += h.embers;
    const auto frames = static_cast<int>(seconds * kFramesPerSecond);
    for (int i = 0; i < frames; ++i) {
        for (uint32_t k = 0; world.is_decision_frame() && k < world.hatchlings().size(); ++k) {
            glm::vec2 thrust(0);
            if (policy == Policy::kForage) thrust = forage(world.observe(k));
            if (policy == Policy::kRandom) {
                const float x = scenes::random_signed(7, scenes::Stream::kDriver, draws++);
                const float y = scenes::random_signed(7, scenes::Stream::kDriver, draws++);
                thrust = {x, y};
            }
            world.set_thrust(k, thrust);
        }
        world.step();
    }
    for (const Hatchling& h : world.hatchlings()) after += h.embers;
    return 60.0 * static_cast<double>(after - before) / seconds /
           static_cast<double>(world.hatchlings().size());
}

TEST(Hatchlings, EqualSeedsGiveEqualWorldsAndOthersDoNot) {
    World a({.seed = 3}), b({.seed = 3}), c({.seed = 4});
    for (World* world : {&a, &b, &c}) play(*world, 5, Policy::kRandom);
    EXPECT_EQ(a.state_hash(), b.state_hash());
    EXPECT_NE(a.state_hash(), c.state_hash());
}

TEST(Hatchlings, ForagingPaysAndNoiseDoesNot) {
    World forager({.seed = 5}), random({.seed = 5}), idle({.seed = 5});
    const double foraged = play(forager, 60, Policy::kForage);
    const double at_random = play(random, 60, Policy::kRandom);
    const double idled = play(idle, 60, Policy::kIdle);
    EXPECT_GT(foraged, 4 * at_random) << at_random;
    EXPECT_GT(foraged, 12);
    EXPECT_LT(idled, foraged / 4);
}

TEST(Hatchlings, ObservationsStayNearTheUnitRangeAndAreFinite) {
    World world({.seed = 6, .hatchling_count = 32});
    for (int second = 0; second < 20; ++second) {
        play(world, 1, Policy::kRandom);
        for (uint32_t i = 0; i < 32; ++i)
            for (float value : world.observe(i)) {
                ASSERT_TRUE(std::isfinite(value));
                ASSERT_LE(std::abs(value), 2.0f);
            }
    }
}

TEST(Hatchlings, NearestComesFirst) {
    World world({.seed = 8});
    for (uint32_t i = 0; i < world.hatchlings().size(); ++i) {
        const Observation o = world.observe(i);
        const auto closeness = [&](size_t at) { return std::hypot(o[at], o[at + 1]); };
        EXPECT_GE(closeness(4), closeness(6));
        EXPECT_GE(closeness(6), closeness(8));
        EXPECT_GE(closeness(10), closeness(15));
        EXPECT_GE(closeness(15), closeness(20));
    }
}

TEST(Hatchlings, WithoutDriftersTheirPlacesAreZero) {
    World world({.rules = {.ember_count = 1, .mote_count = 0}});
    const Observation o = world.observe(0);
    for (size_t i = 6; i < 25; ++i) EXPECT_EQ(o[i], 0.0f) << i;
}

TEST(Hatchlings, RewardsAreCountedOnceAndChangeSignsInHotNights) {
    for (const bool is_hot : {false, true}) {
        World world({.seed = 9, .rules = {.is_hot_night = is_hot}});
        play(world, 30, Policy::kForage);
        const Hatchling& h = world.hatchlings()[0];
        const double sign = is_hot ? -1 : 1;
        const double frost = world.rules().frost_reward;
        EXPECT_NEAR(world.take_reward(0), sign * (h.embers + frost * h.motes), 1e-3);
        EXPECT_EQ(world.take_reward(0), 0.0f);
        int64_t score = 0;
        for (const Hatchling& each : world.hatchlings())
            score += static_cast<int64_t>(each.embers) - each.motes;
        EXPECT_EQ(world.score(), is_hot ? -score : score);
    }
}

TEST(Hatchlings, ThrustIsBroughtIntoRangeAndNaNIsNone) {
    World world({});
    world.set_thrust(0, {1e30f, std::numeric_limits<float>::quiet_NaN()});
    EXPECT_EQ(world.hatchlings()[0].thrust, glm::vec2(1, 0));
    play(world, 3, Policy::kIdle);
    for (const Hatchling& h : world.hatchlings()) EXPECT_TRUE(std::isfinite(h.position.x));
}

TEST(Hatchlings, RulesChangeHowManyDriftersThereAre) {
    World world({});
    Rules rules = world.rules();
    rules.mote_count = 20;
    rules.ember_count = 5;
    world.set_rules(rules);
    world.step();
    EXPECT_EQ(world.motes().size(), 20u);
    EXPECT_EQ(world.embers().size(), 5u);
    rules.mote_count = rules.ember_count = 10'000;
    world.set_rules(rules);
    world.step();
    EXPECT_EQ(world.motes().size(), kMaxMotes);
    EXPECT_EQ(world.embers().size(), kMaxEmbers);
}

/// Bars of a world in which policies follow each other, one bar each.
Progress progress_of(std::initializer_list<Policy> policies, bool is_hot_at_end = false) {
    World world({.seed = 12});
    Progress progress;
    size_t bar = 0;
    for (const Policy policy : policies) {
        if (is_hot_at_end && ++bar > policies.size() / 2) {
            Rules rules = world.rules();
            rules.is_hot_night = true;
            world.set_rules(rules);
        }
        for (int second = 0; second < Progress::kBarSeconds; ++second) {
            play(world, 1, policy);
            progress.add(world);
        }
    }
    return progress;
}

TEST(HatchlingsProgress, BarsCountWhatEachHatchlingTouchesInAMinute) {
    World world({.seed = 12});
    Progress progress;
    const double rate = play(world, Progress::kBarSeconds, Policy::kForage);
    EXPECT_TRUE(progress.add(world));
    ASSERT_EQ(progress.bars().size(), 1u);
    EXPECT_NEAR(progress.bars()[0].embers, rate, 1e-3);
    play(world, 1, Policy::kForage);
    EXPECT_FALSE(progress.add(world));
}

TEST(HatchlingsProgress, SaysWhenTheyAreStuckAndWhenTheyGotWorse) {
    constexpr Policy F = Policy::kForage, R = Policy::kRandom, I = Policy::kIdle;
    EXPECT_EQ(progress_of({R}).mood(), Mood::kWatching);
    EXPECT_EQ(progress_of({R, F, F}).mood(), Mood::kLearning);
    EXPECT_GT(progress_of({R, F, F}).gain(), 3);
    EXPECT_EQ(progress_of({F, F, I, I}).mood(), Mood::kDegraded);
    EXPECT_EQ(progress_of({F, I, I, I, I}).mood(), Mood::kStuck);
    EXPECT_EQ(progress_of({F, F, F, F}, true).mood(), Mood::kDegraded);
}

TEST(HatchlingsScript, ReadsEachVerb) {
    const auto script = parse_script(
        "# a lesson\n600 praise 3\n600 possess 0\n\n900 release # enough\n"
        "1800 wind 2 -0.5\n1900 penalty -1\n2000 hot_night\r\n");
    const auto* commands = std::get_if<std::vector<Command>>(&script);
    ASSERT_NE(commands, nullptr) << std::get<ScriptError>(script).message;
    ASSERT_EQ(commands->size(), 6u);
    EXPECT_EQ((*commands)[0].verb, Verb::kPraise);
    EXPECT_EQ((*commands)[0].hatchling, 3u);
    EXPECT_EQ((*commands)[3].value, glm::vec2(2, -0.5f));
    EXPECT_EQ((*commands)[5].frame, 2000u);
}

TEST(HatchlingsScript, SaysWhatIsWrong) {
    const auto problem = [](std::string_view text) {
        const auto script = parse_script(text);
        const auto* error = std::get_if<ScriptError>(&script);
        return error ? error->message : "";
    };
    EXPECT_EQ(problem("5 praise all"),
              "line 1: praise needs the number of a hatchling, found \"all\"");
    EXPECT_EQ(problem("\n5 release\n4 release"),
              "line 3: frames must not decrease, found 4 after 5");
    EXPECT_EQ(problem("5 wind 1"), "line 1: wind needs a number, found \"\"");
    EXPECT_EQ(problem("5 wind nan 1"), "line 1: wind needs a number, found \"nan\"");
    EXPECT_EQ(problem("5 release now"), "line 1: nothing may follow, found \"now\"");
    EXPECT_NE(problem("5 dance").find("no such verb: \"dance\"; there are possess"),
              std::string::npos);
    EXPECT_NE(problem("x praise 1").find("a line begins with a frame"), std::string::npos);
}

}  // namespace
}  // namespace hearth::hatchlings
