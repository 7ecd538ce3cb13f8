// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Devices with less than this one has.

#pragma once

#include <hearth/types.hpp>

namespace hearth::test {

inline DeviceCaps without_matrix_cores(DeviceCaps caps) {
    caps.cooperative_matrix = CooperativeMatrixExt::kNone;
    caps.cooperative_matrix_nv = false;
    caps.workgroup_scope_granularities = {};
    return caps;
}

/// Without storage of 16 and 8 bits, and so without matrix cores.
inline DeviceCaps without_narrow_storage(DeviceCaps caps) {
    caps = without_matrix_cores(caps);
    caps.storage_buffer_16bit_access = caps.storage_buffer_8bit_access = false;
    return caps;
}

}  // namespace hearth::test
