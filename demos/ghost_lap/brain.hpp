// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The ghost's net on the game's device: recorded into the game's command buffers, frame by frame.

#pragma once

#include "ghost_lap/demonstrations.hpp"
#include "host/frame_loop.hpp"
#include "host/guest.hpp"

#include <array>
#include <deque>
#include <optional>

namespace hearth::ghost_lap {

class Brain {
  public:
    /// An action, and the frame of the race whose observation it answers.
    struct Decision {
        uint64_t race_frame = 0;
        ActionVector action{};
    };

    /// Compiles the net for `device` and builds its pipelines: the slow part, before the first
    /// frame.  seed: of the random weights it starts with.
    static Result<std::unique_ptr<Brain>> create(standalone::Device& device, uint64_t seed);
    Brain(const Brain&) = delete;
    Brain& operator=(const Brain&) = delete;

    /// Call first in every frame.
    Status begin_frame(const demo::Frame& frame);
    /// What has arrived with this frame: the decision and the loss recorded
    /// FrameLoop::kFramesInFlight frames ago, if there were any.
    const std::optional<Decision>& decision() const { return decision_; }
    std::optional<float> loss() const { return loss_; }

    /// Records the net's answer to `observation`.
    Status record_act(const demo::Frame& frame, uint64_t race_frame,
                      const Observation& observation);
    /// Records one step of learning from a minibatch of `demonstrations`.
    Status record_learn(const demo::Frame& frame, const Demonstrations& demonstrations);
    /// Records the return to the random weights of the start.
    Status record_reset(const demo::Frame& frame);

    /// What a ghost learned in an earlier game, to go on from; recorded with the first frame.
    /// Errors: all that stands against it, before anything is touched.
    Status load(std::vector<std::byte> bytes);
    /// Records a copy of all that was learned; it arrives as snapshot().
    Status record_snapshot(const demo::Frame& frame);
    /// A copy that arrived with this frame, and after how many steps of learning it was made.
    struct Snapshot {
        std::vector<std::byte> bytes;
        uint64_t learning_steps = 0;
    };
    const std::optional<Snapshot>& snapshot() const { return snapshot_; }
    /// The file's bytes of a snapshot; on any thread.
    Result<std::vector<std::byte>> encode(const Snapshot& snapshot) const;
    /// A snapshot of this moment.  The device must be idle; `serial` is the last frame's.
    Result<Snapshot> snapshot_now(uint64_t& serial);

    /// Steps of learning recorded since the start or the last reset.
    uint64_t learning_steps() const { return learning_steps_; }
    const demo::Guest& guest() const { return *guest_; }
    /// Microseconds of the CPU per frame spent in recording act and learn.
    double mean_record_us() const;

    /// A hash of all weights.  The device must be idle; `serial` is the last frame's.
    Result<uint64_t> weights_hash(uint64_t& serial) {
        return guest_->weights_hash(program_, session_.handle(), serial);
    }
    /// How the net was compiled: "2 entries, ... dispatches, ...".
    const std::string& summary() const { return summary_; }

  private:
    struct Pending {
        uint64_t race_frame = 0;
        hearth_readback id = 0;
    };

    explicit Brain(standalone::Device& device) : device_(device) {}
    Status find_interface();
    Status create_buffers();
    Result<hearth_readback> record_result(const demo::Frame& frame, uint64_t offset,
                                          uint64_t bytes);
    template <class T>
    Result<std::optional<T>> take(hearth_readback id);

    standalone::Device& device_;
    std::unique_ptr<demo::Guest> guest_;
    LoadedProgram program_;
    Session session_;
    std::string summary_;
    uint32_t act_ = 0, learn_ = 0;  // entries
    uint32_t observation_ = 0, action_ = 0;
    uint32_t observations_ = 0, actions_ = 0, loss_output_ = 0;

    /// One of each per frame in flight: the CPU writes the next minibatch while the GPU reads the
    /// last one.
    struct Slot {
        standalone::Buffer observations;
        standalone::Buffer actions;
        standalone::Buffer results;  // action, and the loss at kLossOffset
        std::optional<Pending> decision;
        std::optional<Pending> loss;
        std::optional<Pending> snapshot;  // race_frame: steps of learning
    };
    std::array<Slot, demo::FrameLoop::kFramesInFlight> slots_;

    std::optional<Decision> decision_;
    std::optional<float> loss_;
    std::optional<Snapshot> snapshot_;
    std::vector<std::byte> loaded_;  // until it is recorded
    uint64_t learning_steps_ = 0;
    uint64_t recorded_frames_ = 0;
    double record_seconds_ = 0.0;
};

}  // namespace hearth::ghost_lap
