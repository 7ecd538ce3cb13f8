// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "core/alloc.hpp"

#include <hearth/hearth.h>

namespace hearth::runtime {

/// The allocator over the application's callbacks; null if this is no handle of a context.  Lives
/// as long as the context.
HostAllocator* host_allocator(hearth_context* context);

}  // namespace hearth::runtime
