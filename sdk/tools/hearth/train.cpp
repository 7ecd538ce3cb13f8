// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth train, evaluate and league: docs/how-to/training_before_shipping.md.

#include "commands.hpp"
#include "companion.hpp"

namespace hearth::tool {

void add_train(CLI::App& app, int& exit_code) {
    add_companion(app, exit_code, "train",
                  "Train a brain before shipping (docs/how-to/training_before_shipping.md).",
                  "hearth_train", "train", "demos");
}

void add_evaluate(CLI::App& app, int& exit_code) {
    add_companion(app, exit_code, "evaluate", "Play seeded episodes with a trained brain.",
                  "hearth_train", "evaluate", "demos");
}

void add_league(CLI::App& app, int& exit_code) {
    add_companion(app, exit_code, "league", "Rate trained brains against each other (Elo).",
                  "hearth_train", "league", "demos");
}

}  // namespace hearth::tool
