// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/wgsl.hpp>

#include <vector>

namespace hearth {

/// cook_wgsl() of graphs instead of traces.
Result<std::string> cook_wgsl_of(std::vector<Graph> graphs, uint64_t max_batch_size);

}  // namespace hearth
