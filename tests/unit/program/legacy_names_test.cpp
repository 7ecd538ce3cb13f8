// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/legacy_names.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;  // name in version 0.1, name today

TEST(LegacyNames, EntriesMapBothWays) {
    for (const auto& [old_name, new_name] : {Pair("prepare", "compute_advantages"),
                                             {"adapt", "shrink_and_perturb"},
                                             {"demonstrate", "add_demonstrations"}}) {
        EXPECT_EQ(alias_of_entry(old_name), new_name);
        EXPECT_EQ(alias_of_entry(new_name), old_name);
    }
}

TEST(LegacyNames, BindingsMapBothWays) {
    struct Case {
        std::string_view entry, old_name, new_name;
    };
    for (const Case& c : {Case{"act", "explore", "exploration"},
                          {"act", "is_first", "episode_start"},
                          {"act", "log_probability", "log_prob"},
                          {"act", "memory", "recurrent_state"},
                          {"store", "end", "done_kind"},
                          {"store", "memory", "recurrent_state"},
                          {"store", "source", "demonstrator"},
                          {"frame", "begins", "episode_start"},
                          {"frame", "explore", "exploration"},
                          {"learn", "clip", "clip_range"},
                          {"learn", "entropy", "ent_coef"},
                          {"learn", "leash", "reference_kl_coef"},
                          {"learn", "cloning", "bc_coef"},
                          {"learn", "correction", "prioritized_beta"},
                          {"gradient", "clip", "clip_range"}}) {
        EXPECT_EQ(alias_of_binding(c.entry, c.old_name), c.new_name) << c.entry;
        EXPECT_EQ(alias_of_binding(c.entry, c.new_name), c.old_name) << c.entry;
    }
}

TEST(LegacyNames, HyperparametersMapBothWays) {
    for (const auto& [old_name, new_name] : {Pair("clip", "clip_range"),
                                             {"entropy", "ent_coef"},
                                             {"leash", "reference_kl_coef"},
                                             {"cloning", "bc_coef"},
                                             {"correction", "prioritized_beta"}}) {
        EXPECT_EQ(alias_of_hyperparameter(old_name), new_name);
        EXPECT_EQ(alias_of_hyperparameter(new_name), old_name);
    }
}

TEST(LegacyNames, VariablesMapBothWaysWhereverTheyAreNested) {
    for (const auto& [old_name, new_name] :
         {Pair("actor.log_deviation", "actor.log_std"),
          {"actor.log_deviation.m", "actor.log_std.m"},
          {"published.param.actor.log_deviation", "published.param.actor.log_std"},
          {"shipped.actor.log_deviation", "reference.actor.log_std"},
          {"shipped.actor.head.weight", "reference.actor.head.weight"},
          {"temperature.log", "ent_coef.log"},
          {"temperature.log.v", "ent_coef.log.v"},
          {"adam.temperature.correction1", "adam.ent_coef.correction1"},
          {"prepare.steps", "compute_advantages.steps"},
          {"adapt.steps", "shrink_and_perturb.steps"},
          {"agents.status.prepare", "agents.status.compute_advantages"},
          {"agents.counters.demonstrate", "agents.counters.add_demonstrations"},
          {"memory", "recurrent_state"},
          {"rollout.memory", "rollout.recurrent_state"},
          {"last.log_probability", "last.log_prob"},
          {"replay.most_priority", "replay.max_priority"}}) {
        EXPECT_EQ(alias_of_variable(old_name).view(), new_name);
        EXPECT_EQ(alias_of_variable(new_name).view(), old_name);
    }
}

TEST(LegacyNames, OtherNamesMapToThemselves) {
    for (const std::string_view name : {"frame", "learn", "act", "rollout", ""})
        EXPECT_EQ(alias_of_entry(name), name);
    for (const std::string_view name : {"observation", "learning_rate", "strength", "id", ""})
        EXPECT_EQ(alias_of_binding("frame", name), name);
    EXPECT_EQ(alias_of_hyperparameter("learning_rate"), "learning_rate");
    for (const std::string_view name : {"actor.0.weight", "adam.correction1", "learn.draws",
                                        "rewards.mean", "memory_cells.weight", "my_log_deviation",
                                        "", ".", "a..b.", "replay.end", "demonstration.size"})
        EXPECT_EQ(alias_of_variable(name).view(), name);
}

// A game has a set of memories or a choice of temperature: those are its own names.
TEST(LegacyNames, NamesOfAGameAreNotTouched) {
    EXPECT_EQ(alias_of_variable("published.param.actor.sets.memory.weight").view(),
              "published.param.actor.sets.memory.weight");
    EXPECT_EQ(alias_of_variable("target.q.choices.adapt.bias").view(),
              "target.q.choices.adapt.bias");
    EXPECT_EQ(alias_of_variable("shipped.actor.sets.memory.weight").view(),
              "reference.actor.sets.memory.weight");
}

TEST(LegacyNames, NamesThatDoNotFitHaveNoAlias) {
    const std::string longest(255, 'x');
    EXPECT_EQ(alias_of_variable(longest).view(), longest);
    EXPECT_EQ(alias_of_variable(longest + "x").view(), "");
    EXPECT_EQ(alias_of_variable(std::string(250, 'x') + ".prepare").view(), "");
    EXPECT_EQ(alias_of_variable(std::string(230, 'x') + ".memory").view(),
              std::string(230, 'x') + ".recurrent_state");
}

}  // namespace
}  // namespace hearth
