// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Lists the named device targets.

#include "device_targets.hpp"

#include <algorithm>

namespace hearth::programs {

namespace {

constexpr DeviceTargetClass kClasses[] = {
    {"baseline", "every desktop GPU with Vulkan 1.2"},
    {"large", "workgroups of 1,024 and 48 KiB of shared memory: recent discrete GPUs"},
    {"large-32k", "large with 32 KiB of shared memory, without f16"},
    {"fp16", "large, with f16 arithmetic and 16-bit and 8-bit storage"},
    {"fp16-32k", "fp16 with 32 KiB of shared memory"},
    {"fp16-dot",
     "fp16-32k, with dot products of pairs of f16 (Steam Deck and other Radeons, Mesa)"},
    {"coopmat", "fp16, with VK_KHR_cooperative_matrix 16x16x16, subgroups of 32"},
    {"coopmat-64", "fp16-32k, with cooperative matrices and subgroups of 64 (Radeon)"},
    {"coopmat-8x16x16", "fp16-32k, with cooperative matrices 8x16x16, subgroups of 16 (Arc B)"},
    {"coopmat-8x8x16", "fp16-32k, with cooperative matrices 8x8x16, subgroups of 16 (Arc A)"},
    {"descriptors", "baseline for devices without buffer device addresses (push descriptors)"},
    {"vulkan-1.1", "baseline for Vulkan 1.1 with VK_KHR_buffer_device_address"},
    {"vulkan-1.1-descriptors", "baseline for Vulkan 1.1 with VK_KHR_push_descriptor"},
    {"device", "exactly this machine's GPU"},
    {"scalar", "any CPU"},
    {"x86-64-v2", "CPUs with SSE4.2"},
    {"x86-64-v3", "CPUs with AVX2"},
    {"x86-64-v4", "CPUs with AVX-512"},
    {"neon", "CPUs with AArch64 NEON"},
};

/// Targets for GPUs with workgroups of 1,024.
struct LargeClass {
    std::string_view name;
    uint32_t shared_kib;
    bool has_f16 = true;
    uint32_t subgroup_size = 32;
    MatrixShape matrix{0, 0, 0};  ///< none
    bool has_dot_halves = false;
};

constexpr LargeClass kLargeClasses[] = {
    {"large", 48, false},
    {"large-32k", 32, false},
    {"fp16", 48},
    {"fp16-32k", 32},
    {"fp16-dot", 32, true, 32, {0, 0, 0}, true},
    {"coopmat", 48, true, 32, {16, 16, 16}},
    {"coopmat-64", 32, true, 64, {16, 16, 16}},
    {"coopmat-8x16x16", 32, true, 16, {8, 16, 16}},
    {"coopmat-8x8x16", 32, true, 16, {8, 8, 16}},
};

std::string all_names() {
    std::string names;
    for (const DeviceTargetClass& c : kClasses)
        names += (names.empty() ? "" : ", ") + std::string(c.name);
    return names;
}

}  // namespace

std::span<const DeviceTargetClass> device_target_classes() {
    return kClasses;
}

Result<DeviceTarget> make_device_target(const std::string& name, standalone::Device* device) {
    DeviceTarget target;
    target.name = name;
    DeviceCaps& caps = target.options.caps;
    if (name == "baseline") return target;
    if (const auto* known = std::ranges::find(kLargeClasses, name, &LargeClass::name);
        known != std::end(kLargeClasses)) {
        caps.max_compute_work_group_invocations = 1024;
        caps.max_compute_work_group_size_x = 1024;
        caps.max_compute_shared_memory_size = known->shared_kib << 10;
        caps.storage_buffer_16bit_access = caps.shader_float16 = caps.storage_buffer_8bit_access =
            known->has_f16;
        caps.subgroup_size = known->subgroup_size;
        caps.mixed_float_dot_product = known->has_dot_halves;
        if (known->matrix.m == 0) return target;
        caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
        caps.cooperative_matrix_shape = known->matrix;
        return target;
    }
    if (name.ends_with("descriptors")) target.options.binding_model = BindingModel::kDescriptor;
    if (name.starts_with("vulkan-1.1")) caps.spirv_version = 0x00010300;
    if (name == "descriptors" || name == "vulkan-1.1" || name == "vulkan-1.1-descriptors")
        return target;
    if (name == "device") {
        if (device == nullptr)
            return not_found(
                "device target 'device' needs a GPU that Hearth can use; `hearth info` shows what "
                "this "
                "machine has");
        HEARTH_ASSIGN(caps, device->caps());
        return target;
    }
    for (const CpuIsa cpu :
         {CpuIsa::kScalar, CpuIsa::kX86_64V2, CpuIsa::kX86_64V3, CpuIsa::kX86_64V4, CpuIsa::kNeon})
        if (name == name_of(cpu)) {
            caps = cpu_caps(cpu);
            return target;
        }
    return not_found("there is no device target '" + name + "'; expected one of: " + all_names());
}

}  // namespace hearth::programs
