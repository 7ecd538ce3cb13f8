// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ghost_lap/car.hpp"
#include "ghost_lap/driver.hpp"
#include "ghost_lap/input_script.hpp"
#include "ghost_lap/race.hpp"
#include "random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

namespace hearth::ghost_lap {
namespace {

constexpr float kDegree = std::numbers::pi_v<float> / 180.0f;

const Track& circuit() {
    static const Track track = Track::circuit();
    return track;
}

const DrivingStyle& style(std::string_view name) {
    return *find_driving_style(name);
}

// What a scripted driver would do in the ghost's car: stands in for a net that learned perfectly.
class PerfectGhost {
  public:
    PerfectGhost(const DrivingStyle& habits, uint64_t seed) : driver_(circuit(), habits, seed) {}
    ActionVector act(const Race& race) {
        const Action action = driver_.drive(race.ghost(), race.frame());
        return {action.steer, action.throttle};
    }

  private:
    ScriptedDriver driver_;
};

Race driven_race(const RaceOptions& options, const DrivingStyle& player, int frames) {
    Race race(circuit(), options);
    ScriptedDriver driver(circuit(), player, options.seed);
    PerfectGhost ghost(player, options.seed + 1);
    for (int i = 0; i < frames; ++i) {
        race.set_ghost_action(race.frame(), ghost.act(race));
        race.step(driver.drive(race.player(), race.frame()));
    }
    return race;
}

Line first_line(const DrivingStyle& habits, uint64_t seed) {
    const Race race = driven_race({.seed = seed}, habits, 1400);
    return race.player().laps().at(0).line;
}

// --- Track ---------------------------------------------------------------------------------------

TEST(Track, HasAtLeastEightCornersCountingTheChicaneAsOne) {
    EXPECT_GE(circuit().corners().size(), 8u + 2u);
}

TEST(Track, HasOneHairpinOfMoreThan150DegreesToTheLeft) {
    const auto corners = circuit().corners();
    const auto is_hairpin = [](const Corner& c) {
        return c.turn >= 150.0f * kDegree && c.length < 30.0f;
    };
    EXPECT_EQ(std::ranges::count_if(corners, is_hairpin), 1);
}

TEST(Track, HasAChicaneRightLeftRightWithinFortyMetres) {
    const auto corners = circuit().corners();
    int chicanes = 0;
    for (size_t i = 0; i + 2 < corners.size(); ++i) {
        const Corner& a = corners[i];
        const Corner& b = corners[i + 1];
        const Corner& c = corners[i + 2];
        const bool alternates = a.turn < 0.0f && b.turn > 0.0f && c.turn < 0.0f;
        const bool goes_straight_on = std::abs(a.turn + b.turn + c.turn) < 10.0f * kDegree;
        if (alternates && goes_straight_on && c.begin + c.length - a.begin < 40.0f) ++chicanes;
    }
    EXPECT_EQ(chicanes, 1);
}

TEST(Track, TurnsOnceClockwiseInOneLap) {
    const Track& track = circuit();
    const float gained = track.heading(track.length() + 5.0f) - track.heading(5.0f);
    EXPECT_NEAR(gained, -360.0f * kDegree, 1e-3f);
    EXPECT_NEAR(track.heading(-1.0f) + gained, track.heading(track.length() - 1.0f), 1e-3f);
}

TEST(Track, EqualProgressIsEqualDistance) {
    const Track& track = circuit();
    for (float s = 0.0f; s < track.length(); s += 1.0f) {
        const glm::vec2 step = track.position(s + 0.5f) - track.position(s);
        EXPECT_NEAR(std::hypot(step.x, step.y), 0.5f, 0.01f) << "at " << s;
    }
}

TEST(Track, HeadingIsTheDirectionOfTheCentreLineAndCurvatureItsRate) {
    const Track& track = circuit();
    for (float s = 0.0f; s < track.length(); s += 1.0f) {
        const glm::vec2 step = track.position(s + 0.25f) - track.position(s - 0.25f);
        const float direction = std::atan2(step.y, step.x);
        EXPECT_NEAR(std::remainder(direction - track.heading(s), 2.0f * 180.0f * kDegree), 0.0f,
                    0.01f);
        const float rate = (track.heading(s + 0.5f) - track.heading(s - 0.5f)) / 1.0f;
        EXPECT_NEAR(rate, track.curvature(s), 0.02f) << "at " << s;
    }
}

TEST(Track, NeverComesNearerToItselfThanItsOwnWidth) {
    // Points more than a hairpin apart along the track, with a metre of grass between the edges.
    const Track& track = circuit();
    const float least = 2.0f * track.half_width() + 1.0f;
    for (float s = 0.0f; s < track.length(); s += 1.0f)
        for (float apart = 20.0f; apart < track.length() - 20.0f; apart += 1.0f) {
            const glm::vec2 gap = track.position(s) - track.position(s + apart);
            ASSERT_GT(std::hypot(gap.x, gap.y), least) << "at " << s << " and " << s + apart;
        }
}

TEST(Track, InsideEdgeNeverFoldsOver) {
    const Track& track = circuit();
    for (const Corner& corner : track.corners())
        EXPECT_GT(corner.min_radius, 1.2f * track.half_width()) << "at " << corner.begin;
}

TEST(Track, ProjectionInvertsPosition) {
    const Track& track = circuit();
    for (float s = 0.5f; s < track.length(); s += 0.7f)
        for (const float lateral : {-1.0f, -0.3f, 0.0f, 0.6f, 1.0f}) {
            const glm::vec2 position = track.position(s, lateral);
            for (const TrackPoint& found :
                 {track.project(position), track.project(position, s + 5.0f)}) {
                EXPECT_NEAR(found.progress, s, 0.15f);
                EXPECT_NEAR(found.lateral, lateral, 0.02f) << "at " << s;
            }
        }
}

TEST(Track, ProjectionNearAProgressStaysOnItsStretch) {
    // Beyond the edge towards the other leg of the hairpin, where the global projection jumps.
    const Track& track = circuit();
    const auto corners = track.corners();
    const auto hairpin = std::ranges::max_element(corners, {}, &Corner::turn);
    const float before = hairpin->begin - 8.0f;
    const glm::vec2 across = track.position(before, 2.6f);
    EXPECT_NEAR(track.project(across, before).progress, before, 2.0f);
    EXPECT_GT(track.project(across).progress, hairpin->begin + hairpin->length);
}

// --- Car -----------------------------------------------------------------------------------------

TEST(Car, AcceleratesToItsTopSpeedAndBrakesToAStandstillButNotBackwards) {
    Car car;
    for (int i = 0; i < 3600; ++i) car = step_car(car, {0.0f, 1.0f}, true);
    EXPECT_NEAR(car.speed, kTopSpeed, 0.1f);
    for (int i = 0; i < 300; ++i) car = step_car(car, {0.0f, -1.0f}, true);
    EXPECT_EQ(car.speed, 0.0f);
}

TEST(Car, PositiveSteerTurnsLeft) {
    const Car car = step_car({.speed = 10.0f}, {0.5f, 0.0f}, true);
    EXPECT_GT(car.heading, 0.0f);
}

TEST(Car, CannotTurnTighterThanItsGripAndScrubsSpeedWhenItTries) {
    const Car fast{.speed = 30.0f};
    const Car turned = step_car(fast, {1.0f, 0.0f}, true);
    EXPECT_NEAR((turned.heading - fast.heading) / kFrameSeconds * fast.speed, kGrip, 1e-2f);
    EXPECT_LT(turned.speed, step_car(fast, {0.0f, 0.0f}, true).speed);
}

TEST(Car, SteerForCurvatureGivesThatCurvature) {
    const Car car{.speed = 15.0f};
    const float steer = steer_for_curvature(0.08f, car.speed);
    const Car turned = step_car(car, {steer, 0.0f}, true);
    EXPECT_NEAR(turned.heading / kFrameSeconds / car.speed, 0.08f, 1e-4f);
}

TEST(Car, IsSlowedOffTheTrack) {
    const Car car{.speed = 20.0f};
    EXPECT_LT(step_car(car, {0.0f, 1.0f}, false).speed,
              step_car(car, {0.0f, 1.0f}, true).speed - 0.3f);
}

TEST(Car, ActionsAreClampedAndNotANumberIsZero) {
    const Action action = clamp_action({std::numeric_limits<float>::quiet_NaN(), -7.0f});
    EXPECT_EQ(action.steer, 0.0f);
    EXPECT_EQ(action.throttle, -1.0f);
    EXPECT_EQ(clamp_action({std::numeric_limits<float>::infinity(), 0.0f}).steer, 0.0f);
}

TEST(Car, AHairpinTakenFlatOutLeavesTheTrack) {
    // Braking is needed: the corner demands more than the grip at the speed of the straight before.
    const auto corners = circuit().corners();
    const auto hairpin = std::ranges::max_element(corners, {}, &Corner::turn);
    EXPECT_GT(25.0f * 25.0f / hairpin->min_radius, 2.0f * kGrip);
}

// --- Observation ---------------------------------------------------------------------------------

TEST(Observation, MirroredCarsDifferOnlyInTheSignsOfOffsetAndHeadingError) {
    const Track& track = circuit();
    const float s = 100.0f;
    const auto observed = [&](float lateral, float angle) {
        const Car car{.position = track.position(s, lateral),
                      .heading = track.heading(s) + angle,
                      .speed = 12.0f};
        return observe(car, track, track.project(car.position));
    };
    const Observation left = observed(0.5f, 0.2f);
    const Observation right = observed(-0.5f, -0.2f);
    EXPECT_GT(left[1], 0.0f);
    EXPECT_GT(left[2], 0.0f);
    EXPECT_NEAR(left[0], right[0], 1e-6f);
    EXPECT_NEAR(left[1], -right[1], 0.02f);
    EXPECT_NEAR(left[2], -right[2], 0.05f);
    for (int i = 3; i < kObservationSize; ++i) EXPECT_NEAR(left[i], right[i], 0.05f);
}

TEST(Observation, DoesNotDependOnTheNumberOfTurnsTheHeadingHasGathered) {
    const Track& track = circuit();
    Car car{
        .position = track.position(50.0f), .heading = track.heading(50.0f) + 0.1f, .speed = 12.0f};
    const Observation before = observe(car, track, {50.0f, 0.0f});
    car.heading += 2.0f * 360.0f * kDegree;
    const Observation after = observe(car, track, {50.0f, 0.0f});
    for (int i = 0; i < kObservationSize; ++i) EXPECT_NEAR(before[i], after[i], 1e-4f);
}

TEST(Observation, StaysSmallWhileDriving) {
    Racer racer(circuit(), 0.0f, false);
    ScriptedDriver driver(circuit(), style("late"), 1);
    for (int frame = 0; frame < 1200; ++frame) {
        racer.step(driver.drive(racer, frame));
        for (const float value : racer.observation()) ASSERT_LT(std::abs(value), 4.0f);
    }
}

// --- Laps ----------------------------------------------------------------------------------------

TEST(Lap, TimesAreInterpolatedBetweenFrames) {
    // No frame ends on the line, so whole frames would be off by up to 17 ms.
    const Track& track = circuit();
    Racer racer(track, 0.0f, false);
    ScriptedDriver driver(track, style("smooth"), 3);
    float seconds = 0.0f;
    float last_crossing = -1.0f;
    std::vector<float> measured;
    for (int frame = 0; frame < 4000; ++frame) {
        const float before = racer.where().progress;
        racer.step(driver.drive(racer, frame));
        const float after = racer.where().progress;
        if (before > 0.75f * track.length() && after < 0.25f * track.length()) {
            const float ahead = track.length() - before;
            const float crossing = seconds + kFrameSeconds * ahead / (ahead + after);
            if (last_crossing >= 0.0f) measured.push_back(crossing - last_crossing);
            last_crossing = crossing;
        }
        seconds += kFrameSeconds;
    }
    ASSERT_EQ(measured.size(), racer.laps().size());
    ASSERT_GE(measured.size(), 2u);
    for (size_t i = 0; i < measured.size(); ++i)
        EXPECT_NEAR(racer.laps()[i].seconds, measured[i], 1e-3f);
}

TEST(Lap, DrivingBackAndForthOverTheLineIsNoLap) {
    const float half = 0.5f * circuit().length();
    Racer racer(circuit(), 0.0f, false);
    while (racer.where().progress > half) racer.step({0.0f, 0.2f});  // from the grid to the line
    int forward = 0;
    int backward = 0;
    for (int i = 0; i < 900; ++i) {  // circles on the line
        const bool was_past = racer.where().progress < half;
        racer.step({1.0f, racer.car().speed < 4.0f ? 0.5f : -0.5f});
        const bool is_past = racer.where().progress < half;
        forward += !was_past && is_past;
        backward += was_past && !is_past;
    }
    EXPECT_GE(forward, 3);
    EXPECT_GE(backward, 3);
    EXPECT_TRUE(racer.laps().empty());
}

TEST(Line, BinsThatWereNeverVisitedTakeThePredecessorsValue) {
    LineRecorder recorder;
    recorder.add(0.5f, 0.25f);
    recorder.add(0.75f, -0.5f);
    const Line line = recorder.finish();
    EXPECT_EQ(line[0], -0.5f);
    EXPECT_EQ(line[kLineBins / 2], 0.25f);
    EXPECT_EQ(line[kLineBins / 2 + 5], 0.25f);
    EXPECT_EQ(line[kLineBins - 1], -0.5f);
}

TEST(Line, ErrorIsTheMeanAbsoluteDifference) {
    Line a{};
    Line b{};
    b.fill(0.25f);
    b[0] = -0.25f;
    EXPECT_NEAR(line_error(a, b), 0.25f, 1e-6f);
    EXPECT_NEAR(mean_offset(b), 0.25f - 0.5f / kLineBins, 1e-6f);
    EXPECT_EQ(line_error(b, mean_line(std::vector<Line>{b, b})), 0.0f);
}

TEST(Line, ErrorOfAStretchIsThatOfItsBinsAndMayPassTheLine) {
    Line a{};
    Line b{};
    b[0] = 0.5f;
    b[kLineBins - 1] = 0.25f;
    constexpr float kBin = 1.0f / kLineBins;
    EXPECT_EQ(line_error(a, b, 0.0f, kBin), 0.5f);
    EXPECT_EQ(line_error(a, b, 0.0f, 2 * kBin), 0.25f);
    EXPECT_EQ(line_error(a, b, kBin, 2 * kBin), 0.0f);
    EXPECT_EQ(line_error(a, b, 1.0f - kBin, 1.0f + kBin), 0.375f);
    EXPECT_EQ(line_error(a, b, 0.0f, 0.1f * kBin), 0.0f) << "no bin's middle";
}

// --- Drivers -------------------------------------------------------------------------------------

TEST(ScriptedDriver, EveryStyleLapsInFifteenToTwentySecondsOnTheTrack) {
    ASSERT_GE(driving_styles().size(), 5u);
    for (const DrivingStyle& habits : driving_styles())
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            const Race race = driven_race({.seed = seed}, habits, 3700);
            ASSERT_GE(race.player().laps().size(), 3u) << habits.name;
            EXPECT_EQ(race.player().off_tracks(), 0u) << habits.name;
            for (const Lap& lap : race.player().laps()) {
                EXPECT_GT(lap.seconds, 15.0f) << habits.name;
                EXPECT_LT(lap.seconds, 20.0f) << habits.name;
                EXPECT_TRUE(lap.is_completed());
            }
        }
}

TEST(ScriptedDriver, AnyTwoStylesAreToldApartByTheNearestLine) {
    std::vector<Line> known;
    for (const DrivingStyle& habits : driving_styles()) known.push_back(first_line(habits, 100));
    for (size_t i = 0; i < known.size(); ++i)
        for (uint64_t seed = 1; seed <= 10; ++seed)
            EXPECT_EQ(nearest_line(first_line(driving_styles()[i], seed), known), i);
}

TEST(ScriptedDriver, SmoothAndLateDriveLinesHalfAHalfWidthApart) {
    const float smooth = mean_offset(first_line(style("smooth"), 1));
    const float late = mean_offset(first_line(style("late"), 1));
    EXPECT_GT(std::abs(smooth - late), 0.5f);
}

TEST(ScriptedDriver, WobbleDependsOnSeedAndFrameAlone) {
    const Racer racer(circuit(), 0.1f, false);
    ScriptedDriver a(circuit(), style("sloppy"), 1);
    ScriptedDriver b(circuit(), style("sloppy"), 1);
    ScriptedDriver other(circuit(), style("sloppy"), 2);
    (void)b.drive(racer, 500);
    EXPECT_EQ(a.drive(racer, 7).steer, b.drive(racer, 7).steer);
    EXPECT_NE(a.drive(racer, 7).steer, other.drive(racer, 7).steer);
    EXPECT_NE(a.drive(racer, 7).steer, a.drive(racer, 7 + ScriptedDriver::kWobbleFrames).steer);
}

TEST(ScriptedDriver, UnknownStyleIsNotFound) {
    EXPECT_EQ(find_driving_style("fast"), nullptr);
}

// --- Input scripts -------------------------------------------------------------------------------

InputScript parsed(std::string_view text) {
    return std::get<InputScript>(parse_input_script(text));
}

TEST(InputScript, HoldsEachLineUntilTheNext) {
    const InputScript script =
        parsed("# frame steer throttle\n10 0.5 1 # hard\r\n\n  20\t-1 -0.25");
    EXPECT_EQ(script.at(9).action.throttle, 0.0f);
    EXPECT_EQ(script.at(10).action.steer, 0.5f);
    EXPECT_EQ(script.at(19).action.throttle, 1.0f);
    EXPECT_EQ(script.at(20).action.steer, -1.0f);
    EXPECT_EQ(script.at(1'000'000).action.throttle, -0.25f);
}

TEST(InputScript, SeatsAreHeldAndWritten) {
    const char* const text =
        "# frame steer throttle seat\n1 0 1\n5 0.5 0 ghost\n9 0 0 none\n12 0 1\n";
    const InputScript script = parsed(text);
    EXPECT_EQ(script.at(4).seat, Seat::kOwnCar);
    EXPECT_EQ(script.at(8).seat, Seat::kGhost);
    EXPECT_EQ(script.at(9).seat, Seat::kNone);
    EXPECT_EQ(script.at(12).seat, Seat::kOwnCar);
    EXPECT_EQ(write_input_script(script), text);
}

TEST(InputScript, AnEmptyScriptDoesNothing) {
    EXPECT_EQ(parsed("").at(5).action.throttle, 0.0f);
}

TEST(InputScript, BadLinesAreRefusedByNumberExpectationAndFact) {
    const auto message = [](std::string_view text) {
        return std::get<InputScriptError>(parse_input_script(text)).message;
    };
    EXPECT_EQ(message("0 0 0\nten 0 0"),
              "line 2: frame must be a whole number >= 0, found \"ten\"");
    EXPECT_EQ(message("-1 0 0"), "line 1: frame must be a whole number >= 0, found \"-1\"");
    EXPECT_EQ(message("1.5 0 0"), "line 1: frame must be a whole number >= 0, found \"1.5\"");
    EXPECT_EQ(message("5 0 0\n\n5 0 1"),
              "line 3: frame must be greater than 5 before it, found \"5\"");
    EXPECT_EQ(message("0 left 0"), "line 1: steer must be a number in [-1, 1], found \"left\"");
    EXPECT_EQ(message("0 nan 0"), "line 1: steer must be a number in [-1, 1], found \"nan\"");
    EXPECT_EQ(message("0 1.01 0"), "line 1: steer must be a number in [-1, 1], found \"1.01\"");
    EXPECT_EQ(message("0 1"), "line 1: throttle must be a number in [-1, 1], found nothing");
    EXPECT_EQ(message("0 1 0x1"), "line 1: throttle must be a number in [-1, 1], found \"0x1\"");
    EXPECT_EQ(message("0 1 0 9"), "line 1: seat must be ghost, none or left out, found \"9\"");
}

TEST(InputScript, ARecordedDriveReplaysToTheSameRace) {
    InputScript script;
    Race recorded(circuit(), {.seed = 4});
    ScriptedDriver driver(circuit(), style("late"), 4);
    for (int frame = 0; frame < 1300; ++frame) {
        const Action action = driver.drive(recorded.player(), recorded.frame());
        script.entries.push_back({recorded.frame(), action});
        recorded.step(action);
    }
    Race replayed(circuit(), {.seed = 4});
    ReplayDriver replay(parsed(write_input_script(script)));
    for (int frame = 0; frame < 1300; ++frame)
        replayed.step(replay.drive(replayed.player(), replayed.frame()));
    EXPECT_EQ(recorded.state_hash(), replayed.state_hash());
    EXPECT_EQ(replayed.player().laps().size(), 1u);
}

// --- Random --------------------------------------------------------------------------------------

TEST(Random, StreamsOfOneSeedDiffer) {
    std::set<uint64_t> seen;
    for (const scenes::Stream stream : {scenes::Stream::kWorld, scenes::Stream::kDriver,
                                        scenes::Stream::kMinibatch, scenes::Stream::kInit})
        for (uint64_t counter = 0; counter < 1000; ++counter)
            seen.insert(scenes::random_bits(1, stream, counter));
    EXPECT_EQ(seen.size(), 4000u);
}

TEST(Random, SignedValuesFillTheirRangeEvenly) {
    float sum = 0.0f;
    float squares = 0.0f;
    for (uint64_t i = 0; i < 30000; ++i) {
        const float value = scenes::random_signed(9, scenes::Stream::kInit, i);
        ASSERT_GE(value, -1.0f);
        ASSERT_LT(value, 1.0f);
        sum += value;
        squares += value * value;
    }
    EXPECT_NEAR(sum / 30000.0f, 0.0f, 0.02f);  // six standard errors
    EXPECT_NEAR(squares / 30000.0f, 1.0f / 3.0f, 0.011f);
}

// --- Race ----------------------------------------------------------------------------------------

TEST(Race, SameSeedTwiceIsTheSameRaceAndAnotherSeedIsNot) {
    const uint64_t hash = driven_race({.seed = 5}, style("late"), 3000).state_hash();
    EXPECT_EQ(hash, driven_race({.seed = 5}, style("late"), 3000).state_hash());
    EXPECT_NE(hash, driven_race({.seed = 6}, style("late"), 3000).state_hash());
}

TEST(Race, TheGhostStartsWhenThePlayerHasCompletedALap) {
    Race race(circuit(), {.seed = 1});
    ScriptedDriver driver(circuit(), style("smooth"), 1);
    const glm::vec2 grid = race.ghost().car().position;
    while (race.player().laps().empty()) {
        EXPECT_FALSE(race.ghost_is_driving());
        EXPECT_EQ(race.ghost().car().position, grid);
        race.set_ghost_action(race.frame(), {0.0f, 1.0f});
        race.step(driver.drive(race.player(), race.frame()));
        ASSERT_LT(race.frame(), 1500u);
    }
    EXPECT_TRUE(race.ghost_is_driving());
    race.step({});
    EXPECT_NE(race.ghost().car().position, grid);
}

TEST(Race, AGhostThatActsLikeThePlayerLapsWithThePlayersTimeAndLineAtEveryLatency) {
    for (const uint32_t latency : {0u, 1u, 2u}) {
        const Race race =
            driven_race({.seed = 2, .action_latency_frames = latency}, style("tidy"), 4600);
        const RaceTable table = race.table();
        ASSERT_GE(table.ghost.rows.size(), 3u);
        EXPECT_TRUE(table.has_ghost_lapped(3, 0.02f));
        EXPECT_NEAR(table.ghost.mean_offset, table.player.mean_offset, 0.03f);
        EXPECT_EQ(race.missed_actions(), 0u);
    }
}

TEST(Race, AGhostWithoutASteeringNetFailsItsLaps) {
    for (const ActionVector& output : {ActionVector{0.0f, 0.0f}, {0.0f, 1.0f}, {0.3f, 0.4f}}) {
        Race race(circuit(), {.seed = 1});
        ScriptedDriver driver(circuit(), style("late"), 1);
        for (int i = 0; i < 5400; ++i) {
            race.set_ghost_action(race.frame(), output);
            race.step(driver.drive(race.player(), race.frame()));
        }
        const RaceTable table = race.table();
        EXPECT_FALSE(table.has_ghost_lapped(1, 0.1f));
        EXPECT_GT(table.ghost.resets, 10u);
        for (const RaceTable::Row& lap : table.ghost.rows) EXPECT_FALSE(lap.is_completed);
    }
}

TEST(Race, TheActionOfAFrameComesFromTheObservationLatencyFramesBefore) {
    for (const uint32_t latency : {0u, 1u, 2u, 4u}) {
        Race race(circuit(), {.seed = 1, .action_latency_frames = latency});
        ScriptedDriver driver(circuit(), style("late"), 1);
        Car expected;
        bool was_driving = false;
        std::vector<float> posted;
        for (int i = 0; i < 1200; ++i) {
            posted.push_back(scenes::random_signed(3, scenes::Stream::kInit, i));
            race.set_ghost_action(race.frame(), {posted.back(), 0.5f});
            expected = step_car(race.ghost().car(),
                                {posted[posted.size() - 1 - std::min<size_t>(latency, i)], 0.5f},
                                race.ghost().is_on_track());
            was_driving = race.ghost_is_driving();
            const uint32_t resets = race.ghost().resets();
            race.step(driver.drive(race.player(), race.frame()));
            if (was_driving && race.ghost().resets() == resets) {
                ASSERT_EQ(race.ghost().car().heading, expected.heading) << "frame " << i;
            }
        }
        EXPECT_TRUE(was_driving);
    }
}

TEST(Race, AMissingResultHoldsTheLastActionAndIsCounted) {
    Race race(circuit(), {.seed = 1, .action_latency_frames = 1});
    ScriptedDriver driver(circuit(), style("late"), 1);
    while (!race.ghost_is_driving()) {
        race.set_ghost_action(race.frame(), {0.0f, 1.0f});
        race.step(driver.drive(race.player(), race.frame()));
    }
    race.step({});  // uses the last result handed in
    EXPECT_EQ(race.missed_actions(), 0u);
    const Car before = race.ghost().car();
    race.step({});
    EXPECT_EQ(race.missed_actions(), 1u);
    EXPECT_EQ(race.ghost().car().speed, step_car(before, {0.0f, 1.0f}, true).speed);
    race.set_ghost_action(race.frame() - 2, {0.0f, -1.0f});  // too late to be used
    race.step({});
    EXPECT_EQ(race.missed_actions(), 2u);
    EXPECT_GT(race.ghost().car().speed, before.speed);
}

TEST(Race, NotANumberFromTheNetDoesNotReachTheCar) {
    Race race(circuit(), {.seed = 1});
    ScriptedDriver driver(circuit(), style("late"), 1);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (int i = 0; i < 1300; ++i) {
        race.set_ghost_action(race.frame(), {nan, nan});
        race.step(driver.drive(race.player(), race.frame()));
    }
    EXPECT_TRUE(race.ghost_is_driving());
    EXPECT_TRUE(std::isfinite(race.ghost().car().position.x));
    EXPECT_TRUE(std::isfinite(race.ghost().car().speed));
}

TEST(Race, DemonstrationsAreTwentyAHertzAndPairTheActionWithWhatWasSeenBefore) {
    Race race(circuit(), {.seed = 1, .reaction_frames = 3});
    ScriptedDriver driver(circuit(), style("late"), 1);
    std::vector<Observation> seen;
    size_t count = 0;
    for (size_t i = 0; i < 600; ++i) {
        seen.push_back(race.player().observation());
        const Action done = driver.drive(race.player(), race.frame());
        race.step(done);
        const auto& shown = race.demonstration();
        ASSERT_EQ(shown.has_value(), i % Race::kFramesPerSample == 0 && i >= 3) << "frame " << i;
        if (!shown) continue;
        ++count;
        EXPECT_EQ(shown->observation, seen[i - 3]);
        EXPECT_EQ(shown->action, (ActionVector{done.steer, done.throttle}));
    }
    EXPECT_EQ(count, 600u / Race::kFramesPerSample - 1u);
}

/// A race whose ghost, driven as by a net that learned perfectly, has been on its way for a while.
struct HandOver {
    Race race{circuit(), {.seed = 1}};
    ScriptedDriver driver{circuit(), style("late"), 1};
    PerfectGhost ghost{style("late"), 2};

