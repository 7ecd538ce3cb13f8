// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "brain.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>

#include <algorithm>

namespace hearth::hatchlings {
namespace {

using agents::AgentSchema;

AgentSchema schema() {
    using agents::Actions;
    using agents::Fields;
    // The world scales what it shows, so ranges are as they are.
    return AgentSchema(
        Fields()
            .numbers("velocity", 2)
            .numbers("place", 2)
            .array("embers", 3, Fields().numbers("toward", 2))
            .array("motes", 3,
                   Fields().numbers("toward", 2).numbers("velocity", 2).numbers("cold", 1))
            .flag("chilled"),
        Actions().drive("thrust", kActionWidth));
}

agents::Ppo settings(uint32_t hatchlings) {
    agents::Ppo ppo;  // its defaults are for such a group
    ppo.agents = hatchlings;
    // What they see and are rewarded with lies in the unit range already.  Normalized by what was seen so
    // far it keeps changing its meaning while it is rare: tried, and it takes them three times as long.
    ppo.normalize_observations = ppo.normalize_rewards = false;
    ppo.first_log_deviation = 0;  // they begin as explorers: identical hatchlings share one meal
    return ppo;
}

Status check(hearth_result result, const hearth_session* session) {
    return result >= 0 ? Status() : to_status(result, hearth_session_error(session));
}

}  // namespace

Result<std::unique_ptr<Brain>> Brain::create(standalone::Device& device, uint64_t seed,
                                             uint32_t hatchlings) {
    std::unique_ptr<Brain> self(new Brain());
    HEARTH_ASSIGN(self->guest_, demo::Guest::create(device));
    HEARTH_ASSIGN(const DeviceCaps caps, self->guest_->context().caps());
    const AgentSchema described = schema();
    const agents::Ppo ppo = settings(hatchlings);
    const auto traces =
        agents::trace_agents(described, agents::mlp_network({64, 64}, tanh, seed), ppo, seed);
    HEARTH_ASSIGN(const Compiled compiled,
                  compile(agents::entries_of(traces),
                          {.caps = caps,
                           .binding_model = static_cast<BindingModel>(device.binding_model()),
                           .rows_capacity = hatchlings}));
    self->summary_ = std::to_string(compiled.dispatch_count) + " dispatches, " +
                     std::to_string(compiled.barrier_count) + " barriers, " +
                     std::to_string(compiled.weights_bytes) + " bytes of weights";
    HEARTH_ASSIGN(self->program_, LoadedProgram::load(self->guest_->context(), compiled.bytes));
    const std::vector<std::byte> manifest = agents::manifest_of(described, ppo).save();
    HEARTH_ASSIGN(self->agents_,
                  agents::Agents::create(self->guest_->context(), self->program_, manifest,
                                         demo::FrameLoop::kFramesInFlight));
    HEARTH_TRY(self->agents_.build());
    for (uint32_t i = 0; i < hatchlings; ++i) {
        HEARTH_ASSIGN(const agents::AgentId id, self->agents_.add());
        self->ids_.push_back(id);
    }
    return self;
}

Status Brain::begin_frame(const demo::Frame& frame, World& world) {
    const demo::Guest::FramePath counted(*guest_);
    HEARTH_TRY(guest_->context().begin_frame(frame.serial, frame.completed_serial));
    agents_.poll();
    take_snapshot();
    for (uint32_t i = 0; i < ids_.size(); ++i)
        if (const auto action = agents_.action(ids_[i]); !action.empty())
            world.set_thrust(i, {action[0], action[1]});
    status_ = agents_.status();
    return {};
}

Status Brain::record(const demo::Frame& frame, World& world, double learn_us, bool explores) {
    if (!loaded_.empty()) {
        hearth_report report{};
        const hearth_result result = hearth_record_brain(
            agents_.session(), frame.compute_cmd, loaded_.data(), loaded_.size(), 0, &report);
        if (result < 0) return to_status(result, report.text);
        loaded_.clear();
    }
    const demo::Guest::FramePath counted(*guest_);
    const bool decides = world.is_decision_frame();
    for (uint32_t i = 0; decides && i < ids_.size(); ++i) {
        const Observation seen = world.observe(i);
        std::ranges::copy(seen, agents_.observe(ids_[i]).begin());
        // What is not a number is refused and counted.
        (void)agents_.reward(ids_[i], world.take_reward(i));
    }
    return agents_
        .record(frame.compute_cmd,
                {.learn_us = learn_us, .explore = explores ? 1.0f : 0.0f, .decide = decides})
        .status();
}

Status Brain::judge(uint32_t hatchling, float reward) {
    return agents_.reward(ids_[hatchling], reward);
}

Status Brain::record_keep(const demo::Frame& frame) {
    if (keeping_ != 0) return {};
    // In the middle of a step there is no consistent state; the caller asks again.
    const hearth_result result =
        hearth_record_snapshot(agents_.session(), frame.compute_cmd, &keeping_);
    if (result != HEARTH_OK) keeping_ = 0;
    return check(result, agents_.session());
}

void Brain::take_snapshot() {
    if (keeping_ == 0) return;
    const void* data = nullptr;
    uint64_t bytes = 0, serial = 0;
    const hearth_result result =
        hearth_readback_poll(agents_.session(), keeping_, &data, &bytes, &serial);
    if (result == HEARTH_NOT_READY) return;
    if (result == HEARTH_OK) {
        const auto* begin = static_cast<const std::byte*>(data);
        if (kept_.size() == kKept) kept_.erase(kept_.begin());
        kept_.emplace_back(begin, begin + bytes);
    }
    hearth_readback_release(agents_.session(), keeping_);
    keeping_ = 0;
}

Status Brain::record_rewind(const demo::Frame& frame) {
    if (kept_.empty()) return {};
    HEARTH_ASSIGN(const std::vector<std::byte> brain, encode());
    hearth_report report{};
    const hearth_result result = hearth_record_brain(agents_.session(), frame.compute_cmd,
                                                     brain.data(), brain.size(), 0, &report);
    if (result < 0) return to_status(result, report.text);
    kept_.pop_back();
    return {};
}

Status Brain::record_forget(const demo::Frame& frame) {
    kept_.clear();
    return check(hearth_record_forget(agents_.session(), frame.compute_cmd, nullptr, nullptr),
                 agents_.session());
}

Result<std::vector<std::byte>> Brain::encode() const {
    if (kept_.empty()) return std::vector<std::byte>();
    return program_.encode_brain(kept_.back());
}

Status Brain::load(std::vector<std::byte> brain) {
    HEARTH_TRY(program_.check_brain(brain));
    loaded_ = std::move(brain);
    return {};
}

}  // namespace hearth::hatchlings
