// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Graphs on LibTorch: an executor that shares no arithmetic with Hearth, so that it can tell who is wrong.

#pragma once

#include <hearth/executor.hpp>

#include <memory>

namespace hearth {

/// "libtorch": on the CPU, in LibTorch's threads.
std::unique_ptr<Executor> make_libtorch_executor();

}  // namespace hearth
