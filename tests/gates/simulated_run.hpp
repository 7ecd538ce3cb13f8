// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs of gates whose worlds live on the device (demos/train).

#pragma once

#include "gates/driven_run.hpp"
#include "train/simulated_learner.hpp"

namespace hearth::gates {

/// Until config.steps; the bar is looked at behind each window.  config.seed is the site's.
Result<Run> run_simulated(const RunSite& site, train::TrainConfig config, double bar);

}  // namespace hearth::gates
