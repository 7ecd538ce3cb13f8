// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads VK_KHR_pipeline_executable_properties of a program's pipelines.

#include "pipeline_statistics.hpp"

#include "bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hearth::perf {

namespace {

/// State of the hooks, which have no user data.
struct Capture {
    const standalone::VulkanApi* vk = nullptr;
    std::vector<VkPipeline> handles;
    std::vector<PipelineStatistics> pipelines;
    std::vector<std::vector<uint32_t>> modules;
};
Capture* capture = nullptr;

double figure(const VkPipelineExecutableStatisticKHR& s) {
    switch (s.format) {
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
            return s.value.b32 ? 1 : 0;
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
            return static_cast<double>(s.value.i64);
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
            return static_cast<double>(s.value.u64);
        case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
            return s.value.f64;
        default:
            return 0;
    }
}

/// Figures of all executables of a pipeline: a driver may compile one in two subgroup sizes.
std::vector<std::pair<std::string, double>> figures_of(VkDevice device, VkPipeline pipeline) {
    const standalone::VulkanApi& vk = *capture->vk;
    std::vector<std::pair<std::string, double>> figures;
    if (vk.GetPipelineExecutableStatisticsKHR == nullptr) return figures;
    VkPipelineInfoKHR of{VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR};
    of.pipeline = pipeline;
    uint32_t executable_count = 0;
    (void)vk.GetPipelineExecutablePropertiesKHR(device, &of, &executable_count, nullptr);
    std::vector<VkPipelineExecutablePropertiesKHR> executables(
        executable_count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR});
    (void)vk.GetPipelineExecutablePropertiesKHR(device, &of, &executable_count, executables.data());
    for (uint32_t e = 0; e < executable_count; ++e) {
        figures.emplace_back("Subgroup Size", executables[e].subgroupSize);
        VkPipelineExecutableInfoKHR info{VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR};
        info.pipeline = pipeline;
        info.executableIndex = e;
        uint32_t count = 0;
        (void)vk.GetPipelineExecutableStatisticsKHR(device, &info, &count, nullptr);
        std::vector<VkPipelineExecutableStatisticKHR> statistics(
            count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
        (void)vk.GetPipelineExecutableStatisticsKHR(device, &info, &count, statistics.data());
        for (const VkPipelineExecutableStatisticKHR& s : statistics)
            figures.emplace_back(s.name, figure(s));
    }
    return figures;
}

VkResult VKAPI_PTR create_captured(VkDevice device, VkPipelineCache cache, uint32_t count,
                                   const VkComputePipelineCreateInfo* infos,
                                   const VkAllocationCallbacks* callbacks, VkPipeline* pipelines) {
    std::vector<VkComputePipelineCreateInfo> asking(infos, infos + count);
    for (VkComputePipelineCreateInfo& info : asking)
        info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    // One at a time, so that each has its own time and its own error.
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count; ++i) {
        const double start_s = process_now_us() * 1e-6;
        const VkResult one = capture->vk->CreateComputePipelines(device, cache, 1, &asking[i],
                                                                 callbacks, &pipelines[i]);
        PipelineStatistics built{fmt::format("kernel {}", capture->handles.size() + 1)};
        built.compile_s = process_now_us() * 1e-6 - start_s;
        if (one == VK_SUCCESS) {
            built.figures = figures_of(device, pipelines[i]);
        } else {
            built.error = fmt::format("VkResult {}", static_cast<int>(one));
            result = one;
        }
        capture->handles.push_back(pipelines[i]);
        capture->pipelines.push_back(std::move(built));
    }
    return result;
}

VkResult VKAPI_PTR note_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                               const VkAllocationCallbacks* callbacks, VkShaderModule* module) {
    capture->modules.emplace_back(info->pCode, info->pCode + info->codeSize / 4);
    return capture->vk->CreateShaderModule(device, info, callbacks, module);
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
    if (std::strcmp(name, "vkCreateShaderModule") == 0)
        return reinterpret_cast<hearth_void_function>(note_module);
    if (std::strcmp(name, "vkSetDebugUtilsObjectNameEXT") == 0)
        return reinterpret_cast<hearth_void_function>(note_name);
    return capture->vk->GetDeviceProcAddr(device, name);
}

}  // namespace

std::string text_of(const PipelineStatistics& pipeline) {
    std::string text = pipeline.error;
    for (const auto& [name, value] : pipeline.figures)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
    return text;
}

PipelineCapture::PipelineCapture(standalone::Device& device) {
    capture = new Capture{.vk = &device.vk()};
}

PipelineCapture::~PipelineCapture() {
    delete std::exchange(capture, nullptr);
}

hearth_get_device_proc PipelineCapture::get_device_proc_addr() {
    return capture != nullptr ? capturing_proc : nullptr;
}

std::vector<PipelineStatistics> PipelineCapture::take() {
    capture->handles.clear();
    return std::exchange(capture->pipelines, {});
}

std::vector<std::vector<uint32_t>> PipelineCapture::take_modules() {
    return std::exchange(capture->modules, {});
}

Result<std::vector<PipelineStatistics>> pipeline_statistics(standalone::Device& device,
                                                            const Compiled& compiled) {
    if (device.vk().GetPipelineExecutableStatisticsKHR == nullptr)
        return unsupported(std::string(device.properties().deviceName) +
                           " has no VK_KHR_pipeline_executable_properties, by which drivers tell "
                           "of pipelines");
    PipelineCapture found(device);
    HEARTH_TRY(Workload::create(device, compiled, 1, {.has_labels = true}).status());
    return found.take();
}

}  // namespace hearth::perf
