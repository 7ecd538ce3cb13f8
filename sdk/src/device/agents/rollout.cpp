// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Collects outcomes of decisions and packs the batch of the next one.

#include "device/agents/rollout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hearth::agents {

uint64_t Rollout::bytes_per_agent(const Sizes& s) {
    const uint64_t floats = 4 * s.observation + 4 * s.mask + 5;
    return floats * sizeof(float) + 3 * sizeof(uint32_t) + 2;
}

bool Rollout::allocate(HostAllocator& allocator, const Sizes& s) {
    sizes_ = s;
    const size_t n = s.agents;
    // Bindings need an address even where no action is maskable.
    const size_t masks = std::max<size_t>(n * s.mask, 1);
    const auto make = [&](auto&... arrays) { return (arrays.resize(allocator, n) && ...); };
    const bool is_made = observations_.resize(allocator, n * s.observation) &&
                         final_observations_.resize(allocator, n * s.observation) &&
                         ranges_.resize(allocator, s.frame) && masks_.resize(allocator, masks) &&
                         final_masks_.resize(allocator, masks) &&
                         make(rewards_, done_kinds_, has_final_, is_possessed_) &&
                         make(rows_.index, rows_.id, rows_.generation, rows_.reward,
                              rows_.done_kind, rows_.episode_start) &&
                         rows_.observation.resize(allocator, n * s.observation) &&
                         rows_.final_observation.resize(allocator, n * s.observation) &&
                         rows_.mask.resize(allocator, masks) &&
                         rows_.final_mask.resize(allocator, masks);
    if (!is_made) return false;
    std::ranges::fill(masks_, 1.0f);
    for (uint32_t i = 0; i < n; ++i) rows_.index[i] = i;
    return true;
}

void Rollout::join(uint32_t agent) {
    std::fill_n(observation(agent), sizes_.observation, 0.0f);
    if (sizes_.mask > 0) std::fill_n(mask(agent), sizes_.mask, 1.0f);
    rewards_[agent] = done_kinds_[agent] = 0;
    has_final_[agent] = is_possessed_[agent] = 0;
}

void Rollout::replace(uint32_t agent) {
    if (!has_ended(agent)) end(agent, HEARTH_AGENTS_TRUNCATED, nullptr, nullptr);
    std::fill_n(observation(agent), sizes_.observation, 0.0f);
    if (sizes_.mask > 0) std::fill_n(mask(agent), sizes_.mask, 1.0f);
}

bool Rollout::can_add_reward(uint32_t agent, float amount) const {
    return std::isfinite(rewards_[agent] + amount);
}

void Rollout::end(uint32_t agent, hearth_agents_episode_end kind, const float* final_observation,
                  const float* final_mask) {
    done_kinds_[agent] = static_cast<float>(kind);
    // The frame stack of the final observation is that of the ending episode.
    float* const observed = &final_observations_[agent * sizes_.observation];
    std::copy_n(observation(agent), sizes_.observation, observed);
    if (final_observation != nullptr) std::copy_n(final_observation, sizes_.frame, observed);
    if (sizes_.mask > 0)
        std::copy_n(final_mask != nullptr ? final_mask : mask(agent), sizes_.mask,
                    &final_masks_[agent * sizes_.mask]);
    has_final_[agent] = 1;
}

/// The frame stack of an episode's first observation repeats it.
void Rollout::repeat_frame(uint32_t agent) {
    float* const own = observation(agent);
    for (size_t k = sizes_.frame; k < sizes_.observation; k += sizes_.frame)
        std::copy_n(own, sizes_.frame, own + k);
}

void Rollout::observe(uint32_t agent) {
    const float* const own = observation(agent);
    for (size_t i = 0; i < sizes_.frame; ++i) {
        ObservedRange& range = ranges_[i];
        if (!std::isfinite(own[i])) {
            ++range.non_finite;
            continue;
        }
        range.low = std::min(range.low, own[i]);
        range.high = std::max(range.high, own[i]);
    }
}

