// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// All cases in which kernels are written otherwise because of what a driver's compiler makes of them, and not
// because of what its device can do (DeviceCaps) or what is fast there (device_model.hpp, the tables of tiles).

#pragma once

#include "core/device_model.hpp"

namespace hearth {

struct DriverWorkaround {
    const char* name;
    const char* driver;  ///< where it was seen
    const char* reason;
    bool (*is_needed)(const DeviceCaps& caps);
};

/// Loops of products, of attention and of fused networks say [[dont_unroll]].
inline constexpr DriverWorkaround kRolledLoops = {
    "rolled loops", "lavapipe of Mesa 22.3",
    "it unrolls loops of up to 32 turns, and then compiles for a second what runs no faster",
    [](const DeviceCaps& caps) { return is_software(caps); }};

/// f32 are rounded to f16 by a conversion there and back whose bits depend on the value once more
/// (HEARTH_CONVERTS_TO_NEAREST in shaders/common/narrow.glsl); without matrix cores they are rounded as integers.
inline constexpr DriverWorkaround kGuardedRounding = {
    "guarded rounding", "NVIDIA 580",
    "it takes a conversion to f16 and back for the value itself, and does neither",
    [](const DeviceCaps& caps) { return caps.matrix_cores != MatrixCores::kNone; }};

/// Quotients of floats are the nearest ones, by shaders/common/division.glsl, but in fused networks.
inline constexpr DriverWorkaround kExactDivision = {
    "exact division", "NVIDIA 580",
    "Vulkan lets a quotient be 2.5 units in the last place off, and -127.499996 is not rounded as "
    "-127.5 is",
    [](const DeviceCaps& caps) { return !is_software(caps); }};

/// The larger of a float and a number, as in relu, asks for NaN.
inline constexpr DriverWorkaround kGuardedNan = {
    "guarded NaN", "NVIDIA 580", "it takes `x < 0 ? 0 : x` for max(x, 0), which is 0 of NaN",
    [](const DeviceCaps& caps) { return !is_software(caps); }};

inline constexpr const DriverWorkaround* kDriverWorkarounds[] = {&kRolledLoops, &kGuardedRounding,
                                                                 &kExactDivision, &kGuardedNan};

}  // namespace hearth
