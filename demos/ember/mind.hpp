// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// One creature's brain in the game's terms: what the four parts are asked, told and shown in a
// frame, and what they answer some frames later. All parts share one budget of learning.

#pragma once

#include "parts.hpp"

#include <hearth/agents.hpp>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace hearth::ember {

/// Microseconds a frame: all pending learning, however long it takes.
constexpr double kNoLimit = 1e9;

struct MindOptions {
    uint64_t seed = 1;  ///< of a newborn
    uint32_t frames_in_flight = 2;
};

/// Frames with learning, as far as their times have arrived, and those that exceeded the budget.
struct LearningTime {
    uint64_t frames = 0, over_budget = 0;
};

class Mind {
  public:
    /// A newborn's brain. context and programs must outlive it.
    static Result<Mind> create(const Context& context, const PartPrograms& programs,
                               const MindOptions& options);

    /// Call after Context::begin_frame(): answers have arrived.
    void poll();
    /// Records what was asked since the last record, and learning.
    Status record(VkCommandBuffer commands, double budget_us);

    // --- Legs ---
    /// Asks for steps. reward: of the steps since the last call. tries: varies them, to learn.
    Status ask_legs(const Stride& stride, float reward, bool tries = true);
    /// The walk is over.
    Status end_walk(const Stride& stride, float reward, bool has_arrived);
    /// A person leads: these are the right steps here.
    Status show_steps(const Stride& stride, const Steps& steps);
    /// The newest answer; it stands still before the first.
    Steps steps() const;

    // --- Will ---
    /// Asks what to do. curiosity: fraction of random decisions.
    Status ask_will(const Senses& senses, const ActMask& possible, float curiosity);
    /// The answer to the last question, once.
    std::optional<Act> take_decision();
    /// The newest answer that has arrived.
    Act newest_decision() const;
    /// Adds to the feeling that the last decision led to, -1 to 1.
    Status judge(float felt);

    // --- Heart ---
    Status ask_heart(const Senses& senses);
    /// Expected feeling of the next seconds, -1 to 1.
    float expectation() const;
    /// Stores the feeling that followed these senses.
    Status remember(const Senses& senses, float felt);

    // --- Eyes ---
    Status ask_eyes(const Gaze& gaze);
    /// The word for what it looks at; none if it has no word for it.
    std::optional<Thing> word() const;
    /// A person says a word for this; none: it is nothing.
    Status name(const Gaze& gaze, std::optional<Thing> word);

    /// What a part was asked by last, and its newest answer; empty before the first.
    std::span<const float> seen(Part part) const;
    std::span<const float> did(Part part) const;

    /// Requests snapshots of all parts, which arrive some frames later.
    Status take_snapshots();
    /// The acting weights of a part as of its newest snapshot: a brain file. Before the first one
    /// those that were loaded.
    Result<std::vector<std::byte>> save(Part part) const;
    /// Errors: those of Agents::load().
    Status load(Part part, std::span<const std::byte> brain);
    /// Of all parts together.
    LearningTime learning_time() const;
    agents::Agents& agents(Part part) { return parts_[static_cast<size_t>(part)].agents; }
    const agents::Agents& agents(Part part) const {
        return parts_[static_cast<size_t>(part)].agents;
    }

  private:
    struct Living {
        agents::Agents agents;
        agents::AgentId self{}, teacher{};
        bool is_asked = false, is_taught = false;
        float exploration = 1;
        int owed = 0;  ///< minibatches that its lessons are worth
    };

    Living& part(Part part) { return parts_[static_cast<size_t>(part)]; }
    const Living& part(Part part) const { return parts_[static_cast<size_t>(part)]; }
    Status ask(Part part, std::span<const float> observation, float exploration);
    Status teach(Part part, std::span<const float> observation, std::span<const float> answer);

    std::array<Living, kPartCount> parts_;
    uint32_t frames_in_flight_ = 2;
    uint64_t records_ = 0;
    std::optional<uint64_t> will_answers_at_;  ///< record before which the answer has arrived
};

}  // namespace hearth::ember
