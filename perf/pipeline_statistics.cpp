// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads VK_KHR_pipeline_executable_properties of a program's pipelines.

#include "pipeline_statistics.hpp"

#include "workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace hearth::perf {

namespace {

/// State of the hooks, which have no user data, while a program is built.
struct Capture {
    const standalone::VulkanApi* vk = nullptr;
    std::vector<VkPipeline> handles;
    std::vector<PipelineStatistics> pipelines;
};
Capture* capture = nullptr;

std::string figure(const VkPipelineExecutableStatisticKHR& s) {
    switch (s.format) {
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
            return s.value.b32 ? "yes" : "no";
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
            return fmt::format("{}", s.value.i64);
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
            return fmt::format("{}", s.value.u64);
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
            return fmt::format("{}", s.value.f64);
        default:
            return "?";
    }
}

std::string figures_of(VkDevice device, VkPipeline pipeline) {
    const standalone::VulkanApi& vk = *capture->vk;
    VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR};
    info.pipeline = pipeline;
    uint32_t count = 0;
    (void)vk.GetPipelineExecutableStatisticsKHR(device, &info, &count, nullptr);
    std::vector<VkPipelineExecutableStatisticKHR> statistics(
        count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
    (void)vk.GetPipelineExecutableStatisticsKHR(device, &info, &count, statistics.data());
    std::string text;
    for (const VkPipelineExecutableStatisticKHR& s : statistics)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", s.name, figure(s));
    return text;
}

VkResult VKAPI_PTR create_captured(VkDevice device, VkPipelineCache cache, uint32_t count,
                                   const VkComputePipelineCreateInfo* infos,
                                   const VkAllocationCallbacks* callbacks, VkPipeline* pipelines) {
    std::vector<VkComputePipelineCreateInfo> asking(infos, infos + count);
    for (VkComputePipelineCreateInfo& info : asking)
        info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    const VkResult result = capture->vk->CreateComputePipelines(device, cache, count, asking.data(),
                                                                callbacks, pipelines);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; ++i) {
        capture->handles.push_back(pipelines[i]);
        capture->pipelines.push_back(
            {fmt::format("kernel {}", capture->handles.size()), figures_of(device, pipelines[i])});
    }
    return result;
}

VkResult VKAPI_PTR note_name(VkDevice, const VkDebugUtilsObjectNameInfoEXT* info) {
    for (size_t i = 0; i < capture->handles.size(); ++i)
        if (info->objectType == VK_OBJECT_TYPE_PIPELINE &&
            info->objectHandle == reinterpret_cast<uint64_t>(capture->handles[i]))
            capture->pipelines[i].kernel = info->pObjectName;
    return VK_SUCCESS;
}

hearth_void_function HEARTH_VKAPI_PTR capturing_proc(VkDevice device, const char* name) {
    if (std::strcmp(name, "vkCreateComputePipelines") == 0)
        return reinterpret_cast<hearth_void_function>(create_captured);
    if (std::strcmp(name, "vkSetDebugUtilsObjectNameEXT") == 0)
        return reinterpret_cast<hearth_void_function>(note_name);
    return capture->vk->GetDeviceProcAddr(device, name);
}

}  // namespace

Result<std::vector<PipelineStatistics>> pipeline_statistics(standalone::Device& device,
                                                            const Compiled& compiled) {
    if (device.vk().GetPipelineExecutableStatisticsKHR == nullptr)
        return unsupported(std::string(device.properties().deviceName) +
                           " has no VK_KHR_pipeline_executable_properties, by which drivers tell "
                           "of pipelines");
    Capture found{.vk = &device.vk()};
    capture = &found;
    const Result<std::unique_ptr<Workload>> built = Workload::create(
        device, compiled, 1, {.has_labels = true, .get_device_proc_addr = capturing_proc});
    capture = nullptr;
    if (!built.ok()) return built.status();
    return std::move(found.pipelines);
}

}  // namespace hearth::perf
