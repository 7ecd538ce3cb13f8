// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a training run trains: a learner with its worlds, window by window.

#pragma once

#include "train/config.hpp"
#include "train/gradient_reducer.hpp"

#include <hearth/agents/status.hpp>
#include <hearth/brain.hpp>

#include <standalone/program_runner.hpp>

#include <array>
#include <memory>
#include <span>
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

/// On their way to the device before the host waits.
inline constexpr int64_t kMostWindowsAtOnce = 8;

class Learner {
  public:
    virtual ~Learner() = default;
    Learner(const Learner&) = delete;
    Learner& operator=(const Learner&) = delete;

    /// Plays and learns from as many windows as there are settings, up to kMostWindowsAtOnce, and waits for it.
    virtual Result<std::vector<Window>> run(std::span<const LiveSettings> windows) = 0;
    /// Whether all ranks have equal weights and statistics.
    /// Errors: kInternal naming a rank that differs from rank 0.
    virtual Status check_consensus() { return {}; }
    /// Likeliest actions.  observation: [rows, observation width], up to ppo.agents rows.
    Result<HostTensor> act(const HostTensor& observation);

    /// All that is needed to go on to the same bits: params and states as a brain; transient ones, and worlds, as tensors,
    /// of ranks after the first under "rank1/NAME" and so on.
    struct Snapshot {
        Brain brain;
        NamedTensors transients;
    };
    virtual Result<Snapshot> snapshot();
    /// Errors: kInvalidArgument naming a tensor that is missing or differs; nothing has changed then.
    virtual Status restore(const Brain& brain, const NamedTensors& transients);
    /// For acting alone: worlds stay as they are.
    Status restore(const Brain& brain) { return Learner::restore(brain, {}); }

  protected:
    struct Entry {
        uint32_t index = 0;
        uint32_t learning_rate = UINT32_MAX, clip = UINT32_MAX;  ///< bindings
    };

    Learner() = default;
    /// entries: of which each has learning_rate and clip as inputs, or none.
    Status build(standalone::Device& device, std::span<Trace* const> entries, int64_t agents,
                 int64_t recordings_in_flight, int64_t readback_bytes);
    Result<Entry> find_entry(const char* name);
    Status record(VkCommandBuffer commands, const Entry& entry, const LiveSettings& settings);
    /// One submission of one entry without inputs.
    Status submit(const Entry& entry);

    std::unique_ptr<standalone::ProgramRunner> runner_;
    std::vector<std::byte> program_;
};

/// Compiles, builds all pipelines, and begins with the first weights: of several ranks with those of rank 0.  Each rank
/// has its part of the worlds, with seeds of their own, and takes part in all that follows but act().
/// Errors: kInvalidArgument if the worlds cannot be divided among the ranks, or agents do not fill worlds.
Result<std::unique_ptr<Learner>> make_learner(standalone::Device& device, const TrainConfig& config,
                                              GradientReducer& ranks);
/// For restore(brain) and act() alone: compiles what acts, and nothing else.
Result<std::unique_ptr<Learner>> make_player(standalone::Device& device, const TrainConfig& config);

}  // namespace hearth::train
