// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// All sounds of the game, synthesized: pure functions of time without samples or state. The
// creature's voice follows its mood; birds sing by day, crickets by night, waves roll at the shore.

#pragma once

#include "ember/things.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth::ember {

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

/// Sounds that never end. All from 0 to 1.
struct Air {
    float daylight = 1;
    float wood = 0, shore = 0;  ///< how much of these places is near
};

/// The air's sample at a time: within -1 and 1.
float sample_of(const Air& air, double seconds);

/// A melody of its own for each creature.
std::vector<Note> song_of(uint64_t seed, float mood);
/// A word as a creature says it: two or three syllables without consonants.
std::vector<Note> word_of(Thing thing, float mood);
/// Chime, munch, prick or hum when a thing is reached.
std::vector<Note> thing_note(Thing thing);
std::vector<Note> step_note(bool is_left);
/// A chirp that rises, or a whimper that falls. feeling: -1 to 1.
std::vector<Note> cry_of(float feeling);
/// Dawn's or dusk's chord.
std::vector<Note> hour_notes(bool is_dawn);
/// A button of the menu.
std::vector<Note> button_note();

/// Mixes notes and air. Threads: one at a time.
class Mixer {
  public:
    static constexpr size_t kMostNotes = 48;

    /// Of more than kMostNotes the newest are not played.
    void play(std::span<const Note> notes);
    /// Takes effect within a tenth of a second, without a click.
    void set(const Air& air) { air_ = air; }
    /// volume: 0 to 1.
    void set_volume(float volume) { volume_ = volume; }
    /// Writes the next samples, mono, within -1 and 1.
    void render(std::span<float> samples);
    size_t playing() const { return notes_.size(); }

  private:
    struct Playing {
        Note note;
        uint64_t begins = 0;  ///< sample
    };
    std::vector<Playing> notes_;
    uint64_t sample_ = 0;
    Air air_, heard_;
    float volume_ = 1, heard_volume_ = 1;
};

}  // namespace hearth::ember
