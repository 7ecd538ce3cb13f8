// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// All workarounds for driver compilers: kernels that are written differently because of what a
// driver's compiler does to them, not because of what the device can do (DeviceCaps) or what is
// fast on it (device_model.hpp, the tile tables).

#pragma once

#include "core/device_model.hpp"

namespace hearth {

struct DriverWorkaround {
    const char* name;
    const char* driver;  ///< driver on which the problem was observed
    const char* reason;
    bool (*is_needed)(const DeviceCaps& caps);
};

/// Marks the loops of matrix products, attention and fused networks [[dont_unroll]].
inline constexpr DriverWorkaround kRolledLoops = {
    "rolled loops", "lavapipe of Mesa 22.3",
    "it unrolls loops of up to 32 turns, and then compiles for a second what runs no faster",
    [](const DeviceCaps& caps) { return is_software(caps); }};

/// Rounds f32 to f16 by a round-trip conversion that the compiler cannot fold, because its bits
/// depend on the value once more (HEARTH_CONVERTS_TO_NEAREST in shaders/common/narrow.glsl);
/// without matrix cores f32 is rounded with integer arithmetic.
inline constexpr DriverWorkaround kGuardedRounding = {
    "guarded rounding", "NVIDIA 580",
    "it takes a conversion to f16 and back for the value itself, and does neither",
    [](const DeviceCaps& caps) { return caps.cooperative_matrix != CooperativeMatrixExt::kNone; }};

/// Makes float division correctly rounded (shaders/common/division.glsl), except in fused networks.
inline constexpr DriverWorkaround kExactDivision = {
    "exact division", "NVIDIA 580",
    "Vulkan lets a quotient be 2.5 units in the last place off, and -127.499996 is not rounded as "
    "-127.5 is",
    [](const DeviceCaps& caps) { return !is_software(caps); }};

/// Makes min and max of a float and a constant (as in relu) test for NaN explicitly.
inline constexpr DriverWorkaround kGuardedNan = {
    "guarded NaN", "NVIDIA 580", "it takes `x < 0 ? 0 : x` for max(x, 0), which is 0 of NaN",
    [](const DeviceCaps& caps) { return !is_software(caps); }};

inline constexpr const DriverWorkaround* kDriverWorkarounds[] = {&kRolledLoops, &kGuardedRounding,
                                                                 &kExactDivision, &kGuardedNan};

}  // namespace hearth
