// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The table of names that learners' programs had in version 0.1.

#include "program/legacy_names.hpp"

#include <algorithm>
#include <span>

namespace hearth {

namespace {

struct Alias {
    std::string_view old_name, new_name;
};

constexpr Alias kEntries[] = {{"prepare", "compute_advantages"},
                              {"adapt", "shrink_and_perturb"},
                              {"demonstrate", "add_demonstrations"}};

constexpr Alias kHyperparameters[] = {{"clip", "clip_range"},
                                      {"entropy", "ent_coef"},
                                      {"leash", "reference_kl_coef"},
                                      {"cloning", "bc_coef"},
                                      {"correction", "prioritized_beta"}};

constexpr Alias kBindings[] = {{"explore", "exploration"},
                               {"end", "done_kind"},
                               {"log_probability", "log_prob"},
                               {"memory", "recurrent_state"},
                               {"source", "demonstrator"}};

/// Whole components of a variable's name, between dots.  Entries' names are components as well.
constexpr Alias kVariables[] = {{"log_deviation", "log_std"},  {"log_probability", "log_prob"},
                                {"temperature", "ent_coef"},   {"shipped", "reference"},
                                {"memory", "recurrent_state"}, {"most_priority", "max_priority"}};

std::string_view other(std::span<const Alias> table, std::string_view name) {
    for (const Alias& a : table) {
        if (name == a.old_name) return a.new_name;
        if (name == a.new_name) return a.old_name;
    }
    return name;
}

}  // namespace

std::string_view alias_of_entry(std::string_view entry) {
    return other(kEntries, entry);
}

std::string_view alias_of_hyperparameter(std::string_view name) {
    return other(kHyperparameters, name);
}

std::string_view alias_of_binding(std::string_view entry, std::string_view binding) {
    if (binding == "begins" || binding == "is_first") return "episode_start";
    if (binding == "episode_start") return entry == "frame" ? "begins" : "is_first";
    const std::string_view found = other(kBindings, binding);
    return found != binding ? found : alias_of_hyperparameter(binding);
}

bool is_added_binding(std::string_view entry, std::string_view binding) {
    return entry == "add_samples" || binding == "final_mask";
}

bool AliasName::append(std::string_view text) {
    if (text.size() >= sizeof text_ - size_) return false;
    std::copy(text.begin(), text.end(), text_ + size_);
    size_ += text.size();
    return true;
}

AliasName alias_of_variable(std::string_view variable) {
    AliasName alias;
    while (true) {
        const size_t dot = variable.find('.');
        const std::string_view component = variable.substr(0, dot);
        const bool is_from_game = component == "sets" || component == "choices";
        const std::string_view renamed = other(kVariables, component);
        const std::string_view part = is_from_game           ? variable
                                      : renamed != component ? renamed
                                                             : alias_of_entry(component);
        if (!alias.append(part)) return {};
        if (is_from_game || dot == std::string_view::npos) return alias;
        if (!alias.append(".")) return {};
        variable.remove_prefix(dot + 1);
    }
}

}  // namespace hearth
