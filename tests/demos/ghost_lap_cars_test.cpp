// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ghost Lap: however long a drive is, what it leaves in the picture fits.

#include "cars.hpp"
#include "host/renderer.hpp"

#include <gtest/gtest.h>

namespace hearth::ghost_lap {
namespace {

/// Every car spins off the road, or corrects the ghost, for `minutes`.
void drive(Race& race, Marks& marks, Corrections& corrections, Seat seat, Action action,
           uint64_t minutes) {
    for (uint64_t i = 0; i < minutes * 60 * kFramesPerSecond; ++i) {
        race.step(action, seat);
        for (const Racer* racer : {&race.player(), &race.ghost(), race.rival()})
            marks.add(*racer, action, race.frame());
        corrections.add(race);
    }
}

TEST(GhostLapPicture, HoldsTheMarksAndCorrectionsOfAnHour) {
    const Track track = Track::circuit();
    Race race(track, {.ghost_starts_after_laps = 0});
    race.add_rival();
    Marks marks;
    Corrections corrections;
    const Action spins{.steer = 1.0f, .throttle = -1.0f}, races{.steer = 0.3f, .throttle = 1};
    drive(race, marks, corrections, Seat::kOwnCar, spins, 1);
    drive(race, marks, corrections, Seat::kGhost, races, 60);
    ASSERT_EQ(race.seat(), Seat::kGhost);
    demo::Canvas canvas({});
    marks.draw(canvas, race.frame());
    corrections.draw(canvas);
    EXPECT_GT(canvas.vertices().size(), 1000u);
    // The rest is for lines, cars and panels.
    EXPECT_LT(canvas.vertices().size(), demo::Renderer::kVertices / 2);
    EXPECT_LT(canvas.indices().size(), demo::Renderer::kIndices / 2);
}

}  // namespace
}  // namespace hearth::ghost_lap
