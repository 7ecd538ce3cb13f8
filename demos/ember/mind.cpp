// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "mind.hpp"

#include <algorithm>

namespace hearth::ember {
namespace {

/// Parts whose teacher observes something else than they do.
constexpr bool has_teacher(Part part) {
    return part == Part::kHeart || part == Part::kEyes;
}

/// Minibatches for each lesson of these parts. The others learn from decisions, at a pace of their
/// own.
constexpr int minibatches_per_lesson(Part part) {
    return part == Part::kEyes ? 6 : 2;
}

}  // namespace

Result<Mind> Mind::create(const Context& context, const PartPrograms& programs,
                          const MindOptions& options) {
    Mind mind;
    mind.frames_in_flight_ = options.frames_in_flight;
    for (size_t i = 0; i < kPartCount; ++i) {
        Living& part = mind.parts_[i];
        HEARTH_ASSIGN(part.agents,
                      agents::Agents::create(context, programs[i].program,
                                             {.name = kPartNames[i],
                                              .frames_in_flight = options.frames_in_flight,
                                              .max_snapshots = 1,
                                              .snapshot_interval = 0}));
        HEARTH_TRY(part.agents.create_pipelines());
        HEARTH_ASSIGN(const std::vector<std::byte> brain,
                      newborn(programs[i], options.seed * kPartCount + i));
        HEARTH_TRY(part.agents.load(brain));
        HEARTH_ASSIGN(part.self, part.agents.add());
        if (has_teacher(static_cast<Part>(i))) {
            HEARTH_ASSIGN(part.teacher, part.agents.add());
        }
    }
    return mind;
}

void Mind::poll() {
    for (Living& part : parts_) part.agents.poll();
}

/// The parts take turns at the frame's budget. One that has nothing to do is left alone.
Status Mind::record(VkCommandBuffer commands, double budget_us) {
    const size_t turn = records_++ % kPartCount;
    for (size_t i = 0; i < kPartCount; ++i) {
        Living& part = parts_[i];
        const bool may_learn = i == turn && (!has_teacher(static_cast<Part>(i)) || part.owed > 0);
        if (!may_learn && !part.is_asked && !part.is_taught) continue;
        HEARTH_TRY(part.agents
                       .record(commands, {.learning_budget_us = may_learn ? budget_us : 0,
                                          .exploration = part.exploration,
                                          .request_decision = part.is_asked})
                       .status());
        if (may_learn && part.owed > 0) --part.owed;
        part.is_asked = part.is_taught = false;
    }
    return {};
}

Status Mind::ask(Part which, std::span<const float> observation, float exploration) {
    Living& asked = part(which);
    std::ranges::copy(observation, asked.agents.observation(asked.self).begin());
    asked.exploration = exploration;
    asked.is_asked = true;
    return {};
}

Status Mind::teach(Part which, std::span<const float> observation, std::span<const float> answer) {
    Living& taught = part(which);
    std::ranges::copy(observation, taught.agents.observation(taught.teacher).begin());
    taught.is_taught = true;
    taught.owed += minibatches_per_lesson(which);
    return taught.agents.add_demonstration(taught.teacher, answer);
}

// --- Legs ----------------------------------------------------------------------------------------

Status Mind::ask_legs(const Stride& stride, float reward, bool tries) {
    Living& legs = part(Part::kLegs);
    HEARTH_TRY(legs.agents.add_reward(legs.self, reward));
    return ask(Part::kLegs, stride, tries ? 1.0f : 0.0f);
}

Status Mind::end_walk(const Stride& stride, float reward, bool has_arrived) {
    Living& legs = part(Part::kLegs);
    HEARTH_TRY(legs.agents.add_reward(legs.self, reward));
    return legs.agents.end_episode(
        legs.self, has_arrived ? agents::EpisodeEnd::kTerminated : agents::EpisodeEnd::kTruncated,
        stride);
}

Status Mind::show_steps(const Stride& stride, const Steps& steps) {
    HEARTH_TRY(ask(Part::kLegs, stride, 1));
    const float shown[] = {std::clamp(steps.turn, -1.0f, 1.0f),
                           std::clamp(steps.push, -1.0f, 1.0f)};
    Living& legs = part(Part::kLegs);
    return legs.agents.add_demonstration(legs.self, shown);
}

Steps Mind::steps() const {
    const Living& legs = part(Part::kLegs);
    const std::span<const float> action = legs.agents.action(legs.self);
    return action.empty() ? Steps{} : Steps{action[0], action[1]};
}

// --- Will ----------------------------------------------------------------------------------------

Status Mind::ask_will(const Senses& senses, const ActMask& possible, float curiosity) {
    Living& will = part(Part::kWill);
    float* const mask = will.agents.action_mask(will.self);
    for (size_t i = 0; i < kActCount; ++i) mask[i] = possible[i] ? 1.0f : 0.0f;
    will_answers_at_ = records_ + frames_in_flight_ + 1;
    return ask(Part::kWill, senses, curiosity);
}

std::optional<Act> Mind::take_decision() {
    if (!will_answers_at_ || records_ < *will_answers_at_) return std::nullopt;
    will_answers_at_.reset();
    return newest_decision();
}

Act Mind::newest_decision() const {
    const Living& will = part(Part::kWill);
    const std::span<const float> action = will.agents.action(will.self);
    if (action.empty()) return Act::kRest;
    return static_cast<Act>(std::clamp(action[0], 0.0f, float{kActCount - 1}));
}

Status Mind::judge(float felt) {
    Living& will = part(Part::kWill);
    return will.agents.add_reward(will.self, felt);
}

// --- Heart ---------------------------------------------------------------------------------------

Status Mind::ask_heart(const Senses& senses) {
    return ask(Part::kHeart, senses, 0);
}

float Mind::expectation() const {
    const Living& heart = part(Part::kHeart);
    const std::span<const float> action = heart.agents.action(heart.self);
    return action.empty() ? 0 : action[0];
}

Status Mind::remember(const Senses& senses, float felt) {
    const float answer[] = {std::clamp(felt, -1.0f, 1.0f)};
    return teach(Part::kHeart, senses, answer);
}

// --- Eyes ----------------------------------------------------------------------------------------

Status Mind::ask_eyes(const Gaze& gaze) {
    return ask(Part::kEyes, gaze, 0);
}

std::optional<Thing> Mind::word() const {
    const Living& eyes = part(Part::kEyes);
    const std::span<const float> action = eyes.agents.action(eyes.self);
    if (action.empty() || action[0] < 1) return std::nullopt;
    return static_cast<Thing>(std::min(action[0], float{kThingCount}) - 1);
}

Status Mind::name(const Gaze& gaze, std::optional<Thing> word) {
    const float answer[] = {word ? 1 + static_cast<float>(*word) : 0.0f};
    return teach(Part::kEyes, gaze, answer);
}

LearningTime Mind::learning_time() const {
    LearningTime time;
    for (const Living& part : parts_) {
        const agents::AgentsStatus status = part.agents.status();
        time.frames += status.update_frames;
        time.over_budget += status.update_frames_over_budget;
    }
    return time;
}

// --- Under the hood ------------------------------------------------------------------------------

std::span<const float> Mind::seen(Part which) const {
    const Living& living = part(which);
    const float* const values = hearth_agents_observation(living.agents.handle(), living.self);
    if (values == nullptr) return {};
    return {values, living.agents.observation_size()};
}

std::span<const float> Mind::did(Part which) const {
    const Living& living = part(which);
    return living.agents.action(living.self);
}

// --- Saving --------------------------------------------------------------------------------------

Status Mind::take_snapshots() {
    for (Living& part : parts_) HEARTH_TRY(part.agents.take_snapshot());
    return {};
}

Result<std::vector<std::byte>> Mind::save(Part which) const {
    return part(which).agents.save_weights(0);
}

Status Mind::load(Part which, std::span<const std::byte> brain) {
    return part(which).agents.load(brain);
}

}  // namespace hearth::ember
