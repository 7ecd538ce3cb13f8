// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A minibatch in two entries, on the reference interpreter; by MPI: mpi_test.cpp.

#include "train/devices.hpp"
#include "train/divided_window.hpp"
#include "train/pooled.hpp"
#include "unit/agents/learner_rig.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace hearth::train {
namespace {

using agents::InterpretedLearner;

const NamedTensors kSettings = {{"learning_rate", HostTensor::scalar(1e-3)},
                                {"clip_range", HostTensor::scalar(0.2)}};

void play(InterpretedLearner& learner) {
    for (int64_t i = 0; i < kDividedHorizon / 2; ++i) (void)learner.run("rollout");
}

std::vector<float> floats_of(const HostTensor& tensor) {
    const auto values = tensor.as<float>();
    return {values.begin(), values.end()};
}

TEST(DataParallel, GradientAndStepLearnWhatLearnLearns) {
    InterpretedLearner apart(divided_traces(kDividedWorlds, true));
    InterpretedLearner together(divided_traces(kDividedWorlds, false));
    for (InterpretedLearner* learner : {&apart, &together}) {
        play(*learner);
        (void)learner->run("compute_advantages");
    }
    const NamedTensors first = together.weights;
    NamedTensors inputs = kSettings;
    inputs["sums"] = apart.run("gradient", kSettings).at("sums");
    (void)apart.run("step", inputs);
    (void)together.run("learn", kSettings);
    double moved = 0;
    for (const auto& [name, value] : together.weights)
        for (int64_t i = 0; i < value.element_count(); ++i) {
            ASSERT_NEAR(apart.weights.at(name).get(i), value.get(i), 1e-6) << name;
            if (name.starts_with("actor")) moved += std::abs(value.get(i) - first.at(name).get(i));
        }
    EXPECT_GT(moved, 0.01);
}

TEST(DataParallel, GradientsOfPartsSumToThatOfAllSamples) {
    InterpretedLearner whole(divided_traces(kDividedWorlds, true));
    play(whole);
    const NamedTensors window = whole.weights;
    (void)whole.run("compute_advantages");
    const std::vector<float> expected = floats_of(whole.run("gradient", kSettings).at("sums"));
    for (const int64_t parts : {2, 4}) {
        std::vector<std::unique_ptr<InterpretedLearner>> learners;
        std::vector<float> rows;
        for (int64_t p = 0; p < parts; ++p) {
            learners.push_back(
                std::make_unique<InterpretedLearner>(divided_traces(kDividedWorlds / parts, true)));
            InterpretedLearner& learner = *learners.back();
            for (auto& [name, value] : part_of_window(window, learner.weights, p, parts))
                learner.weights[name] = value;
            (void)learner.run("compute_advantages");
            const std::vector<float> own = floats_of(learner.weights.at("learn.minibatches"));
            rows.insert(rows.end(), own.begin(), own.end());
        }
        const std::vector<float> all = pooled_minibatches(rows, static_cast<size_t>(parts));
        EXPECT_LT(relative_distance(all, floats_of(whole.weights.at("learn.minibatches"))), 1e-6);
        std::vector<float> sums(expected.size());
        for (auto& learner : learners) {
            learner->weights["learn.minibatches"] = HostTensor::of({1, 3}, all);
            const std::vector<float> own =
                floats_of(learner->run("gradient", kSettings).at("sums"));
            for (size_t i = 0; i < sums.size(); ++i) sums[i] += own[i];
        }
        EXPECT_LT(relative_distance(sums, expected), 1e-6) << parts << " parts";
    }
}

TEST(Pooled, StatisticsOfPartsAreThoseOfAllSamples) {
    const Statistics running = {{0, 1}, {1, 2}, 1e-4f};
    // 1, 2, 3 and 7; 10, 10, 10 and 14.
    const Statistics parts[] = {
        {{2, 10}, {2.0f / 3, 0}, 3}, {{5, 5}, {9, 9}, 0}, {{7, 14}, {0, 0}, 1}};
    const Statistics all = pooled(running, parts);
    EXPECT_EQ(all.mean[0], 3.25f);
    EXPECT_EQ(all.variance[0], 5.1875f);
    EXPECT_EQ(all.mean[1], 11);
    EXPECT_EQ(all.variance[1], 3);
    EXPECT_EQ(all.count, 4);
    EXPECT_EQ(pooled({{0}, {1}, 1e6f}, parts).count, 1e6f);  // and no more
}

TEST(DeviceOfRank, IsOneGpuEachInTheOrderOfUuids) {
    std::vector<DeviceIdentity> devices(4);
    devices[0] = {{9}, true};
    devices[1] = {{1}, false};
    devices[2] = {{5}, true};
    devices[3] = {{7}, true};
    EXPECT_EQ(device_of_rank(devices, 0), 2);
    EXPECT_EQ(device_of_rank(devices, 1), 3);
    EXPECT_EQ(device_of_rank(devices, 2), 0);
    EXPECT_EQ(device_of_rank(devices, 3), 2);
    EXPECT_EQ(device_of_rank(std::span(devices).subspan(1, 1), 3), 0);
    EXPECT_EQ(device_of_rank({}, 0), -1);
}

}  // namespace
}  // namespace hearth::train
