// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The brain that all hatchlings share, running on the game's device.

#pragma once

#include "hatchlings/learner.hpp"
#include "host/mind.hpp"

namespace hearth::hatchlings {

/// Weights embedded in the game, trained by `hearth train demos/train/hatchlings.json`; for
/// make_mind().
Result<NamedTensors> shipped_weights();

/// Compiles and builds the brain; there are no agents yet. weights: initial parameters by name;
/// none: random ones from `seed`.
/// Errors: kInvalidArgument for weights of another brain, naming each that is missing or does not
/// fit.
Result<std::unique_ptr<demo::Mind>> make_mind(standalone::Device& device, uint64_t seed,
                                              uint32_t hatchlings,
                                              const NamedTensors& weights = {});

}  // namespace hearth::hatchlings
