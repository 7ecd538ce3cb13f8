// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning within a budget on a machine that does other work, too.

#include "device/agents/learning_budget.hpp"

#include "core/cost_meter.hpp"
#include "device/agents/updates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace hearth::agents {
namespace {

/// A device of software whose threads share two cores with other processes.
class SharedDevice {
  public:
    SharedDevice(int competitors, uint64_t seed) : competitors_(competitors), random_(seed) {}
    void set_competitors(int competitors) { competitors_ = competitors; }
    /// Wall time of this much CPU time: the scheduler interrupts every 3 ms of running.
    double wall_us(double cpu_us) {
        constexpr double kQuantum = 3000;
        const double before = phase_;
        phase_ += cpu_us;
        const double turns = std::floor(phase_ / kQuantum) - std::floor(before / kQuantum);
        const double wait = std::uniform_real_distribution<double>(0.5, 1.5)(random_);
        return cpu_us + turns * wait * kQuantum * competitors_ / 2;
    }

  private:
    int competitors_;
    std::mt19937_64 random_;
    double phase_ = 0;
};

struct Played {
    double cpu_us_per_minibatch = 0;
    uint64_t minibatches = 0, most_frames_without_update = 0;
};

/// Minibatches of 60 ms in one piece: ten commands of 2 ms and two of 20 ms.
/// surge: every other so many frames the machine has 60 competitors; 0: never.
Played play(int competitors, double budget_us, int frames, uint64_t seed, uint64_t surge = 0) {
    constexpr double kOverhead = 60;  // of each recorded slice
    std::vector<CostMeter::Command> commands;
    std::vector<double> truth;
    for (int i = 0; i < 12; ++i) {
        CostMeter::Command c;
        c.part_count = i % 6 == 5 ? 400 : 40;
        c.workgroups = 2 * c.part_count;
        commands.push_back(c);
        truth.push_back(i % 6 == 5 ? 20000 : 2000);
        commands.push_back({.is_barrier = true});
        truth.push_back(0);
    }
    CostMeter cost;
    cost.set_up(commands);
    Schedule schedule;
    schedule.n_steps = 1;
    schedule.updates_per_rollout = 1u << 30;
    HostAllocator allocator;
    Updates updates;
    EXPECT_TRUE(updates.allocate(allocator, schedule));
    updates.count_decision(1);
    updates.begin();
    updates.advantages_done();
    LearningBudget budget;
    SharedDevice device(competitors, seed);
    Position at;
    Played played;
    double cpu_us = 0;
    uint64_t frame = 0;
    const auto record = [&](Limits limits) {
        const Position first = at;
        double us = kOverhead;
        if (limits.workgroups > 0) {
            const CostMeter::Command& c = commands[at.command];
            const uint32_t parts =
                std::min(std::max(limits.workgroups / 2, 1u), c.part_count - at.part);
            us += truth[at.command] * parts / c.part_count;
            at.part += parts;
            if (at.part == c.part_count) at = {at.command + 1};
        } else {
            for (uint32_t left = limits.dispatches; left > 0 && at.command < commands.size();) {
                const CostMeter::Command& c = commands[at.command];
                us += truth[at.command] * (c.part_count - at.part) / c.part_count;
                left -= c.is_barrier ? 0 : 1;
                at = {at.command + 1};
            }
        }
        while (at.command < commands.size() && commands[at.command].is_barrier)
            at = {at.command + 1};
        const double wall = device.wall_us(us);
        cpu_us += us;
        const Position end = at;
        budget.spend(cost.us(first, end));
        if (cost.is_known()) budget.settle(cost.us(first, end), wall);
        budget.count(frame, wall, cost.us_of_least(at));
        cost.measure(first, end, wall);
        updates.count_slice();
        if (end.command < commands.size()) return;
        at = {};
        ++played.minibatches;
        (void)updates.minibatch_done();
    };
    for (frame = 1; frame <= static_cast<uint64_t>(frames); ++frame) {
        if (surge > 0) device.set_competitors(frame / surge % 2 == 1 ? 60 : competitors);
        budget.begin_frame(budget_us, HEARTH_AGENTS_PRIORITY_BALANCED);
        cost.set_budget(budget.planned_us());
        budget.add(cost.us_of_least(at));
        updates.count_frame();
        const uint32_t due = updates.slices_due(std::max(cost.slices_from(at), 1u));
        for (uint32_t n = 0; n < 8; ++n) {
            Limits limits = updates.records_whole() ? Limits{.dispatches = UINT32_MAX}
                            : cost.is_known()       ? cost.within(at, budget.left_us())
                                                    : Limits{.dispatches = 4};
            if (limits.is_nothing() && n < due) limits = cost.least(at);
            if (limits.is_nothing()) break;
            const bool was_cut = !at.is_start();
            record(limits);
            if (!at.is_start() && (was_cut || n + 1 >= due)) break;
        }
        played.most_frames_without_update =
            std::max(played.most_frames_without_update, updates.frames_without_update());
    }
    played.cpu_us_per_minibatch =
        cpu_us / static_cast<double>(std::max<uint64_t>(played.minibatches, 1));
    return played;
}

TEST(LearningBudget, SlicesOfALoadedMachineStayCheapAndEnd) {
    constexpr double kWhole = 60060;
    for (const int competitors : {0, 8, 16})
        for (uint64_t seed = 1; seed <= 5; ++seed) {
            const Played played = play(competitors, 4000, 1500, seed);
            EXPECT_GE(played.minibatches, 2u) << competitors;
            EXPECT_LE(played.cpu_us_per_minibatch, 1.5 * kWhole) << competitors;
            EXPECT_LE(played.most_frames_without_update, 600u) << competitors;
        }
}

// However small the budget is.
TEST(LearningBudget, AMinibatchIsFinishedWithin600Frames) {
    for (const double budget : {1.0, 20.0, 500.0}) {
        const Played played = play(16, budget, 3000, 1);
        EXPECT_GE(played.minibatches, 4u) << budget;
        EXPECT_LT(played.most_frames_without_update, 600u) << budget;
    }
}

// Other work makes slices look expensive, so that they are cut smaller when time is nearly up.
TEST(LearningBudget, AMinibatchIsFinishedWithin600FramesWhenTheLoadRises) {
    for (uint64_t seed = 1; seed <= 40; ++seed)
        EXPECT_LT(play(0, 500, 4000, seed, 37).most_frames_without_update, 600u) << seed;
}

}  // namespace
}  // namespace hearth::agents
