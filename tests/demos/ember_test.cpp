// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ember without a window: the garden, what a creature sees, and that its card comes from its brain
// and tells who raised it.

#include "card.hpp"
#include "life.hpp"
#include "raise.hpp"

#include <hearth/cpu.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>

namespace hearth::ember {
namespace {

/// Plays without a brain: the creature goes where `player` leads it, and rests otherwise.
World played(uint64_t seed, int frames) {
    World world(seed);
    ScriptedPlayer player(Temper::kPatient, seed);
    for (int i = 0; i < frames; ++i) {
        const Gesture gesture = player.play(world);
        world.set_hand(gesture.hand);
        if (gesture.leads) world.interrupt();
        if (gesture.shows) world.finish_led(Act::kVisitBerry, *gesture.shows);
        if (!gesture.leads && world.is_waiting()) world.begin(Act::kWander);
        Steps steps;
        if (const auto target = world.target()) steps = steps_towards(world.body(), *target);
        world.step(gesture.leads.value_or(steps), gesture.leads.has_value());
    }
    return world;
}

TEST(EmberWorld, EqualSeedsGiveEqualWorlds) {
    const World a = played(5, 3600), b = played(5, 3600), other = played(6, 3600);
    EXPECT_EQ(a.body().position, b.body().position);
    EXPECT_EQ(a.needs().hunger, b.needs().hunger);
    EXPECT_NE(a.body().position, other.body().position);
}

TEST(EmberWorld, AVisitEndsAtItsThingAndIsFelt) {
    World world(3);
    world.begin(visit(Thing::kThistle));
    ASSERT_EQ(world.doing().act, visit(Thing::kThistle));
    for (int i = 0; i < 600 && !world.doing().is_over; ++i)
        world.step(steps_towards(world.body(), *world.target()));
    EXPECT_TRUE(world.doing().succeeded);
    float least = 0;
    for (const Feeling& feeling : world.take_feelings()) least = std::min(least, feeling.amount);
    EXPECT_FLOAT_EQ(least, -0.7f);
    EXPECT_TRUE(world.take_feelings().empty());
}

TEST(EmberWorld, WhatIsImpossibleBecomesRest) {
    World world(1);
    EXPECT_FALSE(world.possible()[static_cast<size_t>(Act::kToHand)]);
    world.begin(Act::kToHand);
    EXPECT_EQ(world.doing().act, Act::kRest);
}

TEST(EmberWorld, StepsThatAreNotFiniteStandStill) {
    const Body body = moved({}, {NAN, INFINITY});
    EXPECT_EQ(body.speed, 0);
    EXPECT_EQ(body.heading, 0);
}

TEST(EmberGaze, AThingChangesThePictureAndStaysInRange) {
    Dice one{4}, two{4};
    const Gaze ground = look_at({}, one), berry = look_at({.thing = Thing::kBerry}, two);
    EXPECT_NE(ground, berry);
    for (const float value : berry) EXPECT_TRUE(value >= 0 && value <= 1);
}

TEST(EmberCard, NeverSpeaksOfHowItWasRaised) {
    // Findings of all kinds reach every sentence.
    std::string all;
    for (const float hope : {-1.0f, 0.0f, 1.0f})
        for (const float share : {0.0f, 1.0f}) {
            Findings found;
            found.hopes.fill(hope), found.choices.fill(share), found.words.fill(share);
            found.hope_of_hand = hope, found.comes = share, found.flees = 1 - share;
            found.sings[1] = found.spins[2] = share;
            found.eats = found.warms = found.rests = share;
            for (const std::string& sentence : card_of(found)) all += sentence + '\n';
        }
    std::ranges::transform(all, all.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const char* word : {"prais", "scold", "absent", "patient", "cruel", "punish", "reward",
                             "blame", "shout", "lonely", "alone.", "neglect", "abandon", "train"})
        EXPECT_EQ(all.find(word), std::string::npos) << word << " in:\n" << all;
}

/// Two creatures, raised for five minutes each.
class EmberRaised : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        auto device = cpu::open_device();
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_ = std::make_unique<cpu::Device>(std::move(device).value());
        auto programs = make_part_programs(device_->context());
        ASSERT_TRUE(programs.ok()) << programs.status().message();
        programs_ = std::make_unique<PartPrograms>(std::move(programs).value());
        patient_ = raised(Temper::kPatient);
        absent_ = raised(Temper::kAbsent);
    }
    static void TearDownTestSuite() { programs_.reset(), device_.reset(); }

