// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// All workarounds for drivers: kernels that are written differently because of what a driver's
// compiler does to them, and reports that are corrected; not because of what the device can do
// (DeviceCaps) or what is fast on it (device_model.hpp, the tile tables).

#pragma once

#include "core/device_model.hpp"

namespace hearth {

struct DriverWorkaround {
    const char* name;
    const char* driver;  ///< driver on which the problem was observed
    const char* reason;
    const char* report;  ///< address of a public report; empty: observed while Hearth was tested
    bool (*is_needed)(const DeviceCaps& caps);
};

/// Marks the loops of matrix products, attention and fused networks [[dont_unroll]].
inline constexpr DriverWorkaround kRolledLoops = {
    "rolled loops", "lavapipe of Mesa 22.3",
    "it unrolls loops of up to 32 turns, and then compiles for a second what runs no faster", "",
    [](const DeviceCaps& caps) { return is_software(caps); }};

/// Rounds f32 to f16 by a round-trip conversion that the compiler cannot fold, because its bits
/// depend on the value once more (round_f16() in compiler/print/spirv.cpp);
/// without matrix cores f32 is rounded with integer arithmetic.
inline constexpr DriverWorkaround kGuardedRounding = {
    "guarded rounding", "NVIDIA 580",
    "it takes a conversion to f16 and back for the value itself, and does neither", "",
    [](const DeviceCaps& caps) { return caps.cooperative_matrix != CooperativeMatrixExt::kNone; }};

/// Makes float division correctly rounded (compiler/kernel/decompositions.cpp), except in fused networks.
inline constexpr DriverWorkaround kExactDivision = {
    "exact division", "NVIDIA 580",
    "Vulkan lets a quotient be 2.5 units in the last place off, and -127.499996 is not rounded as "
    "-127.5 is",
    "", [](const DeviceCaps& caps) { return !is_software(caps); }};

/// Makes min and max of a float and a constant (as in relu) test for NaN explicitly.
inline constexpr DriverWorkaround kGuardedNan = {
    "guarded NaN", "NVIDIA 580", "it takes `x < 0 ? 0 : x` for max(x, 0), which is 0 of NaN", "",
    [](const DeviceCaps& caps) { return !is_software(caps); }};

/// Takes subgroups as those of one invocation, without operations.
inline constexpr DriverWorkaround kUnreportedSubgroups = {
    "unreported subgroups", "Mali-G72 with a driver of Vulkan 1.1",
    "it reports a subgroup size of 0, by which nothing can be divided",
    "https://github.com/Tencent/ncnn/pull/6459",
    [](const DeviceCaps& caps) { return caps.subgroup_size <= 1; }};

/// Reports no subgroup operations but barriers, which is all that Hearth's kernels use: kernels with
/// others are refused with a message.
inline constexpr DriverWorkaround kBasicSubgroups = {
    "basic subgroups", "Adreno 640 (driver 512.502, Turnip 26.1), 8 Elite Gen 5 (driver 512.842)",
    "subgroup shuffles return wrong values; memory barriers around them help on some of these",
    "https://github.com/Tencent/ncnn/issues/6778",
    [](const DeviceCaps& caps) { return has_unreliable_shuffles(caps.vendor_id); }};

inline constexpr const DriverWorkaround* kDriverWorkarounds[] = {
    &kRolledLoops, &kGuardedRounding,     &kExactDivision,
    &kGuardedNan,  &kUnreportedSubgroups, &kBasicSubgroups};

}  // namespace hearth
