// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds misspelt names of params, which would be further params.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/status.hpp>

#include <span>

namespace hearth {

/// Errors: kInvalidArgument if an entry reads a param that no entry trains, another entry trains a
/// param of its type and shape that no other entry reads, and their names differ by a misspelling
/// of one part between dots.
Status check_param_names(std::span<const Graph> entries);

}  // namespace hearth
