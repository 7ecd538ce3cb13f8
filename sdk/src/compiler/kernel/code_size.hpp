// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/kernel/body.hpp"

#include <cstdint>

namespace hearth {

/// Estimate of the machine instructions that drivers compile the body to: operations, with loops of
/// few known turns written out as drivers do.  Calibrated on the records of perf/results/cards.
uint64_t estimate_instructions(const Body& body);

}  // namespace hearth
