// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "sounds.hpp"

#include "ember/dice.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hearth::ember {
namespace {

using demo::envelope, demo::hashed, demo::noise, demo::sine, demo::Timbre;

constexpr float kPentatonic[] = {1.0f, 1.125f, 1.25f, 1.5f, 1.6667f, 2.0f};

// --- The air -------------------------------------------------------------------------------------

/// A bird in some of the stretches of 1.7 seconds.
float birds(double seconds) {
    constexpr double kStretch = 1.7;
    const auto cell = static_cast<int64_t>(std::floor(seconds / kStretch));
    if (hashed(3 * cell) < 0.1f) return 0;
    const double at = seconds - static_cast<double>(cell) * kStretch;
    const float pitch = 2400 + 700 * hashed(3 * cell + 1);
    const int chirps = 2 + static_cast<int>(2.9f * std::abs(hashed(3 * cell + 2)));
    const auto chirp = static_cast<int>(at / 0.16);
    if (chirp >= chirps) return 0;
    const double since = at - 0.16 * chirp;
    const float glide = chirp % 2 == 0 ? 4000.0f : -3000.0f;
    return sine((double{pitch} + 0.5 * double{glide} * since) * since) *
           envelope(since, 0.12f, 0.02f, 0.07f);
}

float crickets(double seconds) {
    const double at = std::fmod(seconds, 0.9);
    if (at >= 0.3) return 0;
    const float pulse = sine(at * 16.7);
    return sine(seconds * 4300) * pulse * pulse * envelope(at, 0.3f, 0.05f, 0.08f);
}

float waves(double seconds) {
    const float swell = 0.5f + 0.5f * sine(seconds / 7.3);
    return noise(seconds, 1400) * (0.12f + 0.88f * swell * swell);
}

float wind(double seconds) {
    const float gust = 0.5f + 0.5f * noise(seconds, 0.4);
    return noise(seconds + 1000, 500) * (0.3f + 0.7f * gust);
}

}  // namespace

float sample_of(const Air& air, double seconds) {
    const float day = std::clamp(air.daylight, 0.0f, 1.0f), night = 1 - day;
    const float shore = std::clamp(air.shore, 0.0f, 1.0f), wood = std::clamp(air.wood, 0.0f, 1.0f);
    float sum = 0.05f * wind(seconds) * (1 - 0.5f * shore);
    if (day > 0) sum += 0.035f * day * (0.4f + 0.6f * wood) * (1 - shore) * birds(seconds);
    if (night > 0) sum += 0.03f * night * (1 - 0.7f * shore) * crickets(seconds);
    if (shore > 0) sum += 0.16f * shore * waves(seconds);
    return sum;
}

// --- What is heard when --------------------------------------------------------------------------

std::vector<Note> song_of(uint64_t seed, float mood) {
    Dice dice{seed * 31 + 5};
    const float root = 392 * std::exp2(dice.uniform(-0.2f, 0.3f));
    std::vector<Note> song;
    float delay = 0;
    for (int i = 0; i < 6; ++i) {
        const float seconds = dice.chance(0.4f) ? 0.32f : 0.18f;
        song.push_back({.timbre = Timbre::kVoice,
                        .delay = delay,
                        .seconds = seconds,
                        .hertz = root * kPentatonic[dice.below(std::size(kPentatonic))],
                        .glide = 1 + 0.03f * mood,
                        .loudness = 0.3f,
                        .vowel = dice.uniform(0.3f, 0.7f)});
        delay += 0.95f * seconds;
    }
    return song;
}

std::vector<Note> word_of(Thing thing, float mood) {
    struct Syllable {
        float vowel, pitch;
    };
    constexpr std::array<std::array<Syllable, 2>, kThingCount> kSyllables = {{
        {{{0.75f, 1.0f}, {1.0f, 1.2f}}},  // berry
        {{{0.1f, 1.0f}, {0.0f, 0.85f}}},  // mushroom
        {{{0.8f, 1.1f}, {0.6f, 0.9f}}},   // shell
        {{{0.5f, 0.95f}, {0.7f, 1.1f}}},  // lantern
        {{{1.0f, 1.25f}, {0.3f, 0.95f}}}  // thistle
    }};
    std::vector<Note> word;
    float delay = 0;
    for (const Syllable& syllable : kSyllables[static_cast<size_t>(thing)]) {
        word.push_back({.timbre = Timbre::kVoice,
                        .delay = delay,
                        .seconds = 0.2f,
                        .hertz = (420 + 80 * mood) * syllable.pitch,
                        .glide = 1 + 0.15f * mood,
                        .loudness = 0.34f,
                        .vowel = syllable.vowel});
        delay += 0.16f;
    }
    return word;
}

std::vector<Note> thing_note(Thing thing) {
    switch (thing) {
        case Thing::kBerry:
            return {{Timbre::kRustle, 0, 0.09f, 900, 1, 0.4f},
                    {Timbre::kRustle, 0.13f, 0.09f, 700, 1, 0.35f},
                    {Timbre::kChime, 0.2f, 0.5f, 659, 1, 0.22f}};
        case Thing::kMushroom:
            return {{Timbre::kThud, 0, 0.25f, 180, 0.6f, 0.4f},
                    {Timbre::kRustle, 0.03f, 0.3f, 350, 1, 0.22f}};
        case Thing::kShell:
            return demo::chimes(std::array{880.0f, 1109.0f, 1319.0f}, 0.09f, 1.1f, 0.26f);
        case Thing::kLantern:
            return demo::chimes(std::array{330.0f, 494.0f}, 0.05f, 1.4f, 0.24f);
        case Thing::kThistle:
            return {{Timbre::kVoice, 0, 0.14f, 760, 0.7f, 0.36f, 1},
                    {Timbre::kRustle, 0, 0.06f, 2400, 1, 0.3f}};
    }
    return {};
}

std::vector<Note> step_note(bool is_left) {
    return {{Timbre::kThud, 0, 0.09f, is_left ? 150.0f : 130.0f, 0.6f, 0.16f}};
}

std::vector<Note> cry_of(float feeling) {
    const bool is_glad = feeling >= 0;
    return {{Timbre::kVoice, 0, is_glad ? 0.16f : 0.34f, is_glad ? 520.0f : 430.0f,
             is_glad ? 1.5f : 0.65f, 0.16f + 0.2f * std::min(std::abs(feeling), 1.0f),
             is_glad ? 0.8f : 0.2f}};
}

std::vector<Note> hour_notes(bool is_dawn) {
    return is_dawn ? demo::chimes(std::array{392.0f, 494.0f, 587.0f, 784.0f}, 0.22f, 2.0f, 0.16f)
                   : demo::chimes(std::array{587.0f, 440.0f, 349.0f, 294.0f}, 0.26f, 2.2f, 0.16f);
}

std::vector<Note> button_note() {
    return {{Timbre::kChime, 0, 0.12f, 740, 1, 0.18f}};
}

float AirSound::sample(double seconds) {
    demo::follow(heard_.daylight, air_.daylight);
    demo::follow(heard_.wood, air_.wood);
    demo::follow(heard_.shore, air_.shore);
    return sample_of(heard_, seconds);
}

}  // namespace hearth::ember