    HandOver() {
        race.add_rival();
        while (!race.ghost_is_driving()) step(Seat::kOwnCar);
        for (int i = 0; i < 101; ++i) step(Seat::kOwnCar);
    }
    Action step(Seat seat) {
        race.set_ghost_action(race.frame(), ghost.act(race));
        race.set_rival_action(race.frame(), {0.0f, 0.3f});
        const Action action = driver.drive(race.driven(seat), race.frame());
        race.step(action, seat);
        return action;
    }
};

TEST(Race, WhoTakesTheGhostsWheelMovesItAndAllOthersWait) {
    HandOver h;
    for (int i = 0; i < 30; ++i) {
        const Car before = h.race.ghost().car(), own = h.race.player().car();
        const Car rival = h.race.rival()->car();
        const float lap = h.race.player().lap_seconds();
        const Action action = h.step(Seat::kGhost);
        EXPECT_EQ(h.race.ghost().car().heading, step_car(before, action, true).heading);
        EXPECT_EQ(h.race.player().car().position, own.position);
        EXPECT_EQ(h.race.rival()->car().position, rival.position);
        EXPECT_EQ(h.race.player().lap_seconds(), lap);
    }
    EXPECT_EQ(h.race.corrected_frames(), 30u);
    const Car own = h.race.player().car(), ghost = h.race.ghost().car();
    h.step(Seat::kNone);
    EXPECT_EQ(h.race.player().car().position, own.position);
    EXPECT_NE(h.race.ghost().car().position, ghost.position) << "its net drives again";
    EXPECT_EQ(h.race.corrected_frames(), 30u);
    h.step(Seat::kOwnCar);
    EXPECT_NE(h.race.player().car().position, own.position);
    EXPECT_EQ(h.race.missed_actions(), 0u);
}

TEST(Race, OnlyWhatIsDoneAtAWheelIsShownAndNothingAcrossAChangeOfSeats) {
    HandOver h;
    std::vector<Observation> seen;
    const auto count = [&](Seat seat, int frames) {
        int shown = 0;
        seen.clear();
        for (int i = 0; i < frames; ++i) {
            seen.push_back(h.race.driven(seat).observation());
            h.step(seat);
            if (!h.race.demonstration()) continue;
            ++shown;
            EXPECT_GE(i, 2) << "it would answer what was seen from the other seat";
            if (i >= 2) {
                EXPECT_EQ(h.race.demonstration()->observation, seen[static_cast<size_t>(i) - 2]);
            }
        }
        return shown;
    };
    EXPECT_NEAR(count(Seat::kGhost, 60), 20, 1);
    EXPECT_EQ(count(Seat::kNone, 60), 0);
    EXPECT_NEAR(count(Seat::kOwnCar, 60), 20, 1);
}

TEST(Race, BeforeTheGhostDrivesItsWheelIsOnesOwn) {
    Race race(circuit(), {.seed = 1});
    const Car ghost = race.ghost().car(), own = race.player().car();
    EXPECT_EQ(&race.driven(Seat::kGhost), &race.player());
    race.step({0.0f, 1.0f}, Seat::kGhost);
    EXPECT_EQ(race.ghost().car().position, ghost.position);
    EXPECT_NE(race.player().car().position, own.position);
    EXPECT_EQ(race.seat(), Seat::kOwnCar);
}

TEST(Race, TheLeadIsTheTimeBetweenTwoCarsAtTheSamePlace) {
    Race race(circuit(), {.seed = 1, .action_latency_frames = 0});
    race.add_rival();
    EXPECT_EQ(race.lead_seconds(), 0.0f);
    // Two drivers of one line and speed, of whom the second one waits for a second after a lap.
    ScriptedDriver driver(circuit(), style("tidy"), 1);
    bool has_waited = false;
    const auto drive = [&](int frames) {
        for (int i = 0; i < frames; ++i) {
            const Action rival = driver.drive(*race.rival(), race.frame());
            race.set_rival_action(race.frame(), {rival.steer, rival.throttle});
            race.step(driver.drive(race.player(), race.frame()));
        }
    };
    drive(900);
    EXPECT_NEAR(race.lead_seconds(), 0.0f, 0.1f);
    while (race.rival()->car().speed > 2.0f) {
        race.set_rival_action(race.frame(), {0.0f, -1.0f});
        race.step(driver.drive(race.player(), race.frame()));
        has_waited = true;
    }
    drive(900);
    EXPECT_TRUE(has_waited);
    const float behind = race.lead_seconds();
    EXPECT_GT(behind, 0.5f);
    EXPECT_LT(behind, 5.0f);
    EXPECT_GT(race.player().distance(), race.rival()->distance());
    ASSERT_TRUE(race.table().rival);
    EXPECT_GT(race.table().rival->rows.front().seconds, race.table().player.rows.front().seconds);
}

TEST(Race, WithoutARivalItsHashIsThatOfTheTwoCars) {
    Race alone(circuit(), {.seed = 1}), both(circuit(), {.seed = 1});
    both.add_rival();
    for (Race* race : {&alone, &both}) race->step({0.0f, 1.0f});
    EXPECT_EQ(alone.player().car().position, both.player().car().position);
    EXPECT_NE(alone.state_hash(), both.state_hash());
    EXPECT_EQ(alone.rival(), nullptr);
    EXPECT_FALSE(alone.table().rival);
}

TEST(Coach, TakesACornerTooWideParksAndShowsTheGhostHowItIsDone) {
    const Corner corner = circuit().corners().at(3);
    const float begin = corner.begin / circuit().length();
    const float end = begin + corner.length / circuit().length();
    Race race(circuit(), {.seed = 1});
    Coach coach(circuit(), style("tidy"), corner, 1);
    PerfectGhost ghost(style("tidy"), 2);
    ScriptedDriver driver(circuit(), style("tidy"), 1);
    const Line right = driven_line(circuit(), driver);
    constexpr size_t kTaughtEnd = Coach::kWatchedLaps + Coach::kTaughtLaps;
    std::vector<size_t> taught_frames(kTaughtEnd + 2);
    while (race.ghost().laps().size() < taught_frames.size()) {
        ASSERT_LT(race.frame(), 20000u);
        race.set_ghost_action(race.frame(), ghost.act(race));
        const Seat seat = coach.seat(race);
        ASSERT_EQ(seat == Seat::kOwnCar, !race.ghost_is_driving());
        const float here = race.ghost().where().progress;
        if (seat == Seat::kGhost) {
            ++taught_frames[race.ghost().laps().size()];
            EXPECT_GE(here, corner.begin - Coach::kTurnInMetres);
            EXPECT_LE(here, corner.begin + corner.length);
        }
        race.step(coach.drive(race.driven(seat), race.frame()), seat);
    }
    for (size_t lap = 0; lap < taught_frames.size(); ++lap) {
        const bool teaches = lap >= Coach::kWatchedLaps && lap < kTaughtEnd;
        EXPECT_EQ(taught_frames[lap] > 20, teaches) << "lap " << lap;
        EXPECT_EQ(taught_frames[lap] > 0, teaches) << "lap " << lap;
    }
    ASSERT_EQ(race.player().laps().size(), 1u);
    const Line& own = race.player().laps().front().line;
    EXPECT_EQ(race.player().off_tracks(), 0u);
    EXPECT_GT(line_error(own, right, begin, end), 0.25f);
    EXPECT_LT(line_error(own, right, 0.0f, begin - 0.05f), 0.05f) << "elsewhere they drive well";
    const std::vector<float> errors = corner_errors(race, right, 0, 99);
    ASSERT_EQ(errors.size(), circuit().corners().size());
    for (const float error : errors) EXPECT_LT(error, 0.1f);
    for (const float error : corner_errors(race, right, 50, 99)) EXPECT_EQ(error, 0.0f);
}

TEST(Coach, ARecordedCorrectionReplaysToTheSameRace) {
    const auto drive = [](Driver& driver, InputScript* script) {
        Race race(circuit(), {.seed = 1});
        PerfectGhost ghost(style("tidy"), 2);
        while (race.ghost().laps().size() <= Coach::kWatchedLaps) {
            race.set_ghost_action(race.frame(), ghost.act(race));
            const Seat seat = driver.seat(race);
            const Action action = driver.drive(race.driven(seat), race.frame());
            if (script != nullptr) script->entries.push_back({race.frame(), action, seat});
            race.step(action, seat);
        }
        return race;
    };
    Coach coach(circuit(), style("tidy"), circuit().corners().at(3), 1);
    InputScript script;
    const Race recorded = drive(coach, &script);
    EXPECT_GT(recorded.corrected_frames(), 20u);
    ReplayDriver replay(parsed(write_input_script(script)));
    const Race replayed = drive(replay, nullptr);
    EXPECT_EQ(recorded.state_hash(), replayed.state_hash());
    EXPECT_EQ(recorded.corrected_frames(), replayed.corrected_frames());
}

TEST(Race, ALapWithAResetIsNeverCompleted) {
    Racer racer(circuit(), 0.0f, true);
    ScriptedDriver driver(circuit(), style("smooth"), 1);
    for (int frame = 0; racer.laps().size() < 2; ++frame) {
        const bool goes_astray = frame > 400 && racer.resets() == 0;
        racer.step(goes_astray ? Action{1.0f, 1.0f} : driver.drive(racer, frame));
        ASSERT_LT(frame, 6000);
    }
    EXPECT_FALSE(racer.laps()[0].is_completed());
    EXPECT_GE(racer.laps()[0].off_tracks, 1u);
    EXPECT_TRUE(racer.laps()[1].is_completed());
}

TEST(Race, ACarThatMayStandStillIsPutBackOnlyWhenLost) {
    Racer patient(circuit(), 0.0f, false);
    for (int i = 0; i < 600; ++i) patient.step({0.0f, -1.0f});
    EXPECT_EQ(patient.resets(), 0u);
    for (int i = 0; i < 600; ++i) patient.step({0.0f, 1.0f});
    EXPECT_GT(patient.resets(), 0u);
}

TEST(RaceTable, ThreeLapsMustBeCompletedInARowAndInTime) {
    RaceTable table;
    table.player.seconds = 20.0f;
    const auto lap = [](float seconds, bool is_completed) {
        return RaceTable::Row{.seconds = seconds,
                              .mean_offset = 0.0f,
                              .line_error = 0.0f,
                              .off_tracks = 0,
                              .is_completed = is_completed};
    };
    table.ghost.rows = {lap(21.9f, true), lap(18.1f, true), lap(20.0f, false),
                        lap(20.0f, true), lap(22.1f, true), lap(20.0f, true)};
    EXPECT_TRUE(table.has_ghost_lapped(2, 0.1f));
    EXPECT_FALSE(table.has_ghost_lapped(3, 0.1f));
    table.ghost.rows[2].is_completed = true;
    EXPECT_TRUE(table.has_ghost_lapped(3, 0.1f));
}

}  // namespace
}  // namespace hearth::ghost_lap
