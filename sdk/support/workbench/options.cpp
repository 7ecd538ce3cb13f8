// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads typed options from a JSON object.

#include "options.hpp"

#include <algorithm>
#include <cmath>

namespace hearth::workbench {

Result<Options> Options::parse(const char* text) {
    if (text == nullptr || *text == '\0') return Options(Json::object(), "");
    Result<Json> object = programs::parse_json<Json>(text);
    if (!object.ok()) return object.status().with_context("options");
    Options options(std::move(*object), "");
    HEARTH_TRY(options.status_);
    return options;
}

void Options::fail(std::string what) {
    if (status_.ok())
        status_ = invalid_argument("options: " + (path_.empty() ? "" : path_ + ": ") + what);
}

const Json* Options::take(const char* key) {
    known_.push_back(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
}

std::string Options::text(const char* key, std::string fallback,
                          std::initializer_list<std::string_view> allowed) {
    if (const Json* value = take(key)) {
        if (value->is_string())
            fallback = value->get<std::string>();
        else
            fail(std::string(key) + ": expected a string, found " + programs::describe(*value));
    }
    if (allowed.size() > 0 &&
        std::find(allowed.begin(), allowed.end(), fallback) == allowed.end()) {
        std::string names;
        for (std::string_view name : allowed)
            names += (names.empty() ? "" : ", ") + std::string(name);
        fail(std::string(key) + ": expected one of " + names + ", found \"" + fallback + "\"");
    }
    return fallback;
}

double Options::number(const char* key, double fallback) {
    const Json* value = take(key);
    if (value == nullptr) return fallback;
    if (!value->is_number() || !std::isfinite(value->get<double>())) {
        fail(std::string(key) + ": expected a number, found " + programs::describe(*value));
        return fallback;
    }
    return value->get<double>();
}

int64_t Options::whole(const char* key, int64_t fallback, int64_t min, int64_t max) {
    const Json* value = take(key);
    if (value == nullptr) return fallback;
    if (!value->is_number_integer() || *value < min || *value > max) {
        fail(std::string(key) + ": expected a whole number from " + std::to_string(min) + " to " +
             std::to_string(max) + ", found " + programs::describe(*value));
        return fallback;
    }
    return value->get<int64_t>();
}

bool Options::flag(const char* key, bool fallback) {
    const Json* value = take(key);
    if (value == nullptr) return fallback;
    if (!value->is_boolean()) {
        fail(std::string(key) + ": expected true or false, found " + programs::describe(*value));
        return fallback;
    }
    return value->get<bool>();
}

std::vector<int64_t> Options::wholes(const char* key, std::vector<int64_t> fallback, int64_t min,
                                     int64_t max) {
    const Json* value = take(key);
    if (value == nullptr) return fallback;
    const auto is_right = [&](const Json& v) {
        return v.is_number_integer() && v >= min && v <= max;
    };
    if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_right)) {
        fail(std::string(key) + ": expected whole numbers from " + std::to_string(min) + " to " +
             std::to_string(max) + ", found " + programs::describe(*value));
        return fallback;
    }
    return value->get<std::vector<int64_t>>();
}

std::vector<std::string> Options::texts(const char* key, std::vector<std::string> fallback) {
    const Json* value = take(key);
    if (value == nullptr) return fallback;
    if (!value->is_array() ||
        !std::all_of(value->begin(), value->end(), [](const Json& v) { return v.is_string(); })) {
        fail(std::string(key) + ": expected a list of strings, found " +
             programs::describe(*value));
        return fallback;
    }
    return value->get<std::vector<std::string>>();
}

Options Options::object(const char* key) {
    const Json* value = take(key);
    return {value == nullptr ? Json::object() : *value, at(key)};
}

std::vector<Options> Options::objects(const char* key) {
    std::vector<Options> list;
    const Json* value = take(key);
    if (value == nullptr) return list;
    if (!value->is_array()) {
        fail(std::string(key) + ": expected a list, found " + programs::describe(*value));
        return list;
    }
    for (size_t i = 0; i < value->size(); ++i)
        list.emplace_back((*value)[i], at(key) + "[" + std::to_string(i) + "]");
    return list;
}

Json Options::any(const char* key) {
    const Json* value = take(key);
    return value == nullptr ? Json() : *value;
}

Status Options::finish() {
    HEARTH_TRY(status_);
    for (const auto& [key, value] : object_.items()) {
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        std::string names;
        for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
        fail("there is no '" + key + "'; there are: " + names);
        break;
    }
    return status_;
}

}  // namespace hearth::workbench
