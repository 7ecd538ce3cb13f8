// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operator new of the whole program, replaced to count what a thread allocates between two calls.

#pragma once

#include <cstdint>

namespace hearth::gates {

void counts_allocations(bool counts);
/// On this thread, while they were counted.
uint64_t allocations();

}  // namespace hearth::gates
