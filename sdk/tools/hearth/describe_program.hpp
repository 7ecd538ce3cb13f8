// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Description and estimated cost of a program, for reports.

#pragma once

#include "program/program.hpp"
#include "tables.hpp"

namespace hearth::tool {

// The GPU assumed by estimates: a mid-range desktop GPU of about 2020.
inline constexpr double kEstimatedFlopsPerS = 5e12;
inline constexpr double kEstimatedBytesPerS = 2e11;

/// Kernels, bytes by class, and for each entry: operators, dispatches, copies, barriers, fused
/// groups, work, and estimated time.
Json describe_program(const Program& program);

}  // namespace hearth::tool
