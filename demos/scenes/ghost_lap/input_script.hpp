// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The text format of a recorded or hand-written drive, one line per change of the controls:
//
//     # frame steer throttle seat
//     0       0     1
//     95      -0.4  0.2
//     1200    0.1   0.5  ghost
//
// Frames increase strictly; steer and throttle are in [-1, 1], each held until the next line's
// frame, and 0 before the first line. seat: "ghost" at the ghost's wheel, "none" to watch, nothing
// in one's own car. Blank lines and text after # are skipped.

#pragma once

#include "ghost_lap/driver.hpp"

#include <string>
#include <variant>

namespace hearth::ghost_lap {

struct InputScript {
    struct Entry {
        uint64_t frame = 0;
        Action action;
        Seat seat = Seat::kOwnCar;
    };
    std::vector<Entry> entries;

    /// The controls in `frame`, and the frame since when they are held.
    Entry at(uint64_t frame) const;
};

/// The error of a rejected script, as in `line 3: steer must be a number in [-1, 1], found "left"`.
struct InputScriptError {
    std::string message;
};

/// Parses the text of a script; any bad line rejects it.
std::variant<InputScript, InputScriptError> parse_input_script(std::string_view text);

/// Writes a script that parse_input_script reads back bit for bit.
std::string write_input_script(const InputScript& script);

/// Replays a script.
class ReplayDriver final : public Driver {
  public:
    explicit ReplayDriver(InputScript script) : script_(std::move(script)) {}
    Seat seat(const Race& race) override { return script_.at(race.frame()).seat; }
    Action drive(const Racer&, uint64_t frame) override { return script_.at(frame).action; }

  private:
    InputScript script_;
};

}  // namespace hearth::ghost_lap
