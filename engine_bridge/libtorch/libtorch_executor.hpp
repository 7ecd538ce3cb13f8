// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Executes graphs with LibTorch, sharing no arithmetic with Hearth: an independent reference.

#pragma once

#include <hearth/executor.hpp>

#include <memory>

namespace hearth {

/// The executor "libtorch": on the CPU, in LibTorch's threads.
std::unique_ptr<Executor> make_libtorch_executor();

}  // namespace hearth
