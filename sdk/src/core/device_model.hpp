// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Performance model of a device for code generation: the one place that estimates from its limits.

#pragma once

#include "core/gpu_families.hpp"

#include <hearth/types.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hearth {

/// Register tile of a CPU matrix product: `rows` x `vectors` accumulators of `lanes` elements each,
/// beside one vector of the right operand and one broadcast element of the left operand.
struct CpuTile {
    uint32_t lanes = 4;  ///< f32 elements of a vector register
    uint32_t vectors = 2;
    uint32_t rows = 4;
    uint32_t columns() const { return lanes * vectors; }
};

/// Cache block of a CPU matrix product: the work of one job.
struct CpuBlock {
    int64_t rows = 128;    ///< of the result, rounded up to whole tiles
    int64_t columns = 64;  ///< of the result, rounded up to whole tiles
    int64_t inner = 256;   ///< of the inner (K) dimension
};

/// Compute units that tuned workgroup, thread and tile counts refer to (measured on an H200, which
/// has 132).
inline constexpr int64_t kMeasuredUnits = 128;

inline constexpr uint32_t kUnlimited = UINT32_MAX;

struct DeviceModel {
    const char* name = "128 units";
    int64_t compute_units = kMeasuredUnits;  ///< multiprocessors that run workgroups in parallel
    bool is_software = false;                ///< a driver that runs on the CPU, or no driver
    /// 32-bit values that an invocation may keep in registers, those for addresses included: with
    /// more the driver spills, or too few subgroups hide the latency of memory.
    uint32_t registers = kUnlimited;
    uint32_t fragment_registers = kUnlimited;  ///< the same of kernels on matrix cores
    /// Shared memory of a workgroup by invocation, with which enough workgroups share a unit.
    uint32_t shared_bytes_per_invocation = kUnlimited;
    /// Instructions of a fused kernel, above which it is split: drivers compile 1,000 to 3,000
    /// instructions a second.
    uint32_t max_instructions = kUnlimited;
    /// Kernels are handed on as bodies, which the driver prints as C or WGSL: functions with any
    /// number of operands, to which the live rows are a parameter.
    bool keeps_bodies = false;
    /// A workgroup is one invocation, of whose loops a C compiler makes vectors; barriers split the
    /// loop over workgroups.
    bool vectorizes_loops = false;
    /// Independent results occupy all cores, so that a long sum need not be split into partial sums.
    bool has_few_cores = false;
    /// A launch is a call of a function, so that one kernel for several groups gains nothing.
    bool has_cheap_launches = false;
    CpuTile tile = {};    ///< where vectorizes_loops
    CpuBlock block = {};  ///< where vectorizes_loops
    /// Floats of a kernel's local scratch array, small enough to stay in cache; 0 where kernels
    /// share memory instead.
    int64_t scratch_floats = 0;

    /// Number of workgroups that occupies all compute units.
    int64_t enough_groups() const { return compute_units; }

    /// Shared memory that a workgroup should take at most, in bytes.
    int64_t shared_budget(int64_t threads) const { return threads * shared_bytes_per_invocation; }

    /// Scales a count of workgroups, threads or tiles, tuned for kMeasuredUnits compute units, to
    /// this GPU.  Software devices keep the count: they have separate constants where they differ.
    int64_t in_proportion(int64_t measured) const {
        if (is_software) return measured;
        const int64_t scaled = measured * compute_units / kMeasuredUnits;
        return scaled > 1 ? scaled : 1;
    }
};

/// GPU classes by compute units: all GPUs of one class get the same programs.
inline constexpr DeviceModel kGpuModels[] = {
    {.name = "8 units", .compute_units = 8},    // integrated: Steam Deck, Iris Xe, laptops
    {.name = "36 units", .compute_units = 36},  // game console or mid-range card
    {.name = "80 units", .compute_units = 80},  // large desktop card
    {.name = "128 units", .compute_units = kMeasuredUnits},  // largest cards, data centres
};
inline constexpr DeviceModel kSoftwareModel = {
    .name = "software", .compute_units = 4, .is_software = true};

