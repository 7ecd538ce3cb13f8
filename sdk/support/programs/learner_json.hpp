// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learners with their hyperparameters as JSON objects, read and written by their records.

#pragma once

#include <hearth/agents/learner_def.hpp>

#include <programs/json.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::programs {

/// The value of a hyperparameter, or empty if the JSON is of another type.
/// now: its present value.
template <class Json>
std::optional<agents::HyperparameterValue> hyperparameter_from(
    const Json& json, const agents::HyperparameterDef& def,
    const agents::HyperparameterValue& now) {
    using agents::Hyperparameter;
    if (!def.choices.empty()) {
        for (size_t i = 0; i < def.choices.size(); ++i)
            if (json == def.choices[i]) return static_cast<int64_t>(i);
        return std::nullopt;
    }
    if (std::holds_alternative<bool>(now) && json.is_boolean()) return json.template get<bool>();
    if (std::holds_alternative<int64_t>(now)) {
        const bool fits = json.is_number_integer() &&
                          (!json.is_number_unsigned() ||
                           json.template get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
        if (fits) return json.template get<int64_t>();
    }
    if (std::holds_alternative<double>(now) && json.is_number()) return json.template get<double>();
    if (std::holds_alternative<Hyperparameter>(now)) {
        if (json.is_number()) return Hyperparameter(json.template get<double>());
        if (json.is_object() && json.size() == 1 && json.contains("tunable") &&
            json["tunable"].is_number())
            return Hyperparameter::tunable(json["tunable"].template get<double>());
    }
    if (std::holds_alternative<std::vector<double>>(now) && json.is_array()) {
        std::vector<double> list;
        for (const Json& element : json) {
            if (!element.is_number()) return std::nullopt;
            list.push_back(element.template get<double>());
        }
        return list;
    }
    return std::nullopt;
}

/// "a whole number from 1 to 16".
inline std::string expected_of(const agents::HyperparameterDef& def,
                               const agents::HyperparameterValue& now) {
    if (!def.choices.empty()) {
        std::string names;
        for (const std::string_view choice : def.choices)
            names += (names.empty() ? "" : " or ") + std::string(choice);
        return names;
    }
    if (std::holds_alternative<bool>(now)) return "true or false";
    const std::string range = " from " + nlohmann::json(def.range.low).dump() + " to " +
                              nlohmann::json(def.range.high).dump();
    if (std::holds_alternative<int64_t>(now))
        return "a whole number from " + std::to_string(static_cast<int64_t>(def.range.low)) +
               " to " + std::to_string(static_cast<int64_t>(def.range.high));
    if (std::holds_alternative<agents::Hyperparameter>(now))
        return "a number" + range + ", or {\"tunable\": number}";
    return (std::holds_alternative<std::vector<double>>(now) ? "a list of numbers" : "a number") +
           range;
}

/// Sets the hyperparameters that an object names.  path: of the object, for messages.
/// skipped: keys that are read elsewhere.
/// Errors: kInvalidArgument for unknown keys, other types and values out of range, naming each.
template <class Json>
Status read_learner(const Json& object, std::string_view path, agents::AnyLearner& learner,
                    std::initializer_list<std::string_view> skipped = {}) {
    const std::string prefix = path.empty() ? "" : std::string(path) + ".";
    if (!object.is_object())
        return invalid_argument(std::string(path) + ": expected an object, found " +
                                describe(object));
    for (const auto& [key, json] : object.items()) {
        if (std::find(skipped.begin(), skipped.end(), key) != skipped.end()) continue;
        const auto now = learner.get(key);
        if (!now.ok()) return now.status().with_context(prefix + key);
        const agents::HyperparameterDef& def = *learner.def().find(key);
        const auto value = hyperparameter_from(json, def, *now);
        if (!value || !learner.set(key, *value).ok())
            return invalid_argument(prefix + key + ": expected " + expected_of(def, *now) +
                                    ", found " + describe(json));
    }
    return {};
}

/// The object with all hyperparameters, tunable ones as numbers.
template <class Json>
Json write_learner(const agents::AnyLearner& learner) {
    Json object = Json::object();
    for (const agents::HyperparameterDef& def : learner.def().hyperparameters) {
        const agents::HyperparameterValue value = *learner.get(def.name);
        Json& json = object[std::string(def.name)];
        if (!def.choices.empty())
            json = def.choices[static_cast<size_t>(*std::get_if<int64_t>(&value))];
        else if (const auto* tunable = std::get_if<agents::Hyperparameter>(&value))
            json = tunable->value();
        else
            std::visit(
                [&](const auto& plain) {
                    if constexpr (!std::is_same_v<std::decay_t<decltype(plain)>,
                                                  agents::Hyperparameter>)
                        json = plain;
                },
                value);
    }
    return object;
}

}  // namespace hearth::programs