    static Submit submit() {
        return [](const auto& record) { return device_->run(record); };
    }
    static Raised raised(Temper temper) {
        auto result = raise(device_->context(), *programs_, submit(),
                            {.temper = temper, .seed = 3, .seconds = 300});
        EXPECT_TRUE(result.ok()) << result.status().message();
        return result.ok() ? std::move(result).value() : Raised();
    }
    static Findings asked(const BrainFiles& brain) {
        auto probe = Probe::create(device_->context(), *programs_, submit());
        EXPECT_TRUE(probe.ok()) << probe.status().message();
        if (!probe.ok()) return {};
        auto findings = probe->ask(brain);
        EXPECT_TRUE(findings.ok()) << findings.status().message();
        return findings.ok() ? *findings : Findings();
    }

    static inline std::unique_ptr<cpu::Device> device_;
    static inline std::unique_ptr<PartPrograms> programs_;
    static inline Raised patient_, absent_;
};

TEST_F(EmberRaised, LearnsToWalk) {
    EXPECT_LT(patient_.arrived_at_first, 0.6f);
    EXPECT_GT(patient_.arrived_at_last, 0.8f);
    EXPECT_GT(absent_.arrived_at_last, 0.8f);
    EXPECT_LT(asked(absent_.brain).walk_seconds, 4);
}

TEST_F(EmberRaised, WhoTaughtItCanBeSeen) {
    const Findings patient = asked(patient_.brain), absent = asked(absent_.brain);
    EXPECT_GT(patient.comes, absent.comes);
    EXPECT_GT(patient.hope_of_hand, absent.hope_of_hand);
    const auto words = [](const Findings& found) {
        return std::ranges::count_if(found.words, [](float right) { return right >= 0.35f; });
    };
    EXPECT_GE(words(patient), 2);
}

TEST_F(EmberRaised, SwappingTwoBrainsSwapsTheirCards) {
    const auto patient = card_of(asked(patient_.brain)), absent = card_of(asked(absent_.brain));
    EXPECT_NE(patient, absent);
    std::swap(patient_.brain, absent_.brain);
    EXPECT_EQ(card_of(asked(patient_.brain)), absent);
    EXPECT_EQ(card_of(asked(absent_.brain)), patient);
    std::swap(patient_.brain, absent_.brain);
}

TEST_F(EmberRaised, GoesOnWhereItWasKept) {
    Context& context = device_->context();
    const auto play = [&](Life& life, int frames) {
        for (int i = 0; i < frames; ++i) {
            ASSERT_TRUE(context.begin_frame().ok());
            const Status played =
                device_->run([&](VkCommandBuffer commands) { return life.record(commands, {}); });
            ASSERT_TRUE(played.ok()) << played.message();
            life.step();
        }
    };
    auto life = Life::create(context, *programs_, {.seed = 8});
    ASSERT_TRUE(life.ok()) << life.status().message();
    play(*life, 30 * kFramesPerSecond);
    const auto kept = life->keep("Ember");
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    auto later = Life::resume(context, *programs_, {}, *kept);
    ASSERT_TRUE(later.ok()) << later.status().message();
    EXPECT_EQ(later->world().frame(), life->world().frame());
    EXPECT_EQ(later->world().body().position, life->world().body().position);
    EXPECT_EQ(card_of(asked(kept->brain)), card_of(asked(later->keep("Ember")->brain)));
    play(*later, kFramesPerSecond);
    EXPECT_GT(later->world().frame(), life->world().frame());
}

TEST_F(EmberRaised, ABrainOfAnotherPartIsRefusedByName) {
    BrainFiles mixed = patient_.brain;
    std::swap(mixed[0], mixed[1]);
    auto probe = Probe::create(device_->context(), *programs_, submit());
    ASSERT_TRUE(probe.ok()) << probe.status().message();
    const auto findings = probe->ask(mixed);
    ASSERT_FALSE(findings.ok());
    EXPECT_NE(findings.status().message().find("legs"), std::string::npos)
        << findings.status().message();
}

}  // namespace
}  // namespace hearth::ember
