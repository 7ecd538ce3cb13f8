// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "synth.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth::demo {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

}  // namespace

float sine(double turns) {
    return static_cast<float>(std::sin(kTwoPi * (turns - std::floor(turns))));
}

float hashed(int64_t n) {
    auto x = static_cast<uint64_t>(n) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<float>(static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1.0);
}

float noise(double seconds, double rate) {
    const double at = seconds * rate, whole = std::floor(at);
    const auto part = static_cast<float>(at - whole);
    const auto n = static_cast<int64_t>(whole);
    const float blend = part * part * (3 - 2 * part);
    return hashed(n) + (hashed(n + 1) - hashed(n)) * blend;
}

float envelope(double seconds, float length, float rise, float fall) {
    const auto t = static_cast<float>(seconds);
    const float up = std::clamp(t / rise, 0.0f, 1.0f);
    const float down = std::clamp((length - t) / fall, 0.0f, 1.0f);
    return up * up * (3 - 2 * up) * down * down * (3 - 2 * down);
}

namespace {

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

std::vector<Note> chimes(std::span<const float> hertz, float apart, float seconds, float loudness) {
    std::vector<Note> notes;
    for (size_t i = 0; i < hertz.size(); ++i)
        notes.push_back({.timbre = Timbre::kChime,
                         .delay = apart * static_cast<float>(i),
                         .seconds = seconds,
                         .hertz = hertz[i],
                         .loudness = loudness});
    return notes;
}

void follow(float& value, float to) {
    constexpr float kStep = 1.0f / (0.1f * kSampleRate);
    value += std::clamp(to - value, -kStep, kStep);
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
    for (float& out : samples) {
        follow(heard_volume_, volume_);
        const double now = static_cast<double>(sample_) / kSampleRate;
        float sum = background_ ? background_(now) : 0;
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

Status Sound::open() {
    HEARTH_ASSIGN(audio_, Audio::open(kSampleRate, [this](std::span<float> samples) {
                      mixer_.render(samples);
                  }));
    return {};
}

void Sound::change(const std::function<void()>& change) {
    audio_ ? audio_->change(change) : change();
}

void Sound::play(std::span<const Note> notes) {
    if (audio_ && !notes.empty()) audio_->change([&] { mixer_.play(notes); });
}

void Sound::set_volume(float volume) {
    change([&] { mixer_.set_volume(volume); });
}

}  // namespace hearth::demo
