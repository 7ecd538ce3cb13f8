// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ears.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hearth::ember {
namespace {

constexpr float kStepsPerSecond = 9.0f / 3.1416f;     ///< as its feet are drawn
constexpr float kMoodChange = 0.25f;                  ///< that makes it cry out
constexpr uint64_t kWordPause = 90, kCryPause = 240;  // frames

}  // namespace

std::vector<Note> Ears::hear(const Heard& now) {
    std::vector<Note> notes;
    const auto play = [&](const std::vector<Note>& more) {
        notes.insert(notes.end(), more.begin(), more.end());
    };
    const World& world = now.world;
    const Doing& doing = world.doing();
    const bool was_over = std::exchange(is_over_, doing.is_over);
    const Act was = std::exchange(act_, doing.act);
    const bool was_night = std::exchange(is_night_, world.is_night());
    if (std::exchange(is_first_, false)) return notes;

    if (doing.is_over && !was_over && doing.succeeded && is_visit(doing.act))
        play(thing_note(thing_of(doing.act)));
    if (!doing.is_over && (was_over || was != doing.act)) {
        if (doing.act == Act::kSing) play(song_of(now.seed, now.mood));
        if (doing.act == Act::kSpin) play(cry_of(0.6f));
    }
    if (was_night != world.is_night()) play(hour_notes(was_night));
    const int step = static_cast<int>(world.seconds() * double{kStepsPerSecond});
    if (std::exchange(step_, step) != step && world.body().speed > 0.25f * kTopSpeed)
        play(step_note(step % 2 == 0));
    if (now.voice != 0) {
        play(cry_of(0.8f * now.voice));
        next_cry_ = world.frame() + kCryPause;
    }
    if (std::exchange(word_, now.word) != now.word && now.word && world.frame() >= next_word_) {
        play(word_of(*now.word, now.mood));
        next_word_ = world.frame() + kWordPause;
    }
    if (std::abs(now.mood - mood_) > kMoodChange && world.frame() >= next_cry_) {
        play(cry_of(now.mood - std::exchange(mood_, now.mood)));
        next_cry_ = world.frame() + kCryPause;
    }
    return notes;
}

Air air_at(const World& world, float x) {
    const auto near = [&](Place place) {
        const float middle = kPlaceWidth * (0.5f + static_cast<float>(place));
        return std::clamp(1.5f - std::abs(x - middle) / (0.5f * kPlaceWidth), 0.0f, 1.0f);
    };
    return {world.daylight(), near(Place::kWood), near(Place::kShore)};
}

}  // namespace hearth::ember
