// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning on a queue of its own.  Two sessions of one program: one acts and stores samples in
// every frame, the other learns.  Only one queue uses the learner's session at a time.  It changes
// owner once a frame has completed, so no semaphore is needed and neither queue ever waits for the
// other.
//
// The GPU itself decides in `publish` whether the acting policy changes.  If it does not, the
// values that are copied back equal the old ones.

#pragma once

#include "core/alloc.hpp"
#include "device/agents/entries.hpp"

#include <hearth/hearth.h>

#include <cstdint>
#include <initializer_list>

namespace hearth::agents {

/// The owner of the learner's session, or the next one.
enum class Turn : uint8_t {
    kActing,      ///< a full rollout is copied to the learner, on the acting queue
    kToLearning,  ///< the frame of the hand-over has not completed yet
    kLearning,    ///< updates and publish, sliced to fit the budget, on the learning queue
    kToActing,    ///< as kToLearning; then the learned variables are copied back, between two
                  ///< decisions, on the acting queue
};

struct SecondQueue {
    bool is_used = false;
    hearth_session* learner = nullptr;  ///< the session that learns; null: the one that acts
    uint32_t family = HEARTH_QUEUE_FAMILY_SAME;
    Turn turn = Turn::kActing;
    uint64_t turn_frame_number = 0;      ///< of the hand-over
    VkCommandBuffer commands = nullptr;  ///< the learning queue's, for this frame
    bool has_samples = false;  ///< the learner has the rollout, and is not handed over yet
    bool has_learned = false;  ///< the acting session lacks what was learned
    /// Variables that decisions and demonstrations write; of those, the ones that learning writes,
    /// too; and the others that learning writes.
    Array<uint32_t> sampled, taken, learned;

    /// True if the learner may be used by the acting queue.
    bool is_here() const { return turn == Turn::kActing; }
    /// Returns false if out of memory.
    [[nodiscard]] bool find_variables(const hearth_program* program, HostAllocator& allocator,
                                      std::initializer_list<const Entry*> sampling,
                                      std::initializer_list<const Entry*> learning);
};

}  // namespace hearth::agents
