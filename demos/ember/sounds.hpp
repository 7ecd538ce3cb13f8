// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// All sounds of the game, synthesized: pure functions of time without samples or state. The
// creature's voice follows its mood; birds sing by day, crickets by night, waves roll at the shore.

#pragma once

#include "ember/things.hpp"
#include "host/synth.hpp"

#include <cstdint>
#include <vector>

namespace hearth::ember {

using demo::Note;

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

/// The air as it is heard: changes take a tenth of a second, without a click.
class AirSound {
  public:
    void set(const Air& air) { air_ = air; }
    /// The next sample, for a mixer.
    float sample(double seconds);

  private:
    Air air_, heard_;
};

}  // namespace hearth::ember
