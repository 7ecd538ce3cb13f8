// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What decisions of code generation ask of a device: the one place that guesses from its limits.

#pragma once

#include <hearth/types.hpp>

#include <cstdint>

namespace hearth {

/// How a matrix product uses a CPU's registers: `rows` times `vectors` of `lanes` sums each, beside a
/// vector of the right operand and a number of the left one.
struct CpuTile {
    uint32_t lanes = 4;  ///< f32 of a vector register
    uint32_t vectors = 2;
    uint32_t rows = 4;
    uint32_t columns() const { return lanes * vectors; }
};

struct DeviceModel {
    bool is_software = false;     ///< a driver that runs on the CPU, or no driver at all
    bool is_cpu = false;          ///< runs C: workgroups are ranges of a loop, barriers cost loops
    int64_t compute_units = 128;  ///< that run workgroups side by side
    CpuTile tile;                 ///< is_cpu

    /// Workgroups that keep all units busy.
    int64_t enough_groups() const { return compute_units; }
};

/// After the register tiles of BLIS (Van Zee and van de Geijn, 2015) for CPUs with as many registers.
inline CpuTile cpu_tile(Cpu cpu) {
    switch (cpu) {
        case Cpu::kX86_64V3:
            return {.lanes = 8, .vectors = 2, .rows = 6};
        case Cpu::kX86_64V4:
            return {.lanes = 16, .vectors = 2, .rows = 12};
        case Cpu::kNeon:
            return {.lanes = 4, .vectors = 2, .rows = 8};
        case Cpu::kScalar:
            return {.lanes = 4, .vectors = 1, .rows = 2};
        default:
            return {.lanes = 4, .vectors = 2, .rows = 4};
    }
}

/// The caps do not tell how many units a GPU has, so each counts as a large one (an H200 has 132).
inline DeviceModel device_model(const DeviceCaps& caps) {
    constexpr int64_t kCores = 4;
    if (caps.cpu != Cpu::kNone)
        return {.is_software = true,
                .is_cpu = true,
                .compute_units = kCores,
                .tile = cpu_tile(caps.cpu)};
    if (caps.is_software) return {.is_software = true, .compute_units = kCores};
    return {};
}

inline bool is_software(const DeviceCaps& caps) {
    return device_model(caps).is_software;
}
inline bool is_cpu(const DeviceCaps& caps) {
    return device_model(caps).is_cpu;
}

}  // namespace hearth
