// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "classic/task.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hearth::classic {
namespace {

// data/classic/make_trajectories.py wrote them.
std::ifstream open_trajectories() {
    return std::ifstream(HEARTH_TEST_DATA "/classic/trajectories.txt");
}

class ClassicTask : public ::testing::TestWithParam<std::string_view> {};

// States run freely from each start: an error of one step would grow over all that follow.
TEST_P(ClassicTask, FollowsGymnasiumForTwoHundredSteps) {
    std::ifstream file = open_trajectories();
    ASSERT_TRUE(file.good());
    const auto task = make_task(GetParam());
    ASSERT_NE(task, nullptr);
    int steps = 0;
    bool is_ours = false;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string kind, bar;
        words >> kind;
        if (kind == "task") {
            std::string name;
            words >> name;
            is_ours = name == GetParam();
        }
        if (!is_ours) continue;
        const auto read = [&](int count) {
            std::vector<double> numbers(static_cast<size_t>(count));
            for (double& n : numbers) words >> n;
            return numbers;
        };
        if (kind == "start") task->set_state(read(task->info().state_width));
        if (kind != "step") continue;
        const std::vector<double> head = read(3);
        const std::vector<double> state = read(task->info().state_width);
        words >> bar;
        const std::vector<double> seen = read(task->info().observation_width);
        ASSERT_FALSE(words.fail()) << line;

        const Outcome outcome = task->step(static_cast<float>(head[0]));
        ASSERT_NEAR(outcome.reward, head[1], 1e-6) << "step " << steps;
        ASSERT_EQ(outcome.terminated, head[2] != 0) << "step " << steps;
        for (size_t i = 0; i < state.size(); ++i)
            ASSERT_NEAR(task->state()[i], state[i], 1e-6) << "step " << steps << ", state " << i;
        std::vector<float> found(seen.size());
        task->observe(found);
        for (size_t i = 0; i < seen.size(); ++i)
            ASSERT_NEAR(static_cast<double>(found[i]), seen[i], 1e-6)
                << "step " << steps << ", observation " << i;
        ++steps;
    }
    EXPECT_EQ(steps, 200);
}

TEST_P(ClassicTask, StartsDependOnTheSeedAloneAndDiffer) {
    const auto a = make_task(GetParam()), b = make_task(GetParam());
    a->reset(3);
    (void)a->step(0);
    a->reset(4);
    b->reset(4);
    EXPECT_TRUE(std::equal(a->state().begin(), a->state().end(), b->state().begin()));
    b->reset(5);
    EXPECT_FALSE(std::equal(a->state().begin(), a->state().end(), b->state().begin()));
}

INSTANTIATE_TEST_SUITE_P(All, ClassicTask, ::testing::ValuesIn(kTaskNames),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(ClassicTasks, UnknownNamesGiveNothing) {
    EXPECT_EQ(make_task("CartPole-v9"), nullptr);
}

}  // namespace
}  // namespace hearth::classic
