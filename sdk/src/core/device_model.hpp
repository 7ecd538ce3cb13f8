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

/// What of a matrix product a CPU does at a time, as one job.
struct CpuBlock {
    int64_t rows = 128;    ///< of the result, rounded up to whole tiles
    int64_t columns = 64;  ///< likewise
    int64_t inner = 256;   ///< of the inner extent
};

/// What numbers of workgroups, threads and tiles were measured on: an H200 has 132.
inline constexpr int64_t kMeasuredUnits = 128;

struct DeviceModel {
    const char* name = "128 units";
    int64_t compute_units = kMeasuredUnits;  ///< that run workgroups side by side
    bool is_software = false;                ///< a driver that runs on the CPU, or no driver at all
    bool is_cpu = false;  ///< runs C: workgroups are ranges of a loop, barriers cost loops
    CpuTile tile = {};    ///< is_cpu
    CpuBlock block = {};  ///< is_cpu
    /// is_cpu: floats of an array of a kernel's own, which stays in its cache.
    int64_t scratch_floats = 0;

    /// Workgroups that keep all units busy.
    int64_t enough_groups() const { return compute_units; }

    /// So much for this GPU as `measured` is for one of kMeasuredUnits: workgroups, threads or tiles.  Software
    /// keeps the number: what differs there has constants of its own.
    int64_t in_proportion(int64_t measured) const {
        if (is_software) return measured;
        const int64_t scaled = measured * compute_units / kMeasuredUnits;
        return scaled > 1 ? scaled : 1;
    }
};

/// GPUs by their units: programs are the same for all that are between two of these.
inline constexpr DeviceModel kGpuModels[] = {
    {.name = "8 units", .compute_units = 8},    // integrated: Steam Deck, Iris Xe, laptops
    {.name = "36 units", .compute_units = 36},  // of a games console, or a card of the middle
    {.name = "80 units", .compute_units = 80},  // of a large desktop card
    {.name = "128 units", .compute_units = kMeasuredUnits},  // of the largest, and data centres
};
inline constexpr DeviceModel kSoftwareModel = {
    .name = "software", .compute_units = 4, .is_software = true};

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

/// Microcontrollers count it in kilobytes, and a shader of WebGPU (cook_wgsl) has 8 KiB for an array.
inline bool has_little_memory(Cpu cpu) {
    return cpu == Cpu::kScalar || cpu == Cpu::kWasm128;
}

/// A panel of 1,024 rows of a tile is an eighth of a second-level cache, from which it comes as fast as it is used; a
/// block's numbers fit there, too.  Where memory is little a block is one tile wide.
inline CpuBlock cpu_block(Cpu cpu) {
    if (has_little_memory(cpu)) return {.columns = 1};
    return {.rows = 256, .columns = 32, .inner = 1024};
}

/// The model of a device.  Of a GPU that does not tell its units it is the smallest if it shares the CPU's memory, and
/// else the largest: that is also what packages are cooked for.
inline DeviceModel device_model(const DeviceCaps& caps) {
    DeviceModel model = kSoftwareModel;
    if (caps.cpu != Cpu::kNone) {
        model.name = "CPU";
        model.is_cpu = true;
        model.tile = cpu_tile(caps.cpu);
        model.block = cpu_block(caps.cpu);
        model.scratch_floats = has_little_memory(caps.cpu) ? 1024 : 8192;
        return model;
    }
    if (caps.is_software) return model;
    const int64_t unknown = caps.is_integrated ? 0 : kMeasuredUnits;
    const int64_t units = caps.compute_units != 0 ? int64_t{caps.compute_units} : unknown;
    model = kGpuModels[0];
    for (const DeviceModel& larger : kGpuModels)
        if (larger.compute_units <= units) model = larger;
    return model;
}

inline bool is_software(const DeviceCaps& caps) {
    return device_model(caps).is_software;
}
inline bool is_cpu(const DeviceCaps& caps) {
    return device_model(caps).is_cpu;
}

}  // namespace hearth
