// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The system's Vulkan loader, opened at run time.

#pragma once

#include <hearth/status.hpp>

namespace hearth::standalone {

/// Returns the loader's vkGetInstanceProcAddr as a plain address. The loader stays open.
/// Errors: kUnsupported, with the file name tried.
Result<void*> find_get_instance_proc_addr();

}  // namespace hearth::standalone
