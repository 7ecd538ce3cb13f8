// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Raises creatures by scripted players of three tempers, and prints what each brain does, and its
// card. With --blind the cards come in an order that tells nothing, and the tempers at the end.

#include "card.hpp"
#include "raise.hpp"

#include <hearth/cpu.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace hearth::ember {
namespace {

struct Options {
    int seconds = 600, seeds = 5;
    bool is_blind = false;
};

struct Creature {
    Temper temper = Temper::kPatient;
    uint64_t seed = 1;
    Raised raised;
    Findings findings;
};

std::string name_of(const Creature& creature) {
    return fmt::format("{} {}", kTemperNames[static_cast<size_t>(creature.temper)], creature.seed);
}

/// A column for each goal: x if it was reached, its share in tenths otherwise.
std::string goals_of(const Deeds& deeds) {
    std::string text;
    for (size_t i = 0; i < kGoalCount; ++i) {
        const Goal goal = static_cast<Goal>(i);
        const int tenths = static_cast<int>(10 * progress_of(goal, deeds));
        text += is_done(goal, deeds) ? "x" : tenths == 0 ? "." : std::to_string(tenths);
    }
    return text;
}

void print_header() {
    fmt::print("{:<10}{:>6}{:>7}{:>6}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}  {}\n", "raised by",
               "acts", "arrive", "", "walk", "comes", "flees", "hope", "words", "eats", "warms",
               "goals");
}

void print_row(const Creature& creature) {
    const Findings& found = creature.findings;
    const auto words = std::ranges::count_if(found.words, [](float w) { return w >= 0.35f; });
    fmt::print(
        "{:<10}{:>6}{:>7.2f}{:>6.2f}{:>6.1f}s{:>7.2f}{:>7.2f}{:>+7.2f}{:>7}{:>7.2f}{:>7.2f}  {}\n",
        name_of(creature), creature.raised.decisions, creature.raised.arrived_at_first,
        creature.raised.arrived_at_last, found.walk_seconds, found.comes, found.flees,
        found.hope_of_hand, words, found.eats, found.warms, goals_of(creature.raised.deeds));
    std::fflush(stdout);
}

void print_cards(std::vector<Creature> creatures, bool is_blind) {
    if (is_blind) {
        Dice dice{static_cast<uint64_t>(creatures.front().raised.decisions)};
        for (size_t i = creatures.size(); i > 1; --i)
            std::swap(creatures[i - 1], creatures[dice.below(i)]);
    }
    for (size_t i = 0; i < creatures.size(); ++i)
        fmt::print("\n{}\n  {}\n", is_blind ? fmt::format("card {}", i + 1) : name_of(creatures[i]),
                   fmt::join(card_of(creatures[i].findings), "\n  "));
    if (!is_blind) return;
    fmt::print("\nraised by:");
    for (const Creature& creature : creatures) fmt::print(" {},", name_of(creature));
    fmt::print("\n");
}

Status raise_all(const Options& options) {
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device({.tables = part_kernels()}));
    HEARTH_ASSIGN(const PartPrograms programs, load_part_programs(device.context()));
    const Submit submit = [&](const auto& record) { return device.run(record); };
    HEARTH_ASSIGN(Probe probe, Probe::create(device.context(), programs, submit));
    std::vector<Creature> creatures;
    if (!options.is_blind) print_header();
    for (const Temper temper : {Temper::kPatient, Temper::kCruel, Temper::kAbsent})
        for (int seed = 1; seed <= options.seeds; ++seed) {
            Creature& creature = creatures.emplace_back();
            creature.temper = temper, creature.seed = static_cast<uint64_t>(seed);
            HEARTH_ASSIGN(
                creature.raised,
                raise(device.context(), programs, submit,
                      {.temper = temper, .seed = creature.seed, .seconds = options.seconds}));
            HEARTH_ASSIGN(creature.findings, probe.ask(creature.raised.brain));
            if (!options.is_blind) print_row(creature);
        }
    print_cards(std::move(creatures), options.is_blind);
    return {};
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("Raises creatures by scripted players of three tempers");
    app.add_option("--seconds", options.seconds, "Simulated seconds of each life (600)")
        ->check(programs::whole_number(60, 1'000'000));
    app.add_option("--seeds", options.seeds, "Creatures of each temper (5)")
        ->check(programs::whole_number(1, 1000));
    app.add_flag("--blind", options.is_blind, "Print cards in an order that tells nothing");
    CLI11_PARSE(app, argc, argv);
    const Status status = raise_all(options);
    if (!status.ok()) std::fprintf(stderr, "ember_tempers: %s\n", status.message().c_str());
    return status.ok() ? 0 : 2;
}

}  // namespace
}  // namespace hearth::ember

int main(int argc, char** argv) {
    return hearth::programs::run_program("ember_tempers",
                                         [&] { return hearth::ember::run(argc, argv); });
}
