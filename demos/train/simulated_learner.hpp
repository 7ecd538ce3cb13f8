// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learner whose worlds live on the device with it: a window is played and learned from in one recording.

#pragma once

#include "train/config.hpp"
#include "train/gradient_reducer.hpp"

#include <hearth/agents/simulation.hpp>
#include <hearth/agents/status.hpp>
#include <hearth/brain.hpp>
#include <hearth/compile.hpp>

#include <standalone/program_runner.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace hearth::train {

/// What a window came to, time first: of each step how it ended (0: it did not), and the return of the episode
/// that did.
struct Window {
    std::vector<float> end, episode_return;
    std::array<uint32_t, agents::kStatusWords> status{};
};

/// Live settings of one window.
struct LiveSettings {
    float learning_rate = 0, clip = 0;
};

/// In one submission.
inline constexpr int64_t kMostWindowsAtOnce = 4;

class SimulatedLearner {
  public:
    /// Compiles, builds all pipelines, and begins with the first weights: of several ranks with those of rank 0.
    /// Each rank has its part of the worlds, with seeds of their own, and takes part in all that follows but act().
    /// Errors: kInvalidArgument if the worlds cannot be divided among the ranks.
    static Result<std::unique_ptr<SimulatedLearner>> create(standalone::Device& device,
                                                            const TrainConfig& config,
                                                            GradientReducer& ranks);
    /// For restore(brain) and act() alone: compiles what acts, and nothing else.
    static Result<std::unique_ptr<SimulatedLearner>> create_player(standalone::Device& device,
                                                                   const TrainConfig& config);

    /// Plays and learns from as many windows as there are settings, up to kMostWindowsAtOnce, in one submission, and
    /// waits for it.  Of several ranks: what all of them played, in submissions of its own for whatever is exchanged.
    Result<std::vector<Window>> run(std::span<const LiveSettings> windows);
    /// Whether all ranks have equal weights and statistics.
    /// Errors: kInternal naming a rank that differs from rank 0.
    Status check_consensus();
    /// Likeliest actions.  observation: [rows, observation width], up to ppo.agents rows.
    Result<HostTensor> act(const HostTensor& observation);

    /// All that is needed to go on to the same bits: params and states as a brain, transient ones as tensors, of ranks
    /// after the first under "rank1/NAME" and so on.
    struct Snapshot {
        Brain brain;
        NamedTensors transients;
    };
    Result<Snapshot> snapshot();
    /// Errors: kInvalidArgument naming a tensor that is missing or differs; nothing has changed then.
    Status restore(const Brain& brain, const NamedTensors& transients);
    /// For acting alone: worlds stay as they are.
    Status restore(const Brain& brain) { return restore(brain, {}); }

    /// Dispatches and barriers of one window, as recorded on this device.
    struct Cost {
        uint64_t dispatches = 0, barriers = 0;
    };
    Cost window_cost() const { return cost_; }

  private:
    struct Entry {
        uint32_t index = 0;
        uint32_t learning_rate = UINT32_MAX, clip = UINT32_MAX;  ///< bindings
    };
    static Result<std::unique_ptr<SimulatedLearner>> create(standalone::Device& device,
                                                            const TrainConfig& config,
                                                            GradientReducer& ranks, bool only_acts);
    Status share_first_weights();
    Result<Window> play_together();
    Status learn_together(const LiveSettings& settings);
    /// One submission of one entry without inputs.
    Status submit(const Entry& entry);
    /// Runs an entry that adds samples to running statistics, and adds those of all ranks instead.
    Status with_shared_statistics(const char* name, const Entry& entry);
    Result<std::vector<float>> read(const std::string& slot);
    Status write(const std::string& slot, std::span<const float> values);
    Result<Entry> find_entry(const char* name);
    Status record(VkCommandBuffer commands, const Entry& entry, const LiveSettings& settings);

    GradientReducer* ranks_ = nullptr;
    std::unique_ptr<standalone::ProgramRunner> runner_;
    std::vector<std::byte> program_;
    Entry rollout_, prepare_, learn_, publish_;
    int64_t recordings_ = 1, items_ = 1;  ///< of rollout and of learn in a window
    std::vector<uint32_t> read_slots_;
    Cost cost_;
    bool normalizes_observations_ = false, normalizes_rewards_ = false;
};

}  // namespace hearth::train
