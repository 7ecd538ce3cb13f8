// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A learner whose worlds live on the device with it: a window is played and learned from in one recording.

#pragma once

#include "train/config.hpp"

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
    /// Compiles, builds all pipelines, and begins with the first weights.
    static Result<std::unique_ptr<SimulatedLearner>> create(standalone::Device& device,
                                                            const TrainConfig& config);
    /// For restore(brain) and act() alone: compiles what acts, and nothing else.
    static Result<std::unique_ptr<SimulatedLearner>> create_player(standalone::Device& device,
                                                                   const TrainConfig& config);

    /// Plays and learns from as many windows as there are settings, up to kMostWindowsAtOnce, in one submission, and
    /// waits for it.
    Result<std::vector<Window>> run(std::span<const LiveSettings> windows);
    /// Likeliest actions.  observation: [rows, observation width], up to ppo.agents rows.
    Result<HostTensor> act(const HostTensor& observation);

    /// All that is needed to go on to the same bits: params and states as a brain, transient ones as tensors.
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
                                                            bool only_acts);
    Result<Entry> find_entry(const char* name);
    Status record(VkCommandBuffer commands, const Entry& entry, const LiveSettings& settings);

    std::unique_ptr<standalone::ProgramRunner> runner_;
    std::vector<std::byte> program_;
    Entry rollout_, prepare_, learn_, publish_;
    int64_t recordings_ = 1, items_ = 1;  ///< of rollout and of learn in a window
    std::vector<uint32_t> read_slots_;
    Cost cost_;
};

}  // namespace hearth::train
