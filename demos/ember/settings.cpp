// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "settings.hpp"

#include "keep.hpp"

#include <hearth/file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>

namespace hearth::ember {
namespace {

constexpr std::array<std::string_view, kEagernessCount> kEagernessNames = {"gently", "steadily",
                                                                           "eagerly"};
constexpr size_t kMostBytes = 1 << 16;

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::optional<float> number_in(std::string_view text, float least, float most) {
    float value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (!(value >= least && value <= most)) return std::nullopt;
    return value;
}

std::optional<bool> yes_or_no(std::string_view text) {
    if (text == "yes") return true;
    if (text == "no") return false;
    return std::nullopt;
}

/// Returns what was expected; empty if the value was taken.
std::string take(Settings& settings, std::string_view key, std::string_view value) {
    const auto set = [](auto& to, const auto& from, const char* expected) -> std::string {
        if (!from) return expected;
        to = *from;
        return {};
    };
    if (key == "volume")
        return set(settings.volume, number_in(value, 0, 1), "a number from 0 to 1");
    if (key == "text_size")
        return set(settings.text_size, number_in(value, 0.75f, 1.75f),
                   "a number from 0.75 to 1.75");
    if (key == "distinct_colours")
        return set(settings.has_distinct_colours, yes_or_no(value), "yes or no");
    if (key == "full_screen") return set(settings.is_full_screen, yes_or_no(value), "yes or no");
    if (key == "learns") {
        const auto found = std::ranges::find(kEagernessNames, value);
        if (found == kEagernessNames.end()) return "gently, steadily or eagerly";
        settings.eagerness = static_cast<Eagerness>(found - kEagernessNames.begin());
    }
    if (key == "last") {
        if (!value.empty() && !check_name(std::string(value)).ok()) return "a creature's name";
        settings.last = value;
    }
    return {};
}

}  // namespace

double budget_us(Eagerness eagerness) {
    constexpr std::array<double, kEagernessCount> kBudgets = {500, 2000, 6000};
    return kBudgets[static_cast<size_t>(eagerness)];
}

std::string to_text(const Settings& settings) {
    const auto word = [](bool is) { return is ? "yes" : "no"; };
    return fmt::format(
        "volume = {}\ntext_size = {}\ndistinct_colours = {}\nfull_screen = {}\nlearns = {}\n"
        "last = {}\n",
        settings.volume, settings.text_size, word(settings.has_distinct_colours),
        word(settings.is_full_screen), kEagernessNames[static_cast<size_t>(settings.eagerness)],
        settings.last);
}

Result<Settings> settings_of(std::string_view text) {
    if (text.size() > kMostBytes)
        return corrupt_data(
            fmt::format("settings of {} bytes; expected at most {}", text.size(), kMostBytes));
    Settings settings;
    for (int number = 1; !text.empty(); ++number) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        const size_t equals = line.find('=');
        const std::string expected =
            equals == std::string_view::npos
                ? "key = value"
                : take(settings, trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
        if (!expected.empty())
            return corrupt_data(fmt::format("line {} of the settings is '{}'; expected {}", number,
                                            line.substr(0, 60), expected));
    }
    return settings;
}

Result<Settings> load_settings(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return Settings();
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path));
    return settings_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace hearth::ember
