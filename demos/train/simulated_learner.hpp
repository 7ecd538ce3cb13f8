// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learner whose environments run on the device: only returns are read back.

#pragma once

#include "train/learner.hpp"
#include "train/pooled.hpp"

#include <hearth/agents/demo.hpp>
#include <hearth/agents/simulation.hpp>

namespace hearth::train {

class SimulatedLearner final : public Learner {
  public:
    /// Implements make_learner() for tasks of hearth/agents/simulation.hpp.
    static Result<std::unique_ptr<SimulatedLearner>> create(standalone::Device& device,
                                                            const TrainConfig& config,
                                                            GradientReducer& ranks);
    /// Implements make_player() for them.
    static Result<std::unique_ptr<SimulatedLearner>> create_player(standalone::Device& device,
                                                                   const TrainConfig& config);

    /// Submits twice per rollout. With several ranks, learns from the rollouts of all of them, with
    /// separate submissions for each exchange.
    Result<std::vector<Window>> run(std::span<const LiveSettings> windows) override;
    Status check_consensus() override;
    Result<Snapshot> snapshot() override;
    using Learner::restore;
    Result<std::vector<std::string>> restore(const Brain& brain,
                                             const NamedTensors& transients) override;

    /// Dispatches and barriers of one window, as recorded on this device.
    struct Cost {
        uint64_t dispatches = 0, barriers = 0;
    };
    Cost window_cost() const { return cost_; }

  private:
    static Result<std::unique_ptr<SimulatedLearner>> create(standalone::Device& device,
                                                            const TrainConfig& config,
                                                            GradientReducer& ranks, bool only_acts);
    /// Gives all steps of the file to the entry add_demonstrations.
    Status show(const agents::DemoFile& demonstrations, int64_t agents);
    Status share_first_weights();
    Result<Window> play_together();
    Status learn_together(const LiveSettings& settings);
    Result<Statistics> read_statistics(const std::string& name);
    /// Runs `prepare`. Meanwhile the running statistics are kept on the CPU and the device's are
    /// empty. The device then yields the statistics of these samples alone, to be pooled with those
    /// of other ranks.
    Status prepare_together();
    Result<std::vector<float>> read(const std::string& slot);
    Status write(const std::string& slot, std::span<const float> values);

    GradientReducer* ranks_ = nullptr;
    Entry rollout_, prepare_, learn_, publish_;
    int64_t recordings_ = 1, items_ = 1;  ///< recordings of rollout, and of learn, per rollout
    std::vector<uint32_t> read_slots_;
    agents::AgentSpec schema_;
    Cost cost_;
    bool normalizes_observations_ = false, normalizes_rewards_ = false;
};

}  // namespace hearth::train
