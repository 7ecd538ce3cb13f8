// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Decides if a program holds integers of 64 bits in 32.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/compile.hpp>

#include <span>

namespace hearth {

/// The device with the storage that a program of these graphs, which went through the passes, needs.
/// Integers of 64 bits are held in 32 where interval arithmetic proves that no result depends on the
/// others: each is within 32 bits, or only its low bits are read, or it selects an element.
/// Otherwise in 64, where the device has them (shader_int64).
///
/// Errors: kUnsupported naming the entry, the node, its range and the options, for integers that need
/// 64 bits on a device without them and for doubles on a GPU.
Result<DeviceCaps> with_wide_types(std::span<const Graph> graphs, const CompileOptions& options);

}  // namespace hearth
