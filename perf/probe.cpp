// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds and records hand-written kernels.

#include "probe.hpp"

namespace hearth::perf {

using standalone::check_vulkan;

Probe::~Probe() {
    vk_.DestroyPipeline(device_.handle(), pipeline_, nullptr);
    vk_.DestroyPipelineLayout(device_.handle(), layout_, nullptr);
    vk_.DestroyShaderModule(device_.handle(), module_, nullptr);
}

Status Probe::build(std::span<const uint32_t> spirv) {
    VkShaderModuleCreateInfo module{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module.codeSize = spirv.size_bytes();
    module.pCode = spirv.data();
    HEARTH_TRY(check_vulkan(vk_.CreateShaderModule(device_.handle(), &module, nullptr, &module_),
                            "vkCreateShaderModule"));
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
    VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    HEARTH_TRY(check_vulkan(vk_.CreatePipelineLayout(device_.handle(), &layout, nullptr, &layout_),
                            "vkCreatePipelineLayout"));
    VkComputePipelineCreateInfo pipeline{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    pipeline.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    pipeline.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline.stage.module = module_;
    pipeline.stage.pName = "main";
    pipeline.layout = layout_;
    return check_vulkan(vk_.CreateComputePipelines(device_.handle(), VK_NULL_HANDLE, 1, &pipeline,
                                                   nullptr, &pipeline_),
                        "vkCreateComputePipelines");
}

void Probe::record(VkCommandBuffer commands, const Push& push, uint32_t groups) const {
    vk_.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vk_.CmdPushConstants(commands, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, &push);
    vk_.CmdDispatch(commands, groups, 1, 1);
}

}  // namespace hearth::perf
