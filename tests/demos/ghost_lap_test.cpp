// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Whole races without pictures: the game's own brain, frames in flight and simulation.

#include "brain.hpp"
#include "ghost_lap/driver.hpp"
#include "ghost_lap/race.hpp"
#include "support/vulkan_fixture.hpp"

#include <array>
#include <functional>

namespace hearth::ghost_lap {
namespace {

struct Outcome {
    RaceTable table;
    std::optional<Line> first_ghost_line;
    uint64_t race_hash = 0;
    uint64_t weights_hash = 0;
    uint64_t learning_steps = 0;
    uint64_t missed_actions = 0;
};

struct Plan {
    const char* style = "smooth";
    uint64_t seed = 1;
    uint64_t frames = 0;              ///< at most
    bool learns_before_ghost = true;  ///< while the player drives alone
    bool learns_beside_ghost = true;  ///< while the ghost drives
    std::function<bool(const Race&)> is_over = [](const Race&) { return false; };
};

class GhostLap : public hearth::test::VulkanTest {
  protected:
    /// Reports a failure and returns nothing if something went wrong.
    std::optional<Outcome> race(const Plan& plan) {
        Outcome outcome;
        const Status status = try_race(plan, outcome);
        EXPECT_TRUE(status.ok()) << status.message();
        return status.ok() ? std::optional(outcome) : std::nullopt;
    }

    Track track_ = Track::circuit();

  private:
    Status try_race(const Plan& plan, Outcome& outcome) {
        Race race(track_, {.seed = plan.seed,
                           .action_latency_frames = demo::FrameLoop::kFramesInFlight,
                           .reaction_frames = demo::FrameLoop::kFramesInFlight});
        ScriptedDriver driver(track_, *find_driving_style(plan.style), plan.seed);
        HEARTH_ASSIGN(const auto brain, Brain::create(device(), plan.seed));
        HEARTH_ASSIGN(const auto loop, demo::FrameLoop::create(device(), 0));
        uint64_t serial = 0;
        while (race.frame() < plan.frames && !plan.is_over(race)) {
            HEARTH_ASSIGN(const auto frame, loop->begin(nullptr));
            serial = frame->serial;
            HEARTH_TRY(brain->begin_frame(*frame));
            if (const auto& decision = brain->decision()) {
                race.set_ghost_action(decision->race_frame, decision->action);
            }
            HEARTH_TRY(brain->record_act(*frame, race.frame(), race.ghost().observation()));
            const bool is_learning =
                race.ghost_is_driving() ? plan.learns_beside_ghost : plan.learns_before_ghost;
            if (is_learning && race.demonstrations().is_ready()) {
                HEARTH_TRY(brain->record_learn(*frame, race.demonstrations()));
            }
            HEARTH_TRY(loop->end(*frame, nullptr));
            race.step(driver.drive(race.player(), race.frame()));
        }
        HEARTH_TRY(loop->wait());
        outcome.table = race.table();
        if (!race.ghost().laps().empty()) {
            outcome.first_ghost_line = race.ghost().laps().front().line;
        }
        outcome.race_hash = race.state_hash();
        outcome.learning_steps = brain->learning_steps();
        outcome.missed_actions = race.missed_actions();
        HEARTH_ASSIGN(outcome.weights_hash, brain->weights_hash(serial));
        return {};
    }
};

TEST_F(GhostLap, AfterOneLapTheGhostDrivesThreeWithinTenPercentAndItsLineGetsCloser) {
    const auto outcome = race(
        {.frames = 6000, .is_over = [](const Race& r) { return r.ghost().laps().size() >= 4; }});
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->table.has_ghost_lapped(3, 0.1f));
    EXPECT_EQ(outcome->missed_actions, 0u);
    const auto& laps = outcome->table.ghost.rows;
    ASSERT_EQ(laps.size(), 4u);
    EXPECT_LT(laps.back().line_error, laps.front().line_error);
    EXPECT_LT(std::abs(outcome->table.ghost.mean_offset - outcome->table.player.mean_offset), 0.1f);
}

TEST_F(GhostLap, WithoutLearningTheGhostCompletesNoLap) {
    const auto outcome =
        race({.frames = 3600, .learns_before_ghost = false, .learns_beside_ghost = false});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->learning_steps, 0u);
    EXPECT_FALSE(outcome->table.has_ghost_lapped(1, 0.1f));
}

