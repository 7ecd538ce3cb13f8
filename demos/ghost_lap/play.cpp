// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the race and the brains of the ghost and the rival.

#include "play.hpp"

#include <hearth/weights.hpp>

#include <algorithm>
#include <utility>

namespace hearth::ghost_lap {
namespace {

constexpr uint32_t kLatency = demo::FrameLoop::kFramesInFlight;
constexpr double kNoLimit = 1e9;  // microseconds of GPU time: one step, however long it takes

/// Adds a hint to the error of loading a brain without a schema. Such files are from before ghosts
/// were agents (other network and optimizer), or from the web page (demos/web), which fit.
Status with_age(Status loaded, std::span<const std::byte> brain) {
    const Result<hearth_brain_info> info = brain_info(brain);
    if (loaded.ok() || !info.ok() || info->user_schema_hash != 0) return loaded;
    return unsupported(
        "expected a ghost that was saved as an agent, found one of an earlier version of the game, "
        "or a brain of something else; it cannot go on: let a new ghost learn (" +
        loaded.message() + ")");
}

}  // namespace

Play::Play(uint64_t seed)
    : race_(track_,
            {.seed = seed, .action_latency_frames = kLatency, .reaction_frames = kLatency}) {}

Result<std::unique_ptr<Play>> Play::create(standalone::Device& device, uint64_t seed) {
    std::unique_ptr<Play> self(new Play(seed));
    HEARTH_ASSIGN(self->mind_, make_mind(device, seed));
    HEARTH_ASSIGN(self->person_, self->mind_->agents().add());
    HEARTH_ASSIGN(self->ghost_.id, self->mind_->agents().add());
    return self;
}

Status Play::load(std::span<const std::byte> brain) {
    return with_age(mind_->agents().load(brain), brain);
}

Status Play::add_rival(std::span<const std::byte> brain) {
    HEARTH_ASSIGN(agents::Agents rival, mind_->create_agents("rival"));
    if (const Result<NamedTensors> weights = read_safetensors(brain); weights.ok()) {
        HEARTH_ASSIGN(const std::vector<std::byte> made, mind_->brain_with(*weights));
        HEARTH_TRY(rival.load(made));
    } else {
        HEARTH_TRY(with_age(rival.load(brain), brain));
    }
    rival_agents_ = std::move(rival);
    rival_agents_->freeze(true);
    HEARTH_ASSIGN(rival_.id, rival_agents_->add());
    race_.add_rival();
    return {};
}

std::optional<ActionVector> Play::take_action(const agents::Agents& agents, Car& car,
                                              const demo::Frame& frame) {
    const std::span<const float> action = agents.action(car.id);
    if (action.empty() || agents.status().frame_number != frame.completed_serial)
        return std::nullopt;
    car.action = clamp_action({action[0], action[1]});
    return ActionVector{action[0], action[1]};
}

Status Play::record(const demo::Frame& frame) {
    HEARTH_TRY(mind_->begin_frame(frame));
    agents::Agents& agents = mind_->agents();
    if (const auto action = take_action(agents, ghost_, frame))
        race_.set_ghost_action(race_.frame() - kLatency, *action);
    const uint64_t steps = learning_steps();
    is_learning_ = steps > learned_steps_;
    learned_steps_ = steps;
    if (is_learning_) losses_.push_back(agents.status()[agents::AgentMetric::kLoss]);

    std::ranges::copy(race_.ghost().observation(), agents.observation(ghost_.id).begin());
    if (const auto& shown = race_.demonstration()) {
        std::ranges::copy(shown->observation, agents.observation(person_).begin());
        HEARTH_TRY(agents.add_demonstration(person_, shown->action));
    }
    HEARTH_TRY(mind_->record(frame, {.learning_budget_us = kNoLimit, .exploration = 0}));
    if (!rival_agents_) return {};

    const demo::Guest::FramePath counted(mind_->guest());
    rival_agents_->poll();
    if (const auto action = take_action(*rival_agents_, rival_, frame))
        race_.set_rival_action(race_.frame() - kLatency, *action);
    std::ranges::copy(race_.rival()->observation(), rival_agents_->observation(rival_.id).begin());
    return rival_agents_->record(frame.compute_cmd, {.learning_budget_us = 0, .exploration = 0})
        .status();
}

Action Play::step(Driver& driver) {
    const Seat seat = driver.seat(race_);
    const Action action = driver.drive(race_.driven(seat), race_.frame());
    race_.step(action, seat);
    return action;
}

void Play::freeze(bool is_frozen) {
    is_frozen_ = is_frozen;
    mind_->agents().freeze(is_frozen);
}

Status Play::reset() {
    losses_.clear();
    return mind_->agents().shrink_and_perturb(1);
}

Result<std::optional<std::vector<std::byte>>> Play::take_kept() {
    const uint64_t taken = mind_->agents().status().snapshots_taken;
    if (std::exchange(kept_, taken) == taken) return std::optional<std::vector<std::byte>>();
    HEARTH_ASSIGN(std::vector<std::byte> bytes, mind_->agents().save(0));
    return std::optional(std::move(bytes));
}

}  // namespace hearth::ghost_lap
