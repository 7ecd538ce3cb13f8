// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "sounds.hpp"

#include "ember/dice.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth::ember {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;
constexpr float kPentatonic[] = {1.0f, 1.125f, 1.25f, 1.5f, 1.6667f, 2.0f};

/// Sine of a phase in turns.
float sine(double turns) {
    return static_cast<float>(std::sin(kTwoPi * (turns - std::floor(turns))));
}

/// A number from -1 to 1 for each integer.
float hashed(int64_t n) {
    auto x = static_cast<uint64_t>(n) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<float>(static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1.0);
}

/// Smooth noise: a new value `rate` times a second.
float noise(double seconds, double rate) {
    const double at = seconds * rate, whole = std::floor(at);
    const auto part = static_cast<float>(at - whole);
    const auto n = static_cast<int64_t>(whole);
    const float blend = part * part * (3 - 2 * part);
    return hashed(n) + (hashed(n + 1) - hashed(n)) * blend;
}

/// Rises from 0 within `rise` seconds, and falls to 0 within `fall` before the end.
float envelope(double seconds, float length, float rise, float fall) {
    const auto t = static_cast<float>(seconds);
    const float up = std::clamp(t / rise, 0.0f, 1.0f);
    const float down = std::clamp((length - t) / fall, 0.0f, 1.0f);
    return up * up * (3 - 2 * up) * down * down * (3 - 2 * down);
}

/// Turns since the beginning, with a pitch that glides linearly.
double turns_of(const Note& note, double seconds) {
    const double slope = double{note.hertz} * (double{note.glide} - 1) / double{note.seconds};
    return double{note.hertz} * seconds + 0.5 * slope * seconds * seconds;
}

/// Harmonics weighted by two formants.
float voice(const Note& note, double seconds) {
    const float first = note.vowel < 0.5f ? 350 + 900 * note.vowel : 1250 - 900 * note.vowel;
    const float second = 800 + 1600 * note.vowel;
    const double turns = turns_of(note, seconds) + 0.02 * std::sin(kTwoPi * 5.5 * seconds);
    float sum = 0, weights = 0;
    for (int harmonic = 1; harmonic <= 7; ++harmonic) {
        const float hertz = note.hertz * static_cast<float>(harmonic);
        const auto near = [&](float formant, float width) {
            const float away = (hertz - formant) / width;
            return 1 / (1 + away * away);
        };
        const float weight =
            (0.1f + near(first, 200) + 0.6f * near(second, 250)) / static_cast<float>(harmonic);
        sum += weight * sine(turns * harmonic);
        weights += weight;
    }
    return sum / weights * envelope(seconds, note.seconds, 0.03f, 0.06f);
}

float chime(const Note& note, double seconds) {
    constexpr float kPartials[] = {1.0f, 2.76f, 5.4f}, kLoudness[] = {0.62f, 0.26f, 0.12f};
    const auto part = static_cast<float>(seconds) / note.seconds;
    float sum = 0;
    for (size_t i = 0; i < std::size(kPartials); ++i)
        sum += kLoudness[i] * std::exp(-part * (4.0f + 3.0f * static_cast<float>(i))) *
               sine(turns_of(note, seconds) * double{kPartials[i]});
    return sum * envelope(seconds, note.seconds, 0.004f, 0.3f * note.seconds);
}

float thud(const Note& note, double seconds) {
    const auto part = static_cast<float>(seconds) / note.seconds;
    return std::exp(-4 * part) * sine(turns_of(note, seconds)) *
           envelope(seconds, note.seconds, 0.004f, 0.5f * note.seconds);
}

float rustle(const Note& note, double seconds) {
    return 0.7f * noise(seconds + double{note.hertz}, 2 * double{note.hertz}) *
           envelope(seconds, note.seconds, 0.25f * note.seconds, 0.5f * note.seconds);
}

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

std::vector<Note> chord(std::span<const float> hertz, float apart, float seconds, float loudness) {
    std::vector<Note> notes;
    for (size_t i = 0; i < hertz.size(); ++i)
        notes.push_back({.timbre = Timbre::kChime,
                         .delay = apart * static_cast<float>(i),
                         .seconds = seconds,
                         .hertz = hertz[i],
                         .loudness = loudness});
    return notes;
}

}  // namespace

float sample_of(const Note& note, double seconds) {
    if (seconds <= 0 || seconds >= double{note.seconds}) return 0;
    switch (note.timbre) {
        case Timbre::kVoice:
            return note.loudness * voice(note, seconds);
        case Timbre::kChime:
            return note.loudness * chime(note, seconds);
        case Timbre::kThud:
            return note.loudness * thud(note, seconds);
        case Timbre::kRustle:
            return note.loudness * rustle(note, seconds);
    }
    return 0;
}

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
            return chord(std::array{880.0f, 1109.0f, 1319.0f}, 0.09f, 1.1f, 0.26f);
        case Thing::kLantern:
            return chord(std::array{330.0f, 494.0f}, 0.05f, 1.4f, 0.24f);
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
    return is_dawn ? chord(std::array{392.0f, 494.0f, 587.0f, 784.0f}, 0.22f, 2.0f, 0.16f)
                   : chord(std::array{587.0f, 440.0f, 349.0f, 294.0f}, 0.26f, 2.2f, 0.16f);
}

std::vector<Note> button_note() {
    return {{Timbre::kChime, 0, 0.12f, 740, 1, 0.18f}};
}

// --- Mixing --------------------------------------------------------------------------------------

void Mixer::play(std::span<const Note> notes) {
    for (const Note& note : notes)
        notes_.push_back({note, sample_ + static_cast<uint64_t>(std::max(note.delay, 0.0f) *
                                                                static_cast<float>(kSampleRate))});
    // Cutting off a note that sounds would click.
    while (notes_.size() > kMostNotes) notes_.pop_back();
}

void Mixer::render(std::span<float> samples) {
    constexpr float kSlow = 1.0f / (0.1f * kSampleRate);  // a tenth of a second
    const auto follow = [&](float& value, float to) {
        value += std::clamp(to - value, -kSlow, kSlow);
    };
    for (float& out : samples) {
        follow(heard_.daylight, air_.daylight);
        follow(heard_.wood, air_.wood);
        follow(heard_.shore, air_.shore);
        follow(heard_volume_, volume_);
        float sum = sample_of(heard_, static_cast<double>(sample_) / kSampleRate);
        for (const Playing& playing : notes_)
            if (sample_ >= playing.begins)
                sum += sample_of(playing.note,
                                 static_cast<double>(sample_ - playing.begins) / kSampleRate);
        out = heard_volume_ * std::tanh(sum);  // never beyond 1, whatever sounds together
        ++sample_;
    }
    std::erase_if(notes_, [&](const Playing& playing) {
        return sample_ >= playing.begins && static_cast<double>(sample_ - playing.begins) >=
                                                double{playing.note.seconds} * kSampleRate;
    });
}

}  // namespace hearth::ember
