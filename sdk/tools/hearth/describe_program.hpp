// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a program is and what it should take, for reports.

#pragma once

#include "program/program.hpp"
#include "tables.hpp"

namespace hearth::tool {

// The GPU that estimates are made for: a desktop one of the middle class of about 2020.
inline constexpr double kEstimatedFlopsPerS = 5e12;
inline constexpr double kEstimatedBytesPerS = 2e11;

/// Kernels, bytes by class, and for each entry: operators, dispatches, copies, barriers, what was
/// fused, work, and an estimated time.
Json describe_program(const Program& program);

}  // namespace hearth::tool
