// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parses player scripts, and implements the scripted forager.

#include "hatchlings/player.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace hearth::hatchlings {
namespace {

enum class Arguments : uint8_t { kNone, kHatchling, kNumber, kVector };

struct Word {
    std::string_view text;
    Verb verb;
    Arguments arguments;
};
constexpr Word kWords[] = {
    {"possess", Verb::kPossess, Arguments::kHatchling},
    {"release", Verb::kRelease, Arguments::kNone},
    {"praise", Verb::kPraise, Arguments::kHatchling},
    {"scold", Verb::kScold, Arguments::kHatchling},
    {"hot_night", Verb::kHotNight, Arguments::kNone},
    {"wind", Verb::kWind, Arguments::kVector},
    {"frost", Verb::kFrost, Arguments::kNumber},
    {"penalty", Verb::kPenalty, Arguments::kNumber},
    {"adapt", Verb::kAdapt, Arguments::kNumber},
    {"freeze", Verb::kFreeze, Arguments::kNone},
    {"rewind", Verb::kRewind, Arguments::kNumber},
    {"forget", Verb::kForget, Arguments::kNone},
};

/// Removes the first word of a line and returns it; empty at the end.
std::string_view next_word(std::string_view& line) {
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
        line = {};
        return {};
    }
    const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

template <class Number>
std::optional<Number> number_of(std::string_view word) {
    Number value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>)
        if (!std::isfinite(value)) return std::nullopt;
    return value;
}

std::string quoted(std::string_view word) {
    constexpr size_t kLongest = 40;
    return "\"" + std::string(word.substr(0, kLongest)) + "\"";
}

/// Parses the command's arguments; returns an error message, or empty.
std::string read_arguments(const Word& word, std::string_view& line, Command& command) {
    const std::string verb(word.text);
    if (word.arguments == Arguments::kHatchling) {
        const std::string_view text = next_word(line);
        const auto index = number_of<uint32_t>(text);
        if (!index) return verb + " needs the number of a hatchling, found " + quoted(text);
        command.hatchling = *index;
    }
    const int count = word.arguments == Arguments::kNumber   ? 1
                      : word.arguments == Arguments::kVector ? 2
                                                             : 0;
    for (int i = 0; i < count; ++i) {
        const std::string_view text = next_word(line);
        const auto value = number_of<float>(text);
        if (!value) return verb + " needs a number, found " + quoted(text);
        command.value[i] = *value;
    }
    const std::string_view more = next_word(line);
    return more.empty() ? "" : "nothing may follow, found " + quoted(more);
}

std::string read_line(std::string_view line, uint64_t least_frame, Command& command) {
    const std::string_view frame_text = next_word(line);
    const auto frame = number_of<uint64_t>(frame_text);
    if (!frame) return "a line begins with a frame, found " + quoted(frame_text);
    if (*frame < least_frame)
        return "frames must not decrease, found " + std::to_string(*frame) + " after " +
               std::to_string(least_frame);
    command.frame = *frame;
    const std::string_view verb = next_word(line);
    const auto* word = std::ranges::find(kWords, verb, &Word::text);
    if (word == std::end(kWords)) {
        std::string known;
        for (const Word& w : kWords) known += " " + std::string(w.text);
        return "no such verb: " + quoted(verb) + "; there are" + known;
    }
    command.verb = word->verb;
    return read_arguments(*word, line, command);
}

}  // namespace

std::variant<std::vector<Command>, ScriptError> parse_script(std::string_view text) {
    std::vector<Command> commands;
    for (size_t number = 1; !text.empty(); ++number) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = line.substr(0, line.find('#'));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        Command command;
        const std::string problem =
            read_line(line, commands.empty() ? 0 : commands.back().frame, command);
        if (!problem.empty()) return ScriptError{"line " + std::to_string(number) + ": " + problem};
        commands.push_back(command);
    }
    return commands;
}

glm::vec2 forage(const Observation& o) {
    const glm::vec2 velocity(o[0], o[1]);
    const glm::vec2 ember(o[4], o[5]);
    const float closeness = std::sqrt(glm::dot(ember, ember));
    // With nothing in sight it returns to the middle, where most is visible.
    glm::vec2 wanted = closeness > 0 ? ember / closeness : -glm::vec2(o[2], o[3]);
    for (size_t mote = 10; mote < 25; mote += 5) {
        const glm::vec2 toward(o[mote], o[mote + 1]);
        const float near = o[mote + 4], length = std::sqrt(glm::dot(toward, toward));
        // Motes ahead count double: those behind will be left behind.
        if (near <= 0 || length <= 0) continue;
        const float ahead = glm::dot(toward / length, wanted) > 0 ? 2.0f : 1.0f;
        wanted -= toward / length * (ahead * near * near);
    }
    const float length = std::sqrt(glm::dot(wanted, wanted));
    if (length > 1) wanted /= length;
    const glm::vec2 thrust = 2.5f * (wanted - velocity) + wanted;
    return {std::clamp(thrust.x, -1.0f, 1.0f), std::clamp(thrust.y, -1.0f, 1.0f)};
}

}  // namespace hearth::hatchlings
