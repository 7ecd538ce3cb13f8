// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes the page of learners from their records.

#include "pages.hpp"

#include <hearth/agents/learner_def.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

namespace hearth::docgen {

namespace {

using namespace agents;

std::string text_of(double number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", number);
    return digits;
}

std::string type_of(const HyperparameterDef& def, const HyperparameterValue& value) {
    static const char* const kNames[] = {"integer", "real", "bool", "real, tunable", "reals"};
    return def.choices.empty() ? kNames[value.index()] : "text";
}

std::string default_of(const HyperparameterDef& def, const HyperparameterValue& value) {
    if (!def.choices.empty())
        return "`" + std::string(def.choices[static_cast<size_t>(number_of(value))]) + "`";
    if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* list = std::get_if<std::vector<double>>(&value)) {
        std::string text;
        for (const double element : *list) text += (text.empty() ? "" : ", ") + text_of(element);
        return text;
    }
    return std::isnan(number_of(value)) ? "automatic" : text_of(number_of(value));
}

std::string range_of(const HyperparameterDef& def, const HyperparameterValue& value) {
    if (std::holds_alternative<bool>(value)) return "";
    if (def.choices.empty()) return text_of(def.range.low) + " to " + text_of(def.range.high);
    std::string text;
    for (const std::string_view choice : def.choices)
        text += (text.empty() ? "`" : ", `") + std::string(choice) + "`";
    return text;
}

std::string name_cell(std::string_view name) {
    return cell(name.empty() ? "" : "`" + std::string(name) + "`");
}

std::string section(const LearnerDef& def) {
    std::string entries;
    for (const std::string_view entry : def.entries)
        entries += (entries.empty() ? "`" : ", `") + std::string(entry) + "`";
    std::string text = "## " + std::string(def.title) + "\n\n`" + std::string(def.name) +
                       "`: " + std::string(def.paper) + ". Entries: " + entries +
                       ", `publish`, `shrink_and_perturb`.\n\n"
                       "| hyperparameter | meaning | type | default | range | symbol | "
                       "Stable-Baselines3 | ML-Agents |\n|---|---|---|---|---|---|---|---|\n";
    const AnyLearner learner(def);
    for (const HyperparameterDef& h : def.hyperparameters) {
        const HyperparameterValue value = *learner.get(h.name);
        text += "|" + name_cell(h.name) + cell(std::string(h.description)) +
                cell(type_of(h, value)) + cell(default_of(h, value)) + cell(range_of(h, value)) +
                cell(std::string(h.symbol)) + name_cell(h.sb3) + name_cell(h.ml_agents) + "\n";
    }
    return text;
}

}  // namespace

std::string learners_page() {
    std::string text =
        "# Learners\n\n"
        "Made from the records in sdk/src/model/agents by `hearth_docgen`; a test fails when it is "
        "stale.\nIn C++ a hyperparameter is a member of the learner's struct in\n"
        "[hearth/agents/learners.hpp](../../sdk/include/hearth/agents/learners.hpp), of its "
        "`replay` or of its `limits`; in\nPython and in the configuration of `hearth train` it is "
        "a key. A tunable one takes `Hyperparameter::tunable(value)`,\nor `{\"tunable\": "
        "value}`, and can then be changed during play by `hearth_agents_set_hyperparameter`. The "
        "last\ncolumns say what the paper, Stable-Baselines3 and ML-Agents call it.\n";
    for (const LearnerDef* def : learners()) text += "\n" + section(*def);
    return text;
}

}  // namespace hearth::docgen
