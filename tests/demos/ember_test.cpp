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
    for (const char* word :
         {"prais",   "commend", "compliment", "applau", "kind",    "gentle", "reward", "patient",
          "scold",   "rebuke",  "reprimand",  "punish", "blame",   "shout",  "yell",   "harsh",
          "stern",   "cruel",   "beat",       "hurt",   "absent",  "away",   "gone",   "missing",
          "neglect", "abandon", "forsak",     "lonely", "ignored", "train",  "raised", "owner"})
        EXPECT_EQ(all.find(word), std::string::npos) << word << " in:\n" << all;
}

TEST(EmberDeeds, AWordIsKnownOnceItIsRightFourTimesInARow) {
    Deeds deeds;
    for (int i = 0; i < 3; ++i) deeds.note_word(Thing::kShell, Thing::kShell);
    deeds.note_word(Thing::kBerry, Thing::kShell);  // wrong: again from the beginning
    for (int i = 0; i < 3; ++i) deeds.note_word(Thing::kShell, Thing::kShell);
    deeds.note_word(Thing::kShell, std::nullopt);
    EXPECT_EQ(deeds.words, 0u);
    deeds.note_word(Thing::kShell, Thing::kShell);
    EXPECT_EQ(deeds.words, 1u << static_cast<unsigned>(Thing::kShell));
    deeds.note_word(std::nullopt, Thing::kShell);
    EXPECT_EQ(deeds.said[static_cast<size_t>(Thing::kShell)], 0u);
    EXPECT_FLOAT_EQ(progress_of(Goal::kAllWords, deeds), 0.2f) << "what was reached remains";
}

TEST(EmberDeeds, EveryGoalCanBeReachedAndNoneIsAtFirst) {
    Deeds deeds;
    for (size_t i = 0; i < kGoalCount; ++i)
        EXPECT_EQ(progress_of(static_cast<Goal>(i), deeds), 0) << i;
    deeds.walks = deeds.meals = deeds.warmings = deeds.comes = deeds.escapes = 40;
    deeds.songs = deeds.spins = 20;
    deeds.words = (1u << kThingCount) - 1, deeds.nights = 30;
    for (int64_t day = 3; day < 10; ++day) deeds.note_day(day), deeds.note_day(day);
    EXPECT_EQ(deeds.days, 7u);
    for (size_t i = 0; i < kGoalCount; ++i) EXPECT_TRUE(is_done(static_cast<Goal>(i), deeds)) << i;
    for (const Horizon horizon : {Horizon::kTwoMinutes, Horizon::kTenMinutes, Horizon::kWeek})
        EXPECT_TRUE(has_reached(horizon, deeds));
}

TEST(EmberDeeds, OnlyWhatTheCreatureDoesCounts) {
    World world(3);
    Deeds deeds;
    const Needs before = world.needs();
    world.begin(visit(Thing::kBerry));
    world.interrupt();
    deeds.note_act(world, before);
    EXPECT_EQ(deeds.walks, 0u) << "it did not arrive";
    world.begin(visit(Thing::kBerry));
    for (int i = 0; i < 600 && !world.doing().is_over; ++i)
        world.step(steps_towards(world.body(), *world.target()));
    deeds.note_act(world, before);
    EXPECT_EQ(deeds.walks, 1u);
    EXPECT_EQ(deeds.meals, 1u);
}

