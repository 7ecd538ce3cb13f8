// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Averages the hatchlings' results over bars and judges their trend.

#include "hatchlings/progress.hpp"

#include <algorithm>

namespace hearth::hatchlings {

bool Progress::add(const World& world) {
    if (world.frame() == 0 || world.frame() % kBarFrames != 0) return false;
    uint64_t embers = 0, motes = 0;
    for (const Hatchling& h : world.hatchlings()) {
        embers += h.embers;
        motes += h.motes;
    }
    const float scale = 60.0f / kBarSeconds / static_cast<float>(world.hatchlings().size());
    Bar bar;
    bar.embers = scale * static_cast<float>(embers - state_.embers);
    bar.motes = scale * static_cast<float>(motes - state_.motes);
    bar.is_hot_night = world.rules().is_hot_night;
    bar.score = bar.is_hot_night ? bar.motes - bar.embers : bar.embers - bar.motes;
    state_.bars.push_back(bar);
    state_.embers = embers;
    state_.motes = motes;
    return true;
}

Mood Progress::mood() const {
    constexpr size_t kStuckBars = 60 / kBarSeconds;
    if (state_.bars.size() < 2) return Mood::kWatching;
    const Bar& last = state_.bars.back();
    // Rule changes alter what feeds, so only bars of the same kind of night are compared.
    const auto same_night = [&](const Bar& b) { return b.is_hot_night == last.is_hot_night; };
    if (state_.bars.size() > kStuckBars && same_night(state_.bars.front())) {
        const auto recent = std::span(state_.bars).last(kStuckBars);
        if (std::ranges::all_of(recent, [&](const Bar& b) {
                return same_night(b) && b.embers < 0.25f * state_.bars.front().embers;
            }))
            return Mood::kStuck;
    }
    float best = 0;
    for (const Bar& b : state_.bars) best = std::max(best, b.score);
    const float now = state_.bars.size() < 2
                          ? last.score
                          : std::max(last.score, state_.bars[state_.bars.size() - 2].score);
    return best > 4 && now < 0.4f * best ? Mood::kDegraded : Mood::kLearning;
}

float Progress::gain() const {
    if (state_.bars.size() < 2) return 0;
    const float now =
        0.5f * (state_.bars.back().embers + state_.bars[state_.bars.size() - 2].embers);
    return now / std::max(state_.bars.front().embers, 0.5f);
}

}  // namespace hearth::hatchlings
