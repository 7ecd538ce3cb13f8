// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// JSON of files that may be hostile: bounded when it is parsed, and described instead of printed
// where it is refused.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/status.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hearth::programs {

/// Deepest nesting that is read. Copying, printing and comparing a value recurse once per level.
inline constexpr int kMaxJsonDepth = 64;

/// Json: nlohmann::json or ordered_json.
/// Errors: kInvalidArgument for text that is no JSON, or is nested deeper than kMaxJsonDepth.
template <class Json>
Result<Json> parse_json(std::string_view text) {
    bool is_too_deep = false;
    const auto stop_in_the_deep = [&](int depth, typename Json::parse_event_t, Json&) {
        is_too_deep = is_too_deep || depth > kMaxJsonDepth;
        return !is_too_deep;  // false: the value is not stored
    };
    Json json = Json::parse(text, stop_in_the_deep, /*allow_exceptions=*/false);
    if (is_too_deep)
        return invalid_argument("expected JSON of at most " + std::to_string(kMaxJsonDepth) +
                                " levels, found deeper nesting");
    if (json.is_discarded()) return invalid_argument("expected JSON, found other text");
    return json;
}

/// A value in a message: itself if it is short, else its kind.
template <class Json>
std::string describe(const Json& value) {
    constexpr size_t kLongest = 80;
    if (value.is_object()) return "an object";
    if (value.is_array()) return "a list";
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= kLongest ? text : text.substr(0, kLongest - 3) + "...";
}

/// Operand precision of products that the notes of a package record.
inline Precision precision_in(std::string_view notes) {
    const Result<nlohmann::json> json = parse_json<nlohmann::json>(notes);
    const bool is_f16 =
        json.ok() && json->is_object() && json->value("precision", nlohmann::json()) == "f16";
    return is_f16 ? Precision::kF16 : Precision::kF32;
}

/// The distinct strings of the model that the notes of a package record: ImportedModel::strings().
inline std::vector<std::string> strings_in(std::string_view notes) {
    const Result<nlohmann::json> json = parse_json<nlohmann::json>(notes);
    std::vector<std::string> strings;
    if (!json.ok() || !json->is_object()) return strings;
    for (const nlohmann::json& text : json->value("strings", nlohmann::json::array()))
        strings.push_back(text.is_string() ? text.get<std::string>() : std::string());
    return strings;
}

}  // namespace hearth::programs
