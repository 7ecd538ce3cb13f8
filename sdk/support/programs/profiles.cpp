// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "profiles.hpp"

namespace hearth::programs {

namespace {

constexpr ProfileClass kClasses[] = {
    {"baseline", "what every Vulkan 1.2 desktop device has"},
    {"large", "workgroups of 1,024 and 48 KiB of shared memory: discrete GPUs of the last years"},
    {"fp16", "large, and elements of 16 and 8 bits in buffers as they are"},
    {"coopmat", "fp16, and matrix cores through VK_KHR_cooperative_matrix, subgroups of 32"},
    {"descriptors", "baseline for devices without buffer device addresses (push descriptors)"},
    {"device", "this machine's GPU, exactly"},
    {"scalar", "native devices, any CPU"},
    {"x86-64-v2", "native devices with SSE4.2"},
    {"x86-64-v3", "native devices with AVX2"},
    {"x86-64-v4", "native devices with AVX-512"},
    {"neon", "native devices of AArch64"},
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

Result<CookProfile> make_profile(const std::string& name, standalone::Device* device) {
    CookProfile profile;
    profile.name = name;
    DeviceCaps& caps = profile.options.caps;
    if (name == "baseline") return profile;
    if (name == "large" || name == "fp16" || name == "coopmat") {
        caps.max_workgroup_invocations = 1024;
        caps.max_workgroup_size_x = 1024;
        caps.shared_memory_bytes = 48 << 10;
        caps.fp16_storage = caps.fp16_arithmetic = caps.int8_storage = name != "large";
        if (name == "coopmat") caps.matrix_cores = MatrixCores::kKhr;
        return profile;
    }
    if (name == "descriptors") {
        profile.options.binding_model = BindingModel::kDescriptor;
        return profile;
    }
    if (name == "device") {
        if (device == nullptr) return not_found("profile 'device': no device can be used");
        HEARTH_ASSIGN(caps, device->caps());
        return profile;
    }
    for (const Cpu cpu : {Cpu::kScalar, Cpu::kX86_64V2, Cpu::kX86_64V3, Cpu::kX86_64V4, Cpu::kNeon})
        if (name == name_of(cpu)) {
            caps = cpu_caps(cpu);
            return profile;
        }
    return not_found("there is no profile '" + name + "'; there are: " + all_names());
}

}  // namespace hearth::programs
