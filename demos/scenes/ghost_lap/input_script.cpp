// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parses, writes and replays input scripts.

#include "ghost_lap/input_script.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace hearth::ghost_lap {
namespace {

constexpr std::string_view kBlank = " \t\r";

// Removes the first word of `line` and returns it; empty at the end of the line.
std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(kBlank));
    line.remove_prefix(word.size());
    return word;
}

template <typename T>
std::optional<T> parse_number(std::string_view word) {
    T value{};
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

std::optional<float> parse_control(std::string_view word) {
    const auto value = parse_number<float>(word);
    return value && *value >= -1.0f && *value <= 1.0f ? value : std::nullopt;  // rejects NaN too
}

std::optional<Seat> parse_seat(std::string_view word) {
    if (word.empty()) return Seat::kOwnCar;
    if (word == "ghost") return Seat::kGhost;
    return word == "none" ? std::optional(Seat::kNone) : std::nullopt;
}

InputScriptError error_at(size_t line, std::string_view expected, std::string_view found) {
    std::string message =
        "line " + std::to_string(line) + ": " + std::string(expected) + ", found ";
    message += found.empty() ? "nothing" : '"' + std::string(found) + '"';
    return {std::move(message)};
}

}  // namespace

InputScript::Entry InputScript::at(uint64_t frame) const {
    const auto after =
        std::upper_bound(entries.begin(), entries.end(), frame,
                         [](uint64_t wanted, const Entry& entry) { return wanted < entry.frame; });
    return after == entries.begin() ? Entry{} : *std::prev(after);
}

std::variant<InputScript, InputScriptError> parse_input_script(std::string_view text) {
    InputScript script;
    for (size_t number = 1; !text.empty(); ++number) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        line = line.substr(0, line.find('#'));

        const std::string_view frame_word = take_word(line);
        if (frame_word.empty()) continue;
        const auto frame = parse_number<uint64_t>(frame_word);
        if (!frame) return error_at(number, "frame must be a whole number >= 0", frame_word);
        if (!script.entries.empty() && *frame <= script.entries.back().frame)
            return error_at(number,
                            "frame must be greater than " +
                                std::to_string(script.entries.back().frame) + " before it",
                            frame_word);
        const std::string_view steer_word = take_word(line);
        const auto steer = parse_control(steer_word);
        if (!steer) return error_at(number, "steer must be a number in [-1, 1]", steer_word);
        const std::string_view throttle_word = take_word(line);
        const auto throttle = parse_control(throttle_word);
        if (!throttle)
            return error_at(number, "throttle must be a number in [-1, 1]", throttle_word);
        const std::string_view seat_word = take_word(line);
        const auto seat = parse_seat(seat_word);
        if (!seat) return error_at(number, "seat must be ghost, none or left out", seat_word);
        if (const std::string_view extra = take_word(line); !extra.empty())
            return error_at(number, "expected only frame, steer, throttle and seat", extra);
        script.entries.push_back({*frame, {*steer, *throttle}, *seat});
    }
    return script;
}

std::string write_input_script(const InputScript& script) {
    std::string text = "# frame steer throttle seat\n";
    const auto append = [&text](auto value, char after) {
        char digits[32];
        const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
        text.append(digits, end).push_back(after);
    };
    for (const InputScript::Entry& entry : script.entries) {
        append(entry.frame, ' ');
        append(entry.action.steer, ' ');
        append(entry.action.throttle, entry.seat == Seat::kOwnCar ? '\n' : ' ');
        if (entry.seat != Seat::kOwnCar)
            text.append(entry.seat == Seat::kGhost ? "ghost\n" : "none\n");
    }
    return text;
}

}  // namespace hearth::ghost_lap