/// Register tiles of BLIS (Van Zee and van de Geijn, 2015) for CPUs with the same register count.
inline CpuTile cpu_tile(CpuIsa cpu) {
    switch (cpu) {
        case CpuIsa::kX86_64V3:
            return {.lanes = 8, .vectors = 2, .rows = 6};
        case CpuIsa::kX86_64V4:
            return {.lanes = 16, .vectors = 2, .rows = 12};
        case CpuIsa::kNeon:
            return {.lanes = 4, .vectors = 2, .rows = 8};
        case CpuIsa::kScalar:
            return {.lanes = 4, .vectors = 1, .rows = 2};
        default:
            return {.lanes = 4, .vectors = 2, .rows = 4};
    }
}

/// True for targets with little memory: microcontrollers have kilobytes, and WebGPU shaders
/// (cook_wgsl) 8 KiB for an array.
inline bool has_little_memory(CpuIsa cpu) {
    return cpu == CpuIsa::kScalar || cpu == CpuIsa::kWasm128;
}

/// A panel of 1,024 rows of a tile takes an eighth of the L2 cache, which supplies it at the rate
/// of use; the accumulators of a block fit there as well.  With little memory a block is one tile
/// wide.
inline CpuBlock cpu_block(CpuIsa cpu) {
    if (has_little_memory(cpu)) return {.columns = 1};
    return {.rows = 256, .columns = 32, .inner = 1024};
}

/// Maximum invocations of a workgroup; those of kernels extend along x alone.
inline uint32_t max_workgroup_size(const DeviceCaps& caps) {
    return std::min(caps.max_compute_work_group_invocations, caps.max_compute_work_group_size_x);
}

/// Invocations of a workgroup for kernels to which their number does not matter: 256, or fewer where
/// the device allows no more.
inline uint32_t usual_workgroup_size(const DeviceCaps& caps) {
    return std::min(uint32_t{256}, std::bit_floor(max_workgroup_size(caps)));
}

/// Class of GPUs nearest to this number of units, by ratio.
inline const DeviceModel& nearest_gpu_model(int64_t units) {
    const DeviceModel* nearest = kGpuModels;
    for (const DeviceModel& larger : kGpuModels)
        if (nearest->compute_units * larger.compute_units <= units * units) nearest = &larger;
    return *nearest;
}

/// Sets what depends on the family of the GPU, from the records of perf/results/cards.  Without a
/// vendor, as in most device targets of packages: what suits them all.
inline void set_family(DeviceModel& model, GpuFamily family) {
    if (family == GpuFamily::kDataCentre) return;
    model.max_instructions = 3000;
    if (family == GpuFamily::kNvidia) return;
    if (family == GpuFamily::kNvk) {
        // It keeps fewer values than NVIDIA's driver, for which the tiles were measured.
        model.registers = 160;
        return;
    }
    if (family == GpuFamily::kIntel || family == GpuFamily::kIntelXe2) {
        // 128 registers, of eight elements, or of 16 on Xe2, whose compiler loads further ahead.
        model.registers = family == GpuFamily::kIntel ? 112 : 84;
        model.fragment_registers = 112;
        return;
    }
    // RDNA runs five waves of 96 registers.  64 KiB for four SIMDs of GCN hold three waves of 80
    // bytes each.
    model.registers = 96;
    model.shared_bytes_per_invocation = 80;
}

/// Returns the model of a device.  A GPU that does not report its compute units gets the smallest
/// model if it is integrated, otherwise the largest; packages are cooked for the largest.
inline DeviceModel device_model(const DeviceCaps& caps) {
    DeviceModel model = kSoftwareModel;
    if (caps.cpu_isa != CpuIsa::kNone) {
        model.name = "CPU";
        model.keeps_bodies = model.vectorizes_loops = true;
        model.has_few_cores = model.has_cheap_launches = true;
        model.tile = cpu_tile(caps.cpu_isa);
        model.block = cpu_block(caps.cpu_isa);
        model.scratch_floats = has_little_memory(caps.cpu_isa) ? 1024 : 8192;
        return model;
    }
    if (caps.device_type == DeviceType::kCpu) return model;
    const int64_t unknown = caps.device_type == DeviceType::kIntegratedGpu ? 0 : kMeasuredUnits;
    const int64_t units = caps.compute_units != 0 ? int64_t{caps.compute_units} : unknown;
    model = nearest_gpu_model(units);
    set_family(model, gpu_family(caps));
    return model;
}

inline bool is_software(const DeviceCaps& caps) {
    return device_model(caps).is_software;
}

}  // namespace hearth