TEST_F(GhostLap, EqualSeedsGiveEqualRacesAndWeightsBitForBit) {
    constexpr uint64_t kThousandSteps = 1385;  // 128 samples at 20 Hz come first
    const auto first = race({.seed = 5, .frames = kThousandSteps});
    const auto again = race({.seed = 5, .frames = kThousandSteps});
    const auto other = race({.seed = 6, .frames = 100});
    ASSERT_TRUE(first && again && other);
    EXPECT_EQ(first->learning_steps, 1000u);
    EXPECT_EQ(first->race_hash, again->race_hash);
    EXPECT_EQ(first->weights_hash, again->weights_hash);
    EXPECT_NE(first->weights_hash, other->weights_hash);
}

TEST_F(GhostLap, ASavedBrainComesBackBitForBit) {
    const auto teacher = Brain::create(device(), 3);
    const auto pupil = Brain::create(device(), 3);
    const auto stranger = Brain::create(device(), 4);
    ASSERT_TRUE(teacher.ok() && pupil.ok() && stranger.ok());
    Race race(track_, {.seed = 3});
    ScriptedDriver driver(track_, *find_driving_style("smooth"), 3);
    std::vector<std::byte> saved;
    const auto frames = [&](Brain& brain, uint64_t count, uint64_t& serial) -> Status {
        HEARTH_ASSIGN(const auto loop, demo::FrameLoop::create(device(), 0));
        for (uint64_t i = 0; i < count; ++i) {
            HEARTH_ASSIGN(const auto frame, loop->begin(nullptr));
            serial = frame->serial;
            HEARTH_TRY(brain.begin_frame(*frame));
            // Taken two frames before the end, it arrives with the last one.
            if (i + 1 + demo::FrameLoop::kFramesInFlight == count)
                HEARTH_TRY(brain.record_snapshot(*frame));
            else if (&brain == teacher->get() && i < 300 && race.demonstrations().is_ready())
                HEARTH_TRY(brain.record_learn(*frame, race.demonstrations()));
            if (brain.snapshot()) {
                HEARTH_ASSIGN(saved, brain.encode(*brain.snapshot()));
            }
            HEARTH_TRY(loop->end(*frame, nullptr));
        }
        return loop->wait();
    };
    while (!race.demonstrations().is_ready()) race.step(driver.drive(race.player(), race.frame()));
    uint64_t serial = 0;
    const Status taught = frames(**teacher, 320, serial);
    ASSERT_TRUE(taught.ok()) << taught.message();
    ASSERT_FALSE(saved.empty());
    const uint64_t learned = (*teacher)->weights_hash(serial).value();

    EXPECT_FALSE((*stranger)->load(saved).ok()) << "it is a difference from other weights";
    const Status loaded = (*pupil)->load(saved);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ((*pupil)->learning_steps(), (*teacher)->learning_steps());
    const Status run = frames(**pupil, 4, serial);
    ASSERT_TRUE(run.ok()) << run.message();
    EXPECT_EQ((*pupil)->weights_hash(serial).value(), learned);
}

TEST_F(GhostLap, GhostsOfTwoDriversAreToldApartTenTimesOfTen) {
    if (!test::test_setting("HEARTH_TEST_FEATURES").empty() ||
        !test::test_setting("HEARTH_TEST_BINDING").empty())
        GTEST_SKIP() << "ten races on one host are enough; this host races in the tests above";
    const std::array styles = {"smooth", "late"};
    // The lines that the two drivers drive, to compare with.
    std::array<Line, 2> driven;
    for (size_t i = 0; i < styles.size(); ++i) {
        Race race(track_, {.seed = 1});
        ScriptedDriver driver(track_, *find_driving_style(styles[i]), 1);
        while (race.player().laps().empty()) {
            race.step(driver.drive(race.player(), race.frame()));
        }
        driven[i] = race.player().laps().front().line;
    }
    for (uint64_t seed = 11; seed < 16; ++seed) {
        for (size_t i = 0; i < styles.size(); ++i) {
            const auto outcome =
                race({.style = styles[i],
                      .seed = seed,
                      .frames = 4000,
                      .learns_beside_ghost = false,  // one lap must do
                      .is_over = [](const Race& r) { return !r.ghost().laps().empty(); }});
            ASSERT_TRUE(outcome && outcome->first_ghost_line);
            EXPECT_EQ(nearest_line(*outcome->first_ghost_line, driven), i)
                << styles[i] << ", seed " << seed;
        }
    }
}

}  // namespace
}  // namespace hearth::ghost_lap
