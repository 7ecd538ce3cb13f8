// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learner whose worlds are C++ on the host: all agents of all worlds decide in one recording.

#pragma once

#include "train/hatchlings_worlds.hpp"
#include "train/learner.hpp"

namespace hearth::train {

class HostedLearner final : public Learner {
  public:
    static Result<std::unique_ptr<HostedLearner>> create(standalone::Device& device,
                                                         const TrainConfig& config,
                                                         GradientReducer& ranks);
    static Result<std::unique_ptr<HostedLearner>> create_player(standalone::Device& device,
                                                                const TrainConfig& config);

    Result<std::vector<Window>> run(std::span<const LiveSettings> windows) override;
    Result<Snapshot> snapshot() override;
    using Learner::restore;
    Status restore(const Brain& brain, const NamedTensors& transients) override;

  private:
    explicit HostedLearner(const TrainConfig& config)
        : agents_(config.ppo.agents), horizon_(config.ppo.horizon), worlds_(agents_, config.seed) {}

    static Result<std::unique_ptr<HostedLearner>> create(standalone::Device& device,
                                                         const TrainConfig& config, bool only_acts);
    Result<Window> play();
    Status learn(const LiveSettings& settings);
    Status read_status(Window& window);

    int64_t agents_, horizon_, items_ = 1;
    HatchlingsWorlds worlds_;
    Entry prepare_, learn_, publish_;
};

}  // namespace hearth::train
