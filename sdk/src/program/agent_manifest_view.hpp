// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads the saved bytes of an AgentManifest in place, without allocation.

#pragma once

#include "program/agent_spec_view.hpp"

#include <hearth/agents/manifest.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::agents {

inline constexpr uint32_t kAgentManifestMagic = 0x314d4148;  // "HAM1"
/// 2: names, replay buffer size; 3: name of add_demonstrations; 4: ranges of hyperparameters,
/// gradient steps per sample, name of add_samples.
inline constexpr uint32_t kAgentManifestVersion = 4;

struct HyperparameterView {
    std::string_view name;
    double value = 0, low = 0, high = 0;
};

/// The names of EntryNames, in file order.
enum class ManifestName : uint8_t {
    kFrame,
    kStore,
    kComputeAdvantages,
    kLearn,
    kPublish,
    kShrinkAndPerturb,
    kLastAction,
    kStatus,
    kAddDemonstrations,
    kAddSamples,
    kCount
};
inline constexpr size_t kManifestNames = static_cast<size_t>(ManifestName::kCount);

class AgentManifestView {
  public:
    /// Checks everything that an AgentManifest promises.  `bytes` must outlive the view.  Returns
    /// kOk, or kCorruptData or kUnsupported with `error` set.
    [[nodiscard]] StatusCode open(std::span<const std::byte> bytes, SpecText& error);

    const AgentSpecView& spec() const { return spec_; }
    Algorithm algorithm() const { return algorithm_; }
    uint32_t n_agents() const { return n_agents_; }
    uint32_t n_steps() const { return n_steps_; }
    uint32_t replay_capacity() const { return replay_capacity_; }
    uint32_t updates_per_rollout() const { return updates_per_rollout_; }
    uint32_t sync_interval() const { return sync_interval_; }
    uint32_t train_freq() const { return train_freq_; }
    uint32_t gradient_steps() const { return gradient_steps_; }
    uint32_t learning_starts() const { return learning_starts_; }
    uint32_t waiting_decisions() const { return waiting_decisions_; }
    uint32_t hyperparameter_count() const { return hyperparameter_count_; }
    HyperparameterView hyperparameter(uint32_t index) const;
    std::string_view name(ManifestName name) const { return names_[static_cast<size_t>(name)]; }

  private:
    HyperparameterView read_hyperparameter(ByteReader& in) const;

    AgentSpecView spec_;
    Algorithm algorithm_ = Algorithm::kPpo;
    uint32_t version_ = 0;
    uint32_t n_agents_ = 0, n_steps_ = 0, replay_capacity_ = 0, updates_per_rollout_ = 0,
             sync_interval_ = 0, train_freq_ = 0, gradient_steps_ = 1, learning_starts_ = 0,
             waiting_decisions_ = 0;
    uint32_t hyperparameter_count_ = 0;
    std::span<const std::byte> hyperparameters_;
    std::array<std::string_view, kManifestNames> names_;
};

}  // namespace hearth::agents
