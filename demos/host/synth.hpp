// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Synthesized sounds of the demos: notes are pure functions of time, without samples or state.

#pragma once

#include "audio.hpp"

#include <cstdint>
#include <vector>

namespace hearth::demo {

constexpr int kSampleRate = 22050;

enum class Timbre : uint8_t {
    kVoice,  ///< harmonics shaped by a vowel
    kChime,  ///< inharmonic partials that decay
    kThud,   ///< a low sine that falls
    kRustle  ///< noise around the pitch
};

/// One note. It begins and ends at zero, without clicks.
struct Note {
    Timbre timbre = Timbre::kChime;
    float delay = 0;  ///< seconds until it begins
    float seconds = 0.2f;
    float hertz = 440;
    float glide = 1;  ///< pitch at the end, relative to the beginning
    float loudness = 0.3f;
    float vowel = 0;  ///< of voices: 0 as in "oo", 0.5 as in "ah", 1 as in "ee"
};

/// The note's sample `seconds` after its beginning: within -1 and 1, and 0 outside of it.
float sample_of(const Note& note, double seconds);

/// Chimes one after the other.
std::vector<Note> chimes(std::span<const float> hertz, float apart, float seconds, float loudness);

// For sounds that never end:
/// Sine of a phase in turns.
float sine(double turns);
/// A number from -1 to 1 for each integer.
float hashed(int64_t n);
/// Smooth noise from -1 to 1: a new value `rate` times a second.
float noise(double seconds, double rate);
/// Rises from 0 within `rise` seconds, and falls to 0 within `fall` before the end.
float envelope(double seconds, float length, float rise, float fall);

/// Mixes notes and a background. Threads: one at a time.
class Mixer {
  public:
    static constexpr size_t kMostNotes = 48;
    /// The next sample, `seconds` after the first one.
    using Background = std::function<float(double seconds)>;

    explicit Mixer(Background background = {}) : background_(std::move(background)) {}

    /// Of more than kMostNotes the newest are not played.
    void play(std::span<const Note> notes);
    /// volume: 0 to 1; takes effect within a tenth of a second, without a click.
    void set_volume(float volume) { volume_ = volume; }
    /// Writes the next samples, mono, within -1 and 1.
    void render(std::span<float> samples);
    size_t playing() const { return notes_.size(); }

  private:
    struct Playing {
        Note note;
        uint64_t begins = 0;  ///< sample
    };
    Background background_;
    std::vector<Playing> notes_;
    uint64_t sample_ = 0;
    float volume_ = 1, heard_volume_ = 1;
};

/// A step of `value` towards `to`, for each sample: a tenth of a second from 0 to 1.
void follow(float& value, float to);

/// The sound of a game: a mixer and what plays it.
class Sound {
  public:
    explicit Sound(Mixer::Background background = {}) : mixer_(std::move(background)) {}

    /// Begins to play. Without an audio device the game is silent, which the error says.
    Status open();
    bool is_open() const { return audio_ != nullptr; }
    void close() { audio_.reset(); }
    void play(std::span<const Note> notes);
    void set_volume(float volume);
    /// Runs `change` while nothing is rendered: for what the background reads.
    void change(const std::function<void()>& change);

  private:
    Mixer mixer_;
    std::unique_ptr<Audio> audio_;  ///< after what it plays
};

}  // namespace hearth::demo