/// Three creatures, raised for ten minutes each.
class EmberRaised : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        auto device = cpu::open_device({.tables = part_kernels()});
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_ = std::make_unique<cpu::Device>(std::move(device).value());
        auto programs = load_part_programs(device_->context());
        ASSERT_TRUE(programs.ok()) << programs.status().message();
        programs_ = std::make_unique<PartPrograms>(std::move(programs).value());
        patient_ = raised(Temper::kPatient);
        cruel_ = raised(Temper::kCruel);
        absent_ = raised(Temper::kAbsent);
    }
    static void TearDownTestSuite() { programs_.reset(), device_.reset(); }

    static Submit submit() {
        return [](const auto& record) { return device_->run(record); };
    }
    static Raised raised(Temper temper) {
        auto result = raise(device_->context(), *programs_, submit(),
                            {.temper = temper, .seed = 3, .seconds = 600});
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
    static inline Raised patient_, cruel_, absent_;
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

/// Lets a life go on without a player.
void play(cpu::Device& device, Life& life, int frames, const Gesture& gesture = {}) {
    for (int i = 0; i < frames; ++i) {
        ASSERT_TRUE(device.context().begin_frame().ok());
        const Status played =
            device.run([&](VkCommandBuffer commands) { return life.record(commands, gesture); });
        ASSERT_TRUE(played.ok()) << played.message();
        life.step();
    }
}

/// Mean squared error of the heart about what it remembers.
float error_of(cpu::Device& device, Life& life) {
    float sum = 0;
    const std::vector<FeltMoment> moments = life.memories().moments;
    for (const FeltMoment& moment : moments) {
        for (int i = 0; i < 2; ++i) {
            EXPECT_TRUE(device.context().begin_frame().ok());
            life.mind().poll();
            EXPECT_TRUE(life.mind().ask_heart(moment.senses).ok());
            EXPECT_TRUE(
                device
                    .run([&](VkCommandBuffer commands) { return life.mind().record(commands, 0); })
                    .ok());
        }
        EXPECT_TRUE(device.context().begin_frame().ok());
        life.mind().poll();
        const float wrong = life.mind().expectation() - moment.felt;
        sum += wrong * wrong;
    }
    return sum / static_cast<float>(moments.size());
}

TEST_F(EmberRaised, LearnsFromItsMemoriesInItsSleep) {
    constexpr int64_t kEvening = 1'700'000'000, kHour = 3600;
    const auto life_at = [&](int64_t seconds, const Kept* kept) {
        const LifeOptions options{.seed = 3, .frames_in_flight = 1, .seconds = seconds};
        auto life = kept ? Life::resume(device_->context(), *programs_, options, *kept)
                         : Life::create(device_->context(), *programs_, options);
        EXPECT_TRUE(life.ok()) << life.status().message();
        return std::move(life).value();
    };
    Life young = life_at(kEvening, nullptr);
    play(*device_, young, 60 * kFramesPerSecond);
    const auto kept = young.keep("Ember");
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    ASSERT_FALSE(kept->memories.moments.empty());
    ASSERT_FALSE(kept->memories.acts.empty());

    Life awake = life_at(kEvening, &*kept);
    EXPECT_TRUE(awake.sleep().is_over()) << "no time has passed";
    EXPECT_TRUE(life_at(kEvening - kHour, &*kept).sleep().is_over()) << "the clock was set back";

    Life slept = life_at(kEvening + 3 * kHour, &*kept);
    EXPECT_EQ(slept.sleep().hours, 3);
    ASSERT_EQ(slept.sleep().lessons, 180u);
    EXPECT_LT(slept.world().needs().fatigue, kept->world.needs.fatigue + 1e-6f);
    play(*device_, slept, 179);
    EXPECT_FALSE(slept.sleep().is_over());
    EXPECT_EQ(slept.world().frame(), kept->world.frame) << "the garden stands still";
    play(*device_, slept, 1);
    EXPECT_TRUE(slept.sleep().is_over());
    uint32_t dreamt = slept.sleep().hands;
    for (const uint32_t of_thing : slept.sleep().things) dreamt += of_thing;
    EXPECT_GT(dreamt, 0u);
    // What it learned takes a few frames more, in which the garden goes on.
    play(*device_, slept, 10 * kFramesPerSecond);
    play(*device_, awake, 10 * kFramesPerSecond);
    EXPECT_LT(error_of(*device_, slept), 0.8f * error_of(*device_, awake));
}

TEST_F(EmberRaised, AVoiceWakesIt) {
    Kept kept{.name = "Ember",
              .seed = 3,
              .world = World(3).state(),
              .brain = patient_.brain,
              .seconds = 1'000'000};
    kept.memories.moments.resize(1);
    auto life = Life::resume(device_->context(), *programs_,
                             {.frames_in_flight = 1, .seconds = 2'000'000}, kept);
    ASSERT_TRUE(life.ok()) << life.status().message();
    ASSERT_FALSE(life->sleep().is_over());
    play(*device_, *life, 5);
    EXPECT_EQ(life->sleep().lessons_done, 5u);
    play(*device_, *life, 2, {.voice = 1});
    EXPECT_TRUE(life->sleep().is_over());
    EXPECT_EQ(life->world().frame(), 2u);
}

TEST(EmberMemories, AreBounded) {
    Dice dice;
    std::vector<int> list;
    for (int i = 0; i < 1000; ++i) remember(list, 10, i, dice);
    EXPECT_EQ(list.size(), 10u);
    EXPECT_GT(std::ranges::max(list), 900) << "new ones come in";
}

TEST_F(EmberRaised, EachTemperReachesItsOwnGoalAndNotTheOthers) {
    const Deeds &patient = patient_.deeds, &cruel = cruel_.deeds, &absent = absent_.deeds;
    for (const Deeds* const deeds : {&patient, &cruel, &absent})
        EXPECT_TRUE(has_reached(Horizon::kTwoMinutes, *deeds));
    EXPECT_TRUE(is_done(Goal::kFriend, patient));
    EXPECT_TRUE(is_done(Goal::kFirstWords, patient));
    EXPECT_TRUE(is_done(Goal::kFree, cruel));
    EXPECT_TRUE(is_done(Goal::kSelfReliant, absent));
    for (const Goal goal : {Goal::kFriend, Goal::kFirstWords, Goal::kTrick}) {
        EXPECT_FALSE(is_done(goal, cruel));
        EXPECT_FALSE(is_done(goal, absent));
    }
    EXPECT_FALSE(is_done(Goal::kFree, patient));
    EXPECT_FALSE(is_done(Goal::kFree, absent));
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
