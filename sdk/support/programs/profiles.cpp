// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Lists the named device targets.

#include "profiles.hpp"

#include <algorithm>

namespace hearth::programs {

namespace {

constexpr ProfileClass kClasses[] = {
    {"baseline", "what every desktop device with Vulkan 1.2 has"},
    {"large", "workgroups of 1,024 and 48 KiB of shared memory: discrete GPUs of the last years"},
    {"large-32k", "large with 32 KiB of shared memory, and no f16 at all"},
    {"fp16", "large, and elements of 16 and 8 bits in buffers as they are"},
    {"fp16-32k", "fp16 with 32 KiB of shared memory"},
    {"coopmat", "fp16, and matrix cores through VK_KHR_cooperative_matrix, subgroups of 32"},
    {"coopmat-64", "fp16-32k, and matrix cores with subgroups of 64 (Radeon)"},
    {"coopmat-8x16x16", "fp16-32k, and matrix cores of 8x16x16, subgroups of 16 (Arc B)"},
    {"coopmat-8x8x16", "fp16-32k, and matrix cores of 8x8x16, subgroups of 16 (Arc A)"},
    {"descriptors", "baseline for devices without buffer device addresses (push descriptors)"},
    {"vulkan-1.1", "baseline for Vulkan 1.1 with VK_KHR_buffer_device_address"},
    {"vulkan-1.1-descriptors", "baseline for Vulkan 1.1 with VK_KHR_push_descriptor"},
    {"device", "this machine's GPU, exactly"},
    {"scalar", "native devices, any CPU"},
    {"x86-64-v2", "native devices with SSE4.2"},
    {"x86-64-v3", "native devices with AVX2"},
    {"x86-64-v4", "native devices with AVX-512"},
    {"neon", "native devices of AArch64"},
};

/// Targets for GPUs with workgroups of 1,024.
struct LargeClass {
    std::string_view name;
    uint32_t shared_kib;
    bool has_f16 = true;
    uint32_t subgroup_size = 32;
    MatrixShape matrix{0, 0, 0};  ///< none
};

constexpr LargeClass kLargeClasses[] = {
    {"large", 48, false},
    {"large-32k", 32, false},
    {"fp16", 48},
    {"fp16-32k", 32},
    {"coopmat", 48, true, 32, {16, 16, 16}},
    {"coopmat-64", 32, true, 64, {16, 16, 16}},
    {"coopmat-8x16x16", 32, true, 16, {8, 16, 16}},
    {"coopmat-8x8x16", 32, true, 16, {8, 8, 16}},
};

std::string all_names() {
    std::string names;
    for (const ProfileClass& c : kClasses)
        names += (names.empty() ? "" : ", ") + std::string(c.name);
    return names;
}

}  // namespace

std::span<const ProfileClass> profile_classes() {
    return kClasses;
}

Result<DeviceTarget> make_profile(const std::string& name, standalone::Device* device) {
    DeviceTarget profile;
    profile.name = name;
    DeviceCaps& caps = profile.options.caps;
    if (name == "baseline") return profile;
    if (const auto* known = std::ranges::find(kLargeClasses, name, &LargeClass::name);
        known != std::end(kLargeClasses)) {
        caps.max_compute_work_group_invocations = 1024;
        caps.max_compute_work_group_size_x = 1024;
        caps.max_compute_shared_memory_size = known->shared_kib << 10;
        caps.storage_buffer_16bit_access = caps.shader_float16 = caps.storage_buffer_8bit_access = known->has_f16;
        caps.subgroup_size = known->subgroup_size;
        if (known->matrix.m == 0) return profile;
        caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
        caps.cooperative_matrix_shape = known->matrix;
        return profile;
    }
    if (name.ends_with("descriptors")) profile.options.binding_model = BindingModel::kDescriptor;
    if (name.starts_with("vulkan-1.1")) caps.spirv_version = 0x00010300;
    if (name == "descriptors" || name == "vulkan-1.1" || name == "vulkan-1.1-descriptors")
        return profile;
    if (name == "device") {
        if (device == nullptr) return not_found("profile 'device': no device can be used");
        HEARTH_ASSIGN(caps, device->caps());
        return profile;
    }
    for (const CpuIsa cpu : {CpuIsa::kScalar, CpuIsa::kX86_64V2, CpuIsa::kX86_64V3, CpuIsa::kX86_64V4, CpuIsa::kNeon})
        if (name == name_of(cpu)) {
            caps = cpu_caps(cpu);
            return profile;
        }
    return not_found("there is no profile '" + name + "'; there are: " + all_names());
}

}  // namespace hearth::programs
