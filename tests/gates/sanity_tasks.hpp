// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tasks that a right learner solves at once, and that a wrong one fails in a way that tells what is
// wrong: after the Ocean suite of PufferLib (Suarez, 2024).

#pragma once

#include "classic/task.hpp"

#include <memory>
#include <string_view>

namespace hearth::gates {

/// "bandit": four arms, one pays.  "password": five bits in a row, all right or nothing;
/// exploration must last and one success must be enough.  "stochastic": the best policy takes the
/// first of two actions three times in four; one that becomes certain loses.  "memory": a bit is
/// shown, then nothing for three steps, then asked for.  Null for other names.
std::unique_ptr<classic::Task> make_sanity_task(std::string_view name);

}  // namespace hearth::gates
