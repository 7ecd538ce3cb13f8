// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learner with its environments, trained rollout by rollout.

#pragma once

#include "train/config.hpp"
#include "train/gradient_reducer.hpp"

#include <hearth/agents/run_log.hpp>
#include <hearth/brain.hpp>

#include <standalone/program_runner.hpp>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hearth::train {

/// Results of a rollout, time first: how the episode ended at each step (0: it did not), and its
/// return if it did.
struct Window {
    std::vector<float> end, episode_return;
    std::array<uint32_t, agents::kStatusWords> status{};
    std::vector<agents::ObservationAtLimit> observations;  ///< those at their limits
};

/// Runtime settings of one rollout.
struct LiveSettings {
    float learning_rate = 0, clip = 0;
};

/// Maximum number of rollouts submitted before the CPU waits.
inline constexpr int64_t kMostWindowsAtOnce = 8;

class Learner {
  public:
    virtual ~Learner() = default;
    Learner(const Learner&) = delete;
    Learner& operator=(const Learner&) = delete;

    /// Collects and learns from as many rollouts as there are settings, up to kMostWindowsAtOnce,
    /// and waits.
    virtual Result<std::vector<Window>> run(std::span<const LiveSettings> windows) = 0;
    /// Checks that all ranks have equal weights and statistics.
    /// Errors: kInternal naming a rank that differs from rank 0.
    virtual Status check_consensus() { return {}; }
    /// Returns deterministic actions. observation: [batch, observation size], up to ppo.agents.
    /// Errors: kInvalidArgument if an action is not finite.
    Result<HostTensor> act(const HostTensor& observation);

    /// All state needed to continue bit for bit: parameters and states as a brain; transient states
    /// and environments as tensors, for ranks after the first under "rank1/NAME" etc.
    struct Snapshot {
        Brain brain;
        NamedTensors transients;
    };
    virtual Result<Snapshot> snapshot();
    /// Returns the names of transient states that the checkpoint lacks, which are unchanged.
    /// Errors: kInvalidArgument naming a tensor of the brain that is missing, or any that differs in
    /// type or size or holds a value that no training reaches; nothing is changed then.
    virtual Result<std::vector<std::string>> restore(const Brain& brain,
                                                     const NamedTensors& transients);
    /// For acting only: environments stay unchanged.
    Status restore(const Brain& brain) { return Learner::restore(brain, {}).status(); }

  protected:
    struct Entry {
        uint32_t index = 0;
        uint32_t learning_rate = UINT32_MAX, clip = UINT32_MAX;  ///< bindings
    };

    Learner() = default;
    /// entries: each has both learning_rate and clip as inputs, or neither.
    Status build(standalone::Device& device, std::span<Trace* const> entries, int64_t agents,
                 int64_t recordings_in_flight, int64_t readback_bytes);
    Result<Entry> find_entry(const char* name);
    Status record(VkCommandBuffer commands, const Entry& entry, const LiveSettings& settings);
    /// Submits one recording of an entry without inputs.
    Status submit(const Entry& entry);

    std::unique_ptr<standalone::ProgramRunner> runner_;
    std::vector<std::byte> program_;
};

/// Compiles, builds all pipelines, and sets the initial weights; with several ranks, those of rank
/// 0. Each rank has its share of the environments, with seeds of their own, and takes part in all
/// calls but act().
/// Errors: kInvalidArgument if the environments cannot be divided among the ranks, or the agents do
/// not fill whole environments.
Result<std::unique_ptr<Learner>> make_learner(standalone::Device& device, const TrainConfig& config,
                                              GradientReducer& ranks);
/// For restore(brain) and act() only: compiles just the acting entry.
Result<std::unique_ptr<Learner>> make_player(standalone::Device& device, const TrainConfig& config);

}  // namespace hearth::train
