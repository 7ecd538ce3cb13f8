// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The brain that all hatchlings share: PPO in the frame's own command buffer.

#pragma once

#include "hatchlings/world.hpp"
#include "host/frame_loop.hpp"
#include "host/guest.hpp"

#include <hearth/agents.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hearth::hatchlings {

class Brain {
  public:
    static Result<std::unique_ptr<Brain>> create(standalone::Device& device, uint64_t seed,
                                                 uint32_t hatchlings);

    /// Takes what has arrived, and puts the newest actions into the world.
    Status begin_frame(const demo::Frame& frame, World& world);
    /// Observations and rewards of a decision frame, and the decision; and learning in every frame.
    /// learn_us: GPU time for it; 0: none.
    Status record(const demo::Frame& frame, World& world, double learn_us, bool explores);

    /// Praise and scolding of the newest decisions of one of them: a reward, which discounting spreads
    /// over what it did before.
    Status judge(uint32_t hatchling, float reward);
    Status adapt(double strength) { return agents_.adapt(strength); }
    /// Keeps what was learned, for rewind and for saving; it arrives some frames later.
    Status record_keep(const demo::Frame& frame);
    /// The snapshots that have arrived, oldest first; at most kKept.
    size_t kept_count() const { return kept_.size(); }
    /// Back to the newest one, which is dropped, so that the next call goes further back.
    Status record_rewind(const demo::Frame& frame);
    /// Back to the first weights; no snapshot is kept.
    Status record_forget(const demo::Frame& frame);

    /// What was learned until the newest snapshot, as a brain file; empty before the first.
    Result<std::vector<std::byte>> encode() const;
    /// Recorded by the next record().
    Status load(std::vector<std::byte> brain);

    const agents::AgentsStatus& status() const { return status_; }
    const std::string& summary() const { return summary_; }
    demo::Guest& guest() { return *guest_; }
    /// A hash of all params, once all frames are done; `serial` is the last one's.
    Result<uint64_t> weights_hash(uint64_t& serial) {
        return guest_->weights_hash(program_, agents_.session(), serial);
    }

  private:
    static constexpr size_t kKept = 8;
    Brain() = default;
    void take_snapshot();

    std::unique_ptr<demo::Guest> guest_;
    LoadedProgram program_;
    agents::Agents agents_;
    std::vector<agents::AgentId> ids_;
    agents::AgentsStatus status_{};
    std::string summary_;
    hearth_readback keeping_ = 0;
    std::vector<std::vector<std::byte>> kept_;
    std::vector<std::byte> loaded_;
};

}  // namespace hearth::hatchlings
