// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The ghost's net and how it learns, as tensor code.

#pragma once

#include <hearth/compile.hpp>

namespace hearth::ghost_lap {

/// Compiles two entries that share the weights of an 8-32-32-2 tanh net:
///
///     act    observation [rows, 8] -> action [rows, 2]
///     learn  observations [rows, 8], actions [rows, 2] -> loss []; one step of Adam on the mean
///            squared error between the net's actions and these
///
/// seed  of the random weights it starts with.
Result<Compiled> compile_net(const DeviceCaps& caps, BindingModel binding_model, uint64_t seed);

}  // namespace hearth::ghost_lap
