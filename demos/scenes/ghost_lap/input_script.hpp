// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The format of a recorded or hand-written drive: one line per change of the controls,
//
//     # frame steer throttle seat
//     0       0     1
//     95      -0.4  0.2
//     1200    0.1   0.5  ghost
//
// frames strictly increasing, steer and throttle in [-1, 1], each held until the next line's frame;
// before the first line both are 0.  seat: "ghost" at the ghost's wheel, "none" to watch, nothing in
// one's own car.  Blank lines and text after # are skipped.

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

    /// What the script holds in `frame`, and since when.
    Entry at(uint64_t frame) const;
};

/// Why a script was refused, as in `line 3: steer must be a number in [-1, 1], found "left"`.
struct InputScriptError {
    std::string message;
};

/// Reads the text of a script; the first bad line refuses it all.
std::variant<InputScript, InputScriptError> parse_input_script(std::string_view text);

/// Writes a script that parse_input_script reads back to the same bits.
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
