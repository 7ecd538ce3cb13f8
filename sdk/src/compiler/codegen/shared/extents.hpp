// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Counts of elements and rows: as extents of grids, as expressions, as GLSL.

#pragma once

#include "compiler/kernel/body.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <string>

namespace hearth {

/// Converts an element count to a grid extent.
Extent work_of(Dim count);

/// The count in GLSL: "64", "rows", "(4 * rows)".
std::string glsl_count(Dim count);

/// The count, of which that of rows is known when the kernel runs.
Expr count_of(Dim count, Body& body);

/// One work item a thread or group, at most `limit` of them: how many items each takes in turn.
uint32_t items_each(Dim count, uint64_t rows_capacity, uint64_t limit);

}  // namespace hearth
