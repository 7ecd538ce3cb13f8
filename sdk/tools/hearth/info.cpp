// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth info: the GPUs of this machine and their capabilities.

#include "commands.hpp"
#include "compiler/driver/compile.hpp"
#include "core/device_model.hpp"
#include "tables.hpp"

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

std::string matrix_text(const DeviceCaps& caps) {
    if (caps.cooperative_matrix == CooperativeMatrixExt::kNone) return "none";
    return fmt::format("{} ({}x{}x{})",
                       caps.cooperative_matrix == CooperativeMatrixExt::kNv
                           ? "NV_cooperative_matrix"
                           : "KHR_cooperative_matrix",
                       caps.cooperative_matrix_shape.m, caps.cooperative_matrix_shape.n,
                       caps.cooperative_matrix_shape.k);
}

/// Describes workgroup-scope matrices: "128 invocations in steps of 32x16x16, ...".
std::string workgroup_matrix_text(const DeviceCaps& caps) {
    std::string text;
    for (const WorkgroupMatrixGranularity& w : caps.workgroup_scope_granularities) {
        if (w.invocations == 0) continue;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} invocations in steps of {}x{}x{}", w.invocations, w.granularity.m,
                            w.granularity.n, w.granularity.k);
    }
    return text.empty() ? "none" : text;
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

/// Name of the device target that these caps select, found by compiling a minimal program.
std::string device_target_for(const DeviceCaps& caps) {
    Trace trace("probe");
    trace.output("y", relu(trace.input("x", {1})));
    Result<Graph> graph = trace.build();
    if (!graph.ok()) return graph.status().message();
    CompileOptions options;
    options.caps = caps;
    const Result<CompiledProgram> compiled = compile_graphs({std::move(*graph)}, options);
    return compiled.ok() ? compiled->program.device_target : "none: " + compiled.status().message();
}

/// Capabilities of the device; "problem" gives the reason if Hearth cannot use it.
Json describe(standalone::Instance& instance, int index) {
    const VkPhysicalDevice physical = instance.physical_devices()[static_cast<size_t>(index)];
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &driver};
    VkPhysicalDeviceProperties first;
    instance.vk().GetPhysicalDeviceProperties(physical, &first);
    properties.properties = first;
    // The driver struct needs Vulkan 1.2, as does Hearth.
    if (first.apiVersion >= VK_API_VERSION_1_2)
        instance.vk().GetPhysicalDeviceProperties2(physical, &properties);
    Json json = {{"index", index},
                 {"name", first.deviceName},
                 {"kind", kind_of(first.deviceType)},
                 {"vendor_id", first.vendorID},
                 {"device_id", first.deviceID},
                 {"driver_id", static_cast<uint32_t>(driver.driverID)},
                 {"driver_version", first.driverVersion},
                 {"vulkan", version_text(first.apiVersion)},
                 {"driver", std::string(driver.driverName) + " " + driver.driverInfo}};

    Result<std::unique_ptr<standalone::Device>> device =
        standalone::Device::create(instance, {.index = index});
    const Result<DeviceCaps> caps =
        device.ok() ? (*device)->caps() : Result<DeviceCaps>(device.status());
    if (!caps.ok()) {
        json["problem"] = caps.status().message();
        return json;
    }
    std::string extensions;
    for (const char* name : (*device)->enabled_extensions())
        extensions += (extensions.empty() ? "" : ", ") + std::string(name);
    json.update({{"features", feature_list((*device)->enabled_features())},
                 {"extensions", extensions.empty() ? "none" : extensions},
                 {"queue_family", (*device)->queue_family()},
                 {"graphics", (*device)->has_graphics()},
                 {"binding_model", caps->buffer_device_address ? "addresses" : "push descriptors"},
                 {"timestamps", (*device)->timestamp_valid_bits() > 0},
                 {"compute_units", caps->compute_units},
                 {"tiles_of", device_model(*caps).name},
                 {"subgroup_size", caps->subgroup_size},
                 {"cooperative_matrix", matrix_text(*caps)},
                 {"workgroup_scope_granularities", workgroup_matrix_text(*caps)},
                 {"max_compute_work_group_invocations", caps->max_compute_work_group_invocations},
                 {"max_compute_shared_memory_size", caps->max_compute_shared_memory_size},
                 {"max_push_constants_size", caps->max_push_constants_size},
                 {"max_storage_buffer_range", caps->max_storage_buffer_range},
                 {"device_target", device_target_for(*caps)}});
    return json;
}

void print_device(const Json& d) {
    const auto text = [&](const char* key) { return d[key].get<std::string>(); };
    const auto number = [&](const char* key) { return d[key].get<uint64_t>(); };
    print("device {}: {} ({}), Vulkan {}, driver {}\n", number("index"), text("name"), text("kind"),
          text("vulkan"), text("driver"));
    print("  vendor {:#06x}, device {:#06x}, driver id {}, version {:#x}\n", number("vendor_id"),
          number("device_id"), number("driver_id"), number("driver_version"));
    if (d.contains("problem")) {
        print("  not usable: {}\n", text("problem"));
        return;
    }
    print("  adopted features: {}\n", text("features"));
    print("  adopted extensions: {}\n", text("extensions"));
    print("  queue family {} ({}), timestamps: {}, buffers by {}\n", number("queue_family"),
          d["graphics"] ? "graphics and compute" : "compute", d["timestamps"] ? "yes" : "no",
          text("binding_model"));
    print(
        "  subgroups of {}, workgroups up to {}, {} KiB shared, {} bytes of push constants, "
        "buffers up to {} MiB\n",
        number("subgroup_size"), number("max_compute_work_group_invocations"),
        number("max_compute_shared_memory_size") / 1024, number("max_push_constants_size"),
        number("max_storage_buffer_range") >> 20);
    print("  compute units: {}, tiles as for {}\n",
          number("compute_units") != 0 ? std::to_string(number("compute_units")) : "unknown",
          text("tiles_of"));
    print("  cooperative matrices: {}\n", text("cooperative_matrix"));
    print("  workgroup-scope matrices: {}\n", text("workgroup_scope_granularities"));
    print("  device target: {}\n", text("device_target"));
}

/// Returns true if there is a device that Hearth can use.
bool run_info(bool json) {
    if (!json) print("{}\n", hearth_build_info());
    Result<std::unique_ptr<standalone::Instance>> instance = standalone::Instance::create();
    if (!instance.ok()) {
        if (json)
            print_json({{"build", hearth_build_info()}, {"error", instance.status().message()}});
        else
            print("no Vulkan: {}\n", instance.status().message());
        return false;
    }
    const auto count = static_cast<int>((*instance)->physical_devices().size());
    int usable = 0;
    Json devices = Json::array();
    for (int i = 0; i < count; ++i) {
        devices.push_back(describe(**instance, i));
        usable += !devices.back().contains("problem");
        if (!json) print_device(devices.back());
    }
    if (json)
        print_json(
            {{"build", hearth_build_info()}, {"usable", usable}, {"devices", std::move(devices)}});
    else
        print("{} devices, {} usable\n", count, usable);
    return usable > 0;
}

}  // namespace

void add_info(CLI::App& app, int& exit_code) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand(
        "info", "List the GPUs, the features that Hearth uses and the device target it selects.");
    command->add_flag("--json", *json, "Print one JSON object instead of text.");
    command->callback([json, &exit_code] { exit_code = run_info(*json) ? kExitOk : kExitFailed; });
}

}  // namespace hearth::tool
