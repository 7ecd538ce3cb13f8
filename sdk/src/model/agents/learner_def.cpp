// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The list of learners, and what all of them do with their records.

#include "model/agents/learner_record.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace hearth::agents {

namespace {

std::string text_of(double number) {
    char digits[32];
    const bool is_whole = number == std::floor(number) && std::abs(number) < 1e9;
    std::snprintf(digits, sizeof digits, is_whole ? "%.0f" : "%g", number);
    return digits;
}

bool is_in(Range range, double value) {
    return value >= range.low && value <= range.high;
}

Status check_value(std::string_view title, const HyperparameterDef& def,
                   const HyperparameterValue& value) {
    const auto check = [&](double number) -> Status {
        if (is_in(def.range, number) || (def.nan_is_automatic && std::isnan(number))) return {};
        return invalid_argument(std::string(title) + ": " + std::string(def.name) + " is " +
                                text_of(number) + ", expected " + text_of(def.range.low) + " to " +
                                text_of(def.range.high));
    };
    if (const auto* list = std::get_if<std::vector<double>>(&value)) {
        for (const double element : *list) HEARTH_TRY(check(element));
        return {};
    }
    return check(number_of(value));
}

Status unknown(const LearnerDef& def, std::string_view name) {
    std::string names;
    for (const HyperparameterDef& known : def.hyperparameters)
        names += (names.empty() ? "" : ", ") + std::string(known.name);
    return not_found(std::string(def.title) + " has no hyperparameter '" + std::string(name) +
                     "'; there are " + names);
}

/// The value as the type of the hyperparameter, or empty.
std::optional<HyperparameterValue> converted(const HyperparameterValue& value,
                                             const HyperparameterValue& like) {
    if (value.index() == like.index()) return value;
    const bool is_number =
        std::holds_alternative<int64_t>(value) || std::holds_alternative<double>(value);
    if (!is_number) return std::nullopt;
    const double number = number_of(value);
    if (std::holds_alternative<double>(like)) return number;
    if (std::holds_alternative<Hyperparameter>(like)) return Hyperparameter(number);
    return std::nullopt;
}

}  // namespace

double number_of(const HyperparameterValue& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
    if (const auto* tunable = std::get_if<Hyperparameter>(&value)) return tunable->value();
    return std::numeric_limits<double>::quiet_NaN();
}

const HyperparameterDef* LearnerDef::find(std::string_view hyperparameter) const {
    for (const HyperparameterDef& def : hyperparameters)
        if (def.name == hyperparameter) return &def;
    return nullptr;
}

std::span<const LearnerDef* const> learners() {
    static const LearnerDef* const all[] = {&learner_def<Ppo>(), &learner_def<Dqn>(),
                                            &learner_def<Sac>(), &learner_def<BehaviorCloning>(),
                                            &learner_def<Tamer>()};
    return all;
}

const LearnerDef* find_learner(std::string_view name) {
    for (const LearnerDef* def : learners())
        if (def->name == name) return def;
    return nullptr;
}

Status check_hyperparameters(std::string_view title, std::span<const HyperparameterDef> defs,
                             const void* learner) {
    double buffer_size = 0;
    for (const HyperparameterDef& def : defs) {
        const HyperparameterValue value = def.get(learner);
        HEARTH_TRY(check_value(title, def, value));
        if (def.name == "buffer_size") buffer_size = number_of(value);
        if (def.name != "learning_starts") continue;
        HyperparameterDef within = def;
        within.range.high = buffer_size;
        HEARTH_TRY(check_value(title, within, value));
    }
    return {};
}

AgentGraphs detail::build_agent_graphs(const LearnerDef& def, const AgentSpec& spec,
                                       const PolicyNetwork& network, const void* learner,
                                       uint64_t seed) {
    return def.build(spec, network, learner, seed);
}

AgentManifest detail::make_manifest(const LearnerDef& def, const AgentSpec& spec,
                                    const void* learner) {
    AgentManifest m;
    m.schema = spec;
    m.algorithm = def.algorithm;
    const std::pair<std::string_view, uint32_t*> numbers[] = {
        {"n_agents", &m.n_agents},
        {"n_steps", &m.n_steps},
        {"buffer_size", &m.replay_capacity},
        {"train_freq", &m.train_freq},
        {"gradient_steps", &m.gradient_steps},
        {"waiting_decisions", &m.waiting_decisions}};
    for (const HyperparameterDef& h : def.hyperparameters) {
        const HyperparameterValue value = h.get(learner);
        for (const auto& [name, number] : numbers)
            if (h.name == name) *number = static_cast<uint32_t>(number_of(value));
        if (const auto* tunable = std::get_if<Hyperparameter>(&value);
            tunable != nullptr && tunable->is_tunable())
            m.hyperparameters.push_back(
                {std::string(h.name), tunable->value(), h.range.low, h.range.high});
    }
    if (def.set_schedule != nullptr) def.set_schedule(learner, m);
    return m;
}

Result<HyperparameterValue> AnyLearner::get(std::string_view name) const {
    const HyperparameterDef* def = def_->find(name);
    if (def == nullptr) return unknown(*def_, name);
    return def->get(learner_.get());
}

Status AnyLearner::set(std::string_view name, const HyperparameterValue& value) {
    const HyperparameterDef* def = def_->find(name);
    if (def == nullptr) return unknown(*def_, name);
    constexpr const char* kKinds[] = {"a whole number", "a number", "true or false",
                                      "a number, tunable or not", "a list of numbers"};
    const HyperparameterValue now = def->get(learner_.get());
    const auto fitting = converted(value, now);
    if (!fitting)
        return invalid_argument(std::string(def_->title) + ": " + std::string(name) +
                                ": expected " + kKinds[now.index()] + ", found " +
                                kKinds[value.index()]);
    HEARTH_TRY(check_value(def_->title, *def, *fitting));
    def->set(learner_.get(), *fitting);
    return {};
}

}  // namespace hearth::agents
