// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Raises a creature by a scripted player, without a window and as fast as the device can.

#pragma once

#include "deeds.hpp"
#include "ember/player.hpp"
#include "probe.hpp"

namespace hearth::ember {

struct RaiseOptions {
    Temper temper = Temper::kPatient;
    uint64_t seed = 1;
    int seconds = 600;  ///< simulated
};

/// The brain, and its acts meanwhile.
struct Raised {
    BrainFiles brain;
    /// Fraction of visits that arrived, in the first and the last minute.
    float arrived_at_first = 0, arrived_at_last = 0;
    int decisions = 0;
    Deeds deeds;
};

/// submit runs a recording on the device of `context` and waits for it.
Result<Raised> raise(Context& context, const PartPrograms& programs, const Submit& submit,
                     const RaiseOptions& options);

}  // namespace hearth::ember
