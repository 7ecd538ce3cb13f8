// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A car on the circuit as tensor code beside the car in C++.

#include "ghost_lap/driver.hpp"
#include "ghost_lap/simulation.hpp"

#include <hearth/eval.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace hearth::ghost_lap {
namespace {

constexpr auto kWidth = static_cast<int64_t>(CarNumber::kCount);

float number(std::span<const float> row, CarNumber which) {
    return row[static_cast<size_t>(which)];
}

/// Scripted drivers, one who never turns, one who brakes for ever and one who drives in circles:
/// more than a lap.
TEST(GhostLapSimulation, StepsAreThoseOfTheRacerInCpp) {
    const Track track = Track::circuit();
    const agents::VectorEnv simulation = make_simulation(track);
    constexpr size_t kScripted = 3, kCars = kScripted + 3;
    std::vector<ScriptedDriver> drivers;
    std::vector<Racer> racers;
    for (size_t i = 0; i < kScripted; ++i) drivers.emplace_back(track, driving_styles()[i], 1 + i);
    for (size_t i = 0; i < kCars; ++i)
        racers.emplace_back(track, 0.1f * static_cast<float>(i) - 0.25f, true);
    HostTensor state(DType::kF32, {kCars, kWidth}), action(DType::kF32, {kCars, kActionSize});
    std::vector<uint32_t> ends(kCars);
    uint32_t off_tracks = 0;
    // Inside a bend two stretches of the centre line may be equally near, and rounding decides:
    // centimetres of progress.
    uint32_t apart = 0;
    for (uint32_t t = 0; t < 400; ++t) {
        std::vector<float> worth(kCars);
        std::vector<bool> is_over(kCars);
        for (size_t i = 0; i < kCars; ++i) {
            Racer& racer = racers[i];
            const auto row = state.as<float>().subspan(i * kWidth, kWidth);
            // Where it is, is the racer's; what it counts stays the simulation's own.
            const float places[] = {racer.car().position.x, racer.car().position.y,
                                    racer.car().heading,    racer.car().speed,
                                    racer.where().progress, racer.where().lateral};
            std::ranges::copy(places, row.begin());
            const Action done = i < kScripted        ? drivers[i].drive(racer, 3 * t)
                                : i == kScripted     ? Action{0.0f, 1.0f}
                                : i == kScripted + 1 ? Action{0.0f, -1.0f}
                                                     : Action{1.0f, 0.2f};
            action.as<float>()[2 * i] = done.steer;
            action.as<float>()[2 * i + 1] = done.throttle;
            for (int f = 0; f < kFramesPerDecision && !is_over[i]; ++f) {
                const uint32_t resets = racer.resets();
                worth[i] += drive_frame(racer, done);
                is_over[i] = racer.resets() > resets;
            }
        }
        Trace trace("step");
        const agents::StepResult step =
            simulation.step(trace.constant(state), trace.constant(action), Tensor(), 0);
        const std::vector<Tensor> asked = {step.state, step.reward,
                                           cast(step.terminated, DType::kF32),
                                           simulation.observe(step.state)};
        const auto found = eval(asked);
        ASSERT_TRUE(found.ok()) << found.status().message();
        state = (*found)[0];
        for (size_t i = 0; i < kCars; ++i) {
            const auto car = static_cast<int64_t>(i);
            const std::string at = "step " + std::to_string(t) + ", car " + std::to_string(i);
            ASSERT_EQ((*found)[2].get(car) > 0.5, is_over[i]) << at;
            const double off = std::abs((*found)[1].get(car) - static_cast<double>(worth[i]));
            ASSERT_LT(off, 0.1) << at;
            apart += off > 1e-3 ? 1 : 0;
            const auto row = state.as<float>().subspan(i * kWidth, kWidth);
            if (is_over[i]) {  // a racer is put back, an episode begins anew
                ++ends[i];
                row[static_cast<size_t>(CarNumber::kOffFrames)] = 0;
                row[static_cast<size_t>(CarNumber::kIdleFrames)] = 0;
                continue;
            }
            const Racer& racer = racers[i];
            off_tracks += racer.is_on_track() ? 0 : 1;
            EXPECT_NEAR(number(row, CarNumber::kX), racer.car().position.x, 1e-4) << at;
            EXPECT_NEAR(number(row, CarNumber::kY), racer.car().position.y, 1e-4) << at;
            EXPECT_NEAR(number(row, CarNumber::kHeading), racer.car().heading, 1e-4) << at;
            EXPECT_NEAR(number(row, CarNumber::kSpeed), racer.car().speed, 1e-4) << at;
            EXPECT_NEAR(number(row, CarNumber::kLateral), racer.where().lateral, 1e-3) << at;
            const float ahead = number(row, CarNumber::kProgress) - racer.where().progress;
            EXPECT_NEAR(std::remainder(ahead, track.length()), 0, 0.1) << at;
            const Observation seen = racer.observation();
            for (int64_t k = 0; k < kObservationSize; ++k)
                EXPECT_NEAR((*found)[3].get(car * kObservationSize + k),
                            static_cast<double>(seen[static_cast<size_t>(k)]), 2e-3)
                    << at << ", observation " << k;
        }
    }
    for (size_t i = 0; i < kScripted; ++i) {
        EXPECT_EQ(ends[i], 0u) << "car " << i;
        EXPECT_GE(racers[i].laps().size(), 1u) << "car " << i;
    }
    for (size_t i = kScripted; i < kCars; ++i) EXPECT_GE(ends[i], 1u) << "car " << i;
    EXPECT_LE(apart, 10u) << "of 2,400 steps";
    EXPECT_GT(off_tracks, 10u) << "there was something to compare";
}

TEST(GhostLapSimulation, BeginsRollingAlongTheTrack) {
    const Track track = Track::circuit();
    Trace trace("begin");
    constexpr int64_t kWorlds = 64;
    const auto begun =
        eval(make_simulation(track).reset(trace.constant(3, DType::kU32), 11, kWorlds));
    ASSERT_TRUE(begun.ok()) << begun.status().message();
    float least = track.length(), most = 0;
    for (size_t w = 0; w < kWorlds; ++w) {
        const auto row = begun->as<float>().subspan(w * kWidth, kWidth);
        const float progress = number(row, CarNumber::kProgress);
        least = std::min(least, progress);
        most = std::max(most, progress);
        const float lateral = number(row, CarNumber::kLateral);
        EXPECT_LE(std::abs(lateral), Racer::kGridSpread);
        const glm::vec2 place = track.position(progress, lateral);
        EXPECT_NEAR(number(row, CarNumber::kX), place.x, 1e-3);
        EXPECT_NEAR(number(row, CarNumber::kY), place.y, 1e-3);
        EXPECT_NEAR(number(row, CarNumber::kHeading), track.heading(progress), 1e-3);
        EXPECT_EQ(number(row, CarNumber::kSpeed), Racer::kRollingSpeed);
        EXPECT_EQ(number(row, CarNumber::kOffFrames), 0);
        EXPECT_EQ(number(row, CarNumber::kIdleFrames), 0);
    }
    EXPECT_LT(least, 0.2f * track.length());
    EXPECT_GT(most, 0.8f * track.length());
}

TEST(GhostLapSimulation, AFrameOfAScriptedDriverIsWorthItsMetres) {
    const Track track = Track::circuit();
    float most = 0;
    for (const DrivingStyle& style : driving_styles()) {
        ScriptedDriver driver(track, style, 1);
        Racer racer(track, 0, true);
        float metres = 0;
        for (uint64_t f = 0; f < uint64_t{kEpisodeDecisions} * kFramesPerDecision; ++f)
            metres += drive_frame(racer, driver.drive(racer, f));
        // 0.01: sums of 1,200 frames in f32
        EXPECT_LE(metres, racer.distance() + Racer::kGridMetres + 0.01f) << style.name;
        EXPECT_EQ(racer.resets(), 0u) << style.name;
        most = std::max(most, metres);
    }
    EXPECT_NEAR(most, kFastestDriverMetres, 2);
}

}  // namespace
}  // namespace hearth::ghost_lap
