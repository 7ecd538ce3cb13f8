// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Each rank runs all of these (mpi_test.py starts them).

#include "train/divided_window.hpp"
#include "train/learner.hpp"
#include "train/pooled.hpp"

#include <hearth/compile.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace hearth::train {
namespace {

GradientReducer* ranks = nullptr;

class Mpi : public ::testing::Test {
  protected:
    void SetUp() override {
        auto instance = standalone::Instance::create();
        ASSERT_TRUE(instance.ok()) << instance.status().message();
        instance_ = std::move(instance).value();
        auto device = standalone::Device::create(*instance_);
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_ = std::move(device).value();
    }
    std::unique_ptr<standalone::ProgramRunner> make_runner(int64_t worlds) {
        const agents::AgentGraphs traces = divided_traces(worlds, true);
        const auto caps = device_->caps();
        const auto compiled =
            compile(std::span<Trace* const>(agents::simulation_entries(traces)),
                    {.caps = *caps, .max_batch_size = static_cast<uint64_t>(worlds)});
        EXPECT_TRUE(compiled.ok()) << compiled.status().message();
        programs_.push_back({compiled->bytes.begin(), compiled->bytes.end()});
        auto runner = standalone::ProgramRunner::create(*device_, programs_.back());
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        return std::move(runner).value();
    }

    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    std::vector<std::vector<std::byte>> programs_;
    const NamedTensors settings_ = {{"learning_rate", HostTensor::scalar(1e-3)},
                                    {"clip_range", HostTensor::scalar(0.2)}};
};

// 512 samples on one rank, and the same ones divided among all.
TEST_F(Mpi, SumsOfAllRanksAreTheGradientOfAllSamples) {
    const auto whole = make_runner(kDividedWorlds);
    for (int64_t i = 0; i < kDividedHorizon / 2; ++i)
        ASSERT_TRUE(whole->run("rollout", 1, {}).ok());
    const NamedTensors window = whole->read_variables().value();
    ASSERT_TRUE(whole->run("compute_advantages", 1, {}).ok());
    const HostTensor expected = whole->run("gradient", 1, settings_).value().at("sums");

    const auto own = make_runner(kDividedWorlds / ranks->size());
    const NamedTensors part =
        part_of_window(window, own->read_variables().value(), ranks->rank(), ranks->size());
    for (const auto& [name, value] : part)
        ASSERT_TRUE(own->write_variable(name.c_str(), value.bytes()).ok()) << name;
    ASSERT_TRUE(own->run("compute_advantages", 1, {}).ok());
    const auto row = own->read_variable("learn.minibatches");
    const std::vector<std::byte> gathered = ranks->gather(row->bytes());
    std::vector<float> rows(gathered.size() / sizeof(float));
    std::memcpy(rows.data(), gathered.data(), gathered.size());
    const std::vector<float> all = pooled_minibatches(rows, static_cast<size_t>(ranks->size()));
    ASSERT_TRUE(own->write_variable("learn.minibatches", std::as_bytes(std::span(all))).ok());
    HostTensor sums = own->run("gradient", 1, settings_).value().at("sums");
    ranks->sum(sums.as<float>());
    const double apart = relative_distance(sums.as<float>(), expected.as<float>());
    RecordProperty("relative_distance", std::to_string(apart));
    EXPECT_LT(apart, 1e-6);
    // The same bits everywhere.
    const std::vector<std::byte> of_all = ranks->gather(sums.bytes());
    for (int r = 1; r < ranks->size(); ++r)
        EXPECT_EQ(
            std::memcmp(of_all.data(), of_all.data() + static_cast<size_t>(r) * sums.bytes().size(),
                        sums.bytes().size()),
            0);
}

/// Forgets to hand on what rank 0 has.
class WithoutBroadcast : public GradientReducer {
  public:
    int rank() const override { return ranks->rank(); }
    int size() const override { return ranks->size(); }
    int local_rank() const override { return ranks->local_rank(); }
    void sum(std::span<float> values) override { ranks->sum(values); }
    void broadcast(std::span<std::byte>) override {}
    std::vector<std::byte> gather(std::span<const std::byte> bytes) override {
        return ranks->gather(bytes);
    }
    void abort(int) override {}
};

TEST_F(Mpi, WeightsThatWereNotBroadcastAreFound) {
    TrainConfig config;
    config.network = {8};
    config.ppo.n_agents = 4;
    config.ppo.n_steps = 4;
    config.ppo.n_minibatches = 1;
    WithoutBroadcast forgetful;
    const auto learner = make_learner(*device_, config, forgetful);
    ASSERT_FALSE(learner.ok());
    EXPECT_NE(learner.status().message().find("of rank 1 is not that of rank 0"), std::string::npos)
        << learner.status().message();
    const auto sound = make_learner(*device_, config, *ranks);
    EXPECT_TRUE(sound.ok()) << sound.status().message();
}

}  // namespace
}  // namespace hearth::train

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    const auto joined = hearth::train::join_ranks();
    hearth::train::ranks = joined->get();
    const int failed = RUN_ALL_TESTS();
    // A rank that has failed is not waited for.
    if (failed != 0) hearth::train::ranks->abort(failed);
    return failed;
}
