// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The agents of one brain on the demo's device: compiled, built, recorded and counted.

#pragma once

#include "frame_loop.hpp"
#include "guest.hpp"

#include <hearth/agents.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/brain.hpp>

#include <memory>
#include <string>
#include <vector>

namespace hearth::demo {

class Mind {
  public:
    /// Automatic snapshots for rollback: one every 15 s.
    static constexpr uint32_t kSnapshots = 12, kSnapshotFrames = 15 * 60;

    /// Compiles and builds; slow, so do it before the first frame.
    static Result<std::unique_ptr<Mind>> create(standalone::Device& device,
                                                const agents::AgentGraphs& traces,
                                                const agents::AgentManifest& manifest);
    Mind(const Mind&) = delete;
    Mind& operator=(const Mind&) = delete;

    /// Creates more agents of the same program with a brain of their own: opponents. The caller
    /// polls them after begin_frame(), records them, and destroys them before this. They take no
    /// snapshots.
    Result<agents::Agents> create_agents(const char* name);

    agents::Agents& agents() { return agents_; }
    const agents::Agents& agents() const { return agents_; }

    /// Call first in every frame: receives actions, status and snapshots.
    Status begin_frame(const Frame& frame);
    /// Call once in every frame: records acting and learning.
    Status record(const Frame& frame, const agents::RecordOptions& how);
    /// As of begin_frame().
    const agents::AgentsStatus& status() const { return status_; }

    /// Returns the current brain as a file's bytes, once all frames are done; `serial` is the last
    /// frame number. Finishes learning from the current rollout first.
    Result<std::vector<std::byte>> save_now(uint64_t& serial);

    /// Returns a fresh brain's bytes with these parameters replaced: weights.safetensors of `hearth
    /// train`. Unknown names are ignored.
    /// Errors: kInvalidArgument for missing parameters or other shapes.
    Result<std::vector<std::byte>> brain_with(const NamedTensors& weights) const;

    const LoadedProgram& program() const { return program_; }
    Guest& guest() { return *guest_; }
    /// Describes the compiled program: "... dispatches, ... barriers, ... bytes of weights".
    const std::string& summary() const { return summary_; }
    /// Returns a hash of all parameters, once all frames are done; `serial` is the last frame
    /// number.
    Result<uint64_t> weights_hash(uint64_t& serial);

  private:
    explicit Mind(standalone::Device& device) : device_(device) {}

    standalone::Device& device_;
    std::unique_ptr<Guest> guest_;
    LoadedProgram program_;
    std::vector<std::byte> manifest_;
    Brain fresh_;
    agents::Agents agents_;
    agents::AgentsStatus status_{};
    std::string summary_;
};

}  // namespace hearth::demo