void Rollout::copy(const Array<float>& from, uint32_t agent, Array<float>& to, uint32_t row,
                   size_t floats) {
    if (floats > 0) std::memcpy(&to[row * floats], &from[agent * floats], floats * sizeof(float));
}

Rollout::Packed Rollout::pack(const Roster& roster, PackOptions options) {
    HEARTH_ASSERT(state_ == DecisionState::kNone);
    packed_ = {};
    has_outcomes_ = options.stores;
    for (uint32_t i = 0; i < sizes_.agents; ++i) {
        const AgentState state = roster.state(i);
        if (state == AgentState::kFree) continue;
        if (state == AgentState::kJoined || done_kinds_[i] != 0) repeat_frame(i);
        const uint32_t row = packed_.rows++;
        observe(i);
        const bool is_leaving = state == AgentState::kLeaving;
        const bool has_outcome = state != AgentState::kJoined && is_possessed_[i] == 0;
        const Array<float>& finals = has_final_[i] != 0 ? final_observations_ : observations_;
        const Array<float>& final_masks = has_final_[i] != 0 ? final_masks_ : masks_;
        rows_.id[row] = i;
        rows_.generation[row] = roster.generation(i);
        copy(observations_, i, rows_.observation, row, sizes_.observation);
        copy(finals, i, rows_.final_observation, row, sizes_.observation);
        copy(masks_, i, rows_.mask, row, sizes_.mask);
        copy(final_masks, i, rows_.final_mask, row, sizes_.mask);
        const bool is_cut = (is_leaving || options.closes) && done_kinds_[i] == 0;
        const float end = is_cut ? static_cast<float>(HEARTH_AGENTS_TRUNCATED) : done_kinds_[i];
        rows_.reward[row] = options.stores ? rewards_[i] : 0.0f;
        rows_.done_kind[row] = options.stores ? end : 0.0f;
        rows_.episode_start[row] = has_outcome && options.stores ? 0.0f : 1.0f;
        if (has_outcome) {
            ++packed_.transitions;
            packed_.reward += static_cast<double>(rewards_[i]);
        }
    }
    if (packed_.rows > 0) state_ = DecisionState::kPacked;
    return packed_;
}

void Rollout::start() {
    HEARTH_ASSERT(state_ == DecisionState::kPacked);
    state_ = DecisionState::kStarted;
    for (uint32_t row = 0; row < packed_.rows; ++row) {
        const uint32_t i = rows_.id[row];
        float* const own = observation(i);
        std::memmove(own + sizes_.frame, own, (sizes_.observation - sizes_.frame) * sizeof(float));
        rewards_[i] = done_kinds_[i] = 0;
        has_final_[i] = is_possessed_[i] = 0;
    }
}

void Rollout::abandon() {
    HEARTH_ASSERT(state_ == DecisionState::kPacked);
    state_ = DecisionState::kNone;
}

void Rollout::finish() {
    HEARTH_ASSERT(state_ == DecisionState::kStarted);
    state_ = DecisionState::kNone;
}

void Rollout::archive(Archive& archive) {
    for (auto* const values :
         {&observations_, &masks_, &final_observations_, &final_masks_, &rewards_, &done_kinds_})
        archive.array(*values);
    archive.array(has_final_);
    archive.array(is_possessed_);
    state_ = DecisionState::kNone;
    for (float& reward : rewards_) reward = std::isfinite(reward) ? reward : 0;
    for (float& kind : done_kinds_)
        if (kind != static_cast<float>(HEARTH_AGENTS_TERMINATED) &&
            kind != static_cast<float>(HEARTH_AGENTS_TRUNCATED))
            kind = 0;
}

void Rollout::restart() {
    state_ = DecisionState::kNone;
    for (uint32_t i = 0; i < sizes_.agents; ++i) {
        rewards_[i] = done_kinds_[i] = 0;
        has_final_[i] = is_possessed_[i] = 0;
    }
}

}  // namespace hearth::agents
