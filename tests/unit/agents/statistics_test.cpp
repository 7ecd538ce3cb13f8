// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Running statistics on the reference interpreter, beside the same sums in double precision.

#include "compiler/interpreter/interpreter.hpp"
#include "model/agents/parts.hpp"

#include <hearth/core/philox.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace hearth::agents {
namespace {

/// RunningStatistics of one value, and what they should be.
class Measured {
  public:
    explicit Measured(int64_t batch) : batch_(batch) {
        Trace trace("merge");
        RunningStatistics::declare(trace, "x", 1)
            .merge(trace.input("samples", {batch, 1}), trace.input("weight", {batch}));
        auto graph = trace.build();
        EXPECT_TRUE(graph.ok()) << graph.status().message();
        graph_ = std::move(graph).value();
        weights_ = initial_weights(graph_);
    }

    /// Merges one batch; samples that weigh nothing are huge.
    void merge(const std::vector<float>& samples, int64_t weighed) {
        HostTensor weight(DType::kF32, {batch_}), values(DType::kF32, {batch_, 1});
        for (int64_t i = 0; i < batch_; ++i) {
            weight.set(i, i < weighed ? 1 : 0);
            values.set(i, i < weighed ? static_cast<double>(samples[static_cast<size_t>(i)]) : 1e9);
            if (i >= weighed) continue;
            ++count_;
            const double apart = values.get(i) - mean_;
            mean_ += apart / count_;
            squares_ += apart * (values.get(i) - mean_);
        }
        const auto run = interpret(graph_, {{"samples", values}, {"weight", weight}}, weights_, 1);
        ASSERT_TRUE(run.ok()) << run.status().message();
    }

    double value(const char* name) const { return weights_.at(name).get(0); }
    /// In deviations.
    double error_of_mean() const { return (value("x.mean") - mean_) / std::sqrt(variance()); }
    double error_of_variance() const { return value("x.variance") / variance() - 1; }
    double variance() const { return squares_ / count_; }

  private:
    int64_t batch_;
    Graph graph_;
    NamedTensors weights_;
    double count_ = 0, mean_ = 0, squares_ = 0;
};

/// Deterministic samples of a normal distribution.
class Noise {
  public:
    std::vector<float> next(int64_t count, double mean, double deviation) {
        std::vector<float> samples;
        for (int64_t i = 0; i < count; ++i, ++draws_) {
            const double u = uniform_from_bits(philox_bits(1, draws_, 0));
            const double v = uniform_from_bits(philox_bits(2, draws_, 0));
            samples.push_back(static_cast<float>(
                mean + deviation * std::sqrt(-2 * std::log(1 - u)) * std::cos(6.283185307 * v)));
        }
        return samples;
    }

  private:
    uint32_t draws_ = 0;
};

struct Stream {
    double mean, deviation;
    int64_t batch;
    int merges;
};

void expect_exact(const Stream& s) {
    Measured measured(s.batch);
    Noise noise;
    for (int i = 0; i < s.merges; ++i)
        measured.merge(noise.next(s.batch, s.mean, s.deviation), s.batch);
    // An f32 near the mean may be half a unit in its last place away.
    const double half_a_unit = s.mean * 0x1p-24 / s.deviation;
    EXPECT_LE(std::abs(measured.error_of_mean()), 1e-3 + half_a_unit) << s.mean << s.deviation;
    EXPECT_LE(std::abs(measured.error_of_variance()), 1e-3) << s.mean << ", " << s.deviation;
}

// The first guess of mean and variance, 0 and 1, counts for nothing once there are samples.
TEST(RunningStatistics, HoldAtAThousandPlusMinusATenth) {
    for (const Stream& s : {Stream{1000, 0.1, 8, 500}, {1000, 0.1, 64, 200}, {1000, 0.1, 512, 60}})
        expect_exact(s);
}

TEST(RunningStatistics, HoldFarFromZeroAndForTinySpreads) {
    for (const Stream& s :
         {Stream{1e5, 0.1, 8, 2000}, {1e6, 3, 64, 300}, {0, 1e-3, 64, 200}, {1e7, 1e5, 64, 200}})
        expect_exact(s);
}

TEST(RunningStatistics, HoldAtTenMillionSamples) {
    constexpr int64_t kBatch = 20'000;
    Measured measured(kBatch);
    Noise noise;
    const std::vector<float> samples = noise.next(kBatch, 1000, 0.1);
    for (int i = 0; i < 500; ++i) measured.merge(samples, kBatch);
    EXPECT_LE(std::abs(measured.error_of_mean()), 1e-3);
    EXPECT_LE(std::abs(measured.error_of_variance()), 1e-3);
    EXPECT_EQ(measured.value("x.count"), 1e6);
}

TEST(RunningStatistics, SamplesWithoutWeightAndEmptyBatchesChangeNothing) {
    Measured measured(16);
    Noise noise;
    measured.merge({}, 0);
    EXPECT_EQ(measured.value("x.variance"), 1);
    for (int i = 0; i < 50; ++i) measured.merge(noise.next(16, -20, 2), 1 + i % 16);
    measured.merge({}, 0);
    EXPECT_LE(std::abs(measured.error_of_mean()), 1e-3);
    EXPECT_LE(std::abs(measured.error_of_variance()), 1e-3);
}

// They follow a game that changes, and one sample that is wrong does not blind an agent for good.
TEST(RunningStatistics, OneSampleFarAwayIsForgottenAndAMoveIsFollowed) {
    Measured wrong(64), moved(64);
    Noise noise;
    for (int i = 0; i < 100; ++i) {
        const std::vector<float> samples = noise.next(64, 5, 1);
        wrong.merge(samples, 64);
        moved.merge(samples, 64);
    }
    std::vector<float> outlier = noise.next(64, 5, 1);
    outlier[3] = 1e30f;
    wrong.merge(outlier, 64);
    EXPECT_LT(wrong.value("x.variance"), 1e5);
    for (int i = 0; i < 4000; ++i) {
        wrong.merge(noise.next(64, 5, 1), 64);
        moved.merge(noise.next(64, 1e6, 1), 64);
    }
    EXPECT_LT(wrong.value("x.variance"), 1000);
    EXPECT_NEAR(wrong.value("x.mean"), 5, 0.5);
    EXPECT_NEAR(moved.value("x.mean"), 1e6, 5e4);
}

}  // namespace
}  // namespace hearth::agents
