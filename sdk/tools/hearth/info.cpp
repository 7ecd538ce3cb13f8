// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth info: the GPUs of this machine as Hearth sees them.

#include "commands.hpp"
#include "compile/compile.hpp"

#include <hearth/ops.hpp>
#include <hearth/tensor.hpp>

#include <fmt/format.h>
#include <standalone/device.hpp>
#include <standalone/instance.hpp>

#include <string>

namespace hearth::tool {

namespace {

std::string version_text(uint32_t version) {
    return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                       VK_API_VERSION_PATCH(version));
}

std::string_view kind_of(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return "discrete GPU";
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return "integrated GPU";
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return "virtual GPU";
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return "software";
        default:
            return "other";
    }
}

std::string feature_list(hearth_features features) {
    std::string text;
    for (int bit = 0; bit < HEARTH_FEATURE_COUNT; ++bit) {
        const hearth_features one = hearth_features{1} << bit;
        if ((features & one) == 0) continue;
        if (!text.empty()) text += ", ";
        text += hearth_feature_name(one);
    }
    return text.empty() ? "none" : text;
}

/// The profile that programs for these caps are compiled to, by compiling the smallest there is.
std::string profile_for(const DeviceCaps& caps) {
    Trace trace("probe");
    trace.output("y", relu(trace.input("x", {1})));
    Result<Graph> graph = trace.finish();
    if (!graph.ok()) return graph.status().message();
    CompileOptions options;
    options.caps = caps;
    const Result<CompiledProgram> compiled = compile_graphs({std::move(*graph)}, options);
    return compiled.ok() ? compiled->program.profile : "none: " + compiled.status().message();
}

/// Whether Hearth can use the device.
bool describe(standalone::Instance& instance, int index) {
    const VkPhysicalDevice physical = instance.physical_devices()[static_cast<size_t>(index)];
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &driver};
    VkPhysicalDeviceProperties first;
    instance.vk().GetPhysicalDeviceProperties(physical, &first);
    properties.properties = first;
    // Devices before Vulkan 1.2 do not know the driver struct; Hearth needs 1.2 anyway.
    if (first.apiVersion >= VK_API_VERSION_1_2)
        instance.vk().GetPhysicalDeviceProperties2(physical, &properties);
    fmt::print("device {}: {} ({}), Vulkan {}, driver {} {}\n", index, first.deviceName,
               kind_of(first.deviceType), version_text(first.apiVersion), driver.driverName,
               driver.driverInfo);

    Result<std::unique_ptr<standalone::Device>> device =
        standalone::Device::create(instance, {.index = index});
    if (!device.ok()) {
        fmt::print("  not usable: {}\n", device.status().message());
        return false;
    }
    std::string extensions;
    for (const char* name : (*device)->enabled_extensions())
        extensions += (extensions.empty() ? "" : ", ") + std::string(name);
    fmt::print("  adopted features: {}\n", feature_list((*device)->enabled_features()));
    fmt::print("  adopted extensions: {}\n", extensions.empty() ? "none" : extensions);
    const Result<DeviceCaps> caps = (*device)->caps();
    if (!caps.ok()) {
        fmt::print("  not usable: {}\n", caps.status().message());
        return false;
    }
    fmt::print("  queue family {} ({}), timestamps: {}\n", (*device)->queue_family(),
               (*device)->has_graphics() ? "graphics and compute" : "compute",
               (*device)->timestamp_valid_bits() > 0 ? "yes" : "no");
    fmt::print(
        "  subgroups of {}, workgroups up to {}, {} KiB shared, {} bytes of push constants, "
        "buffers up to {} MiB\n",
        caps->subgroup_size, caps->max_workgroup_invocations, caps->shared_memory_bytes / 1024,
        caps->push_constant_bytes, caps->max_buffer_bytes >> 20);
    fmt::print("  profile: {}\n", profile_for(*caps));
    return true;
}

bool run_info() {
    fmt::print("{}\n", hearth_build_info());
    Result<std::unique_ptr<standalone::Instance>> instance = standalone::Instance::create();
    if (!instance.ok()) {
        fmt::print("no Vulkan: {}\n", instance.status().message());
        return false;
    }
    const auto count = static_cast<int>((*instance)->physical_devices().size());
    int usable = 0;
    for (int i = 0; i < count; ++i) usable += describe(**instance, i);
    fmt::print("{} devices, {} usable\n", count, usable);
    return usable > 0;
}

}  // namespace

void add_info(CLI::App& app, int& exit_code) {
    app.add_subcommand("info",
                       "List the GPUs, the features Hearth adopts and the profile it chooses.")
        ->callback([&exit_code] { exit_code = run_info() ? 0 : 1; });
}

}  // namespace hearth::tool
