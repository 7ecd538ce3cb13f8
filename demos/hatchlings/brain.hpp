// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The brain that all hatchlings share, as a guest on the game's device.

#pragma once

#include "hatchlings/learner.hpp"
#include "host/mind.hpp"

namespace hearth::hatchlings {

/// What `hearth train demos/train/hatchlings.json` made, and the game carries: for make_mind().
Result<NamedTensors> shipped_weights();

/// Compiled and built for a device; nobody lives yet.
/// weights  what it begins with, by names of params; none: fresh ones of this seed.
/// Errors: kInvalidArgument for weights of another brain, each that is missing or does not fit by name.
Result<std::unique_ptr<demo::Mind>> make_mind(standalone::Device& device, uint64_t seed,
                                              uint32_t hatchlings,
                                              const NamedTensors& weights = {});

}  // namespace hearth::hatchlings
