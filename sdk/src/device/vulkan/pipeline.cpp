// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds and shares compute pipelines.

#include "device/vulkan/pipeline.hpp"

#include <hearth/core/hash.hpp>

namespace hearth::gpu {

namespace {

constexpr uint32_t kMaxDescriptors = 32;  // guaranteed by ProgramView

}  // namespace

uint64_t hash_of(const PipelineSource& source) {
    Hash hash;
    hash.number(source.spirv.size()).bytes(std::as_bytes(source.spirv));
    hash.number(source.constant_map.size());
    for (const VkSpecializationMapEntry& entry : source.constant_map)
        hash.number(entry.constantID).number(entry.offset);
    hash.bytes(std::as_bytes(source.constant_values));
    hash.number(source.bound_count).number(source.push_bytes);
    hash.number(static_cast<uint32_t>(source.binding_model)).number(source.owner);
    hash.number(source.subgroup_size).number(source.is_divisible ? 1u : 0u);
    return hash.value();
}

Pipeline::~Pipeline() {
    release();
}

void Pipeline::release() {
    const DeviceFunctions& vk = device_->vk();
    if (handle_ != VK_NULL_HANDLE)
        vk.DestroyPipeline(device_->handle(), handle_, device_->callbacks());
    if (layout_ != VK_NULL_HANDLE)
        vk.DestroyPipelineLayout(device_->handle(), layout_, device_->callbacks());
    if (set_layout_ != VK_NULL_HANDLE)
        vk.DestroyDescriptorSetLayout(device_->handle(), set_layout_, device_->callbacks());
    handle_ = VK_NULL_HANDLE;
    layout_ = VK_NULL_HANDLE;
    set_layout_ = VK_NULL_HANDLE;
}

hearth_result Pipeline::build(const PipelineSource& source) {
    if (is_ready()) return HEARTH_OK;
    if (building_.exchange(true, std::memory_order_acq_rel)) return HEARTH_NOT_READY;
    hearth_result result = status();
    if (result != HEARTH_OK) {  // no other thread built it between the two checks
        result = build_locked(source);
        if (result != HEARTH_OK) release();
        status_.store(result, std::memory_order_release);
    }
    building_.store(false, std::memory_order_release);
    return result;
}

hearth_result Pipeline::build_locked(const PipelineSource& source) {
    if (device_->is_lost()) return HEARTH_ERROR_DEVICE_LOST;
    if (const hearth_result r = create_layout(source); r != HEARTH_OK) return r;
    const DeviceFunctions& vk = device_->vk();

    VkShaderModuleCreateInfo module_info{};
    module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    module_info.codeSize = source.spirv.size_bytes();
    module_info.pCode = source.spirv.data();
    VkShaderModule module = VK_NULL_HANDLE;
    if (const hearth_result r = check(
            vk.CreateShaderModule(device_->handle(), &module_info, device_->callbacks(), &module));
        r != HEARTH_OK)
        return r;

    VkSpecializationInfo constants{};
    constants.mapEntryCount = static_cast<uint32_t>(source.constant_map.size());
    constants.pMapEntries = source.constant_map.data();
    constants.dataSize = source.constant_values.size_bytes();
    constants.pData = source.constant_values.data();
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    if (source.is_divisible) info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = constants.mapEntryCount > 0 ? &constants : nullptr;
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroups{};
    if (source.subgroup_size != 0 && device_->asks_for_subgroup_sizes()) {
        subgroups.sType =
            VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
        subgroups.requiredSubgroupSize = source.subgroup_size;
        info.stage.pNext = &subgroups;
        if (device_->has(HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS) &&
            source.threads_x % source.subgroup_size == 0)
            info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    info.layout = layout_;
    const VkResult result = vk.CreateComputePipelines(device_->handle(), device_->pipeline_cache(),
                                                      1, &info, device_->callbacks(), &handle_);
    vk.DestroyShaderModule(device_->handle(), module, device_->callbacks());
    if (result != VK_SUCCESS) {
        handle_ = VK_NULL_HANDLE;
        const hearth_result r = check(result);
        return r == HEARTH_ERROR_INTERNAL ? HEARTH_ERROR_PIPELINE_CREATION_FAILED : r;
    }
    device_->set_name(VK_OBJECT_TYPE_PIPELINE, handle_bits(handle_), source.name);
    return HEARTH_OK;
}

hearth_result Pipeline::check(VkResult result) {
    if (result < 0) failure_.store(result, std::memory_order_release);
    return device_->check(result);
}

hearth_result Pipeline::create_layout(const PipelineSource& source) {
    const DeviceFunctions& vk = device_->vk();
    const bool addresses = source.binding_model == BindingModel::kDeviceAddress;
    if (!addresses) {
        VkDescriptorSetLayoutBinding bindings[kMaxDescriptors]{};
        for (uint32_t i = 0; i < source.bound_count; ++i)
            bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT,
                           nullptr};
        VkDescriptorSetLayoutCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
        info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
        info.bindingCount = source.bound_count;
        info.pBindings = bindings;
        if (const hearth_result r = check(vk.CreateDescriptorSetLayout(
                device_->handle(), &info, device_->callbacks(), &set_layout_));
            r != HEARTH_OK)
            return r;
    }
    VkPushConstantRange range{};
    range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    range.size = source.push_bytes;
    VkPipelineLayoutCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.setLayoutCount = addresses ? 0 : 1;
    info.pSetLayouts = &set_layout_;
    info.pushConstantRangeCount = range.size > 0 ? 1 : 0;
    info.pPushConstantRanges = &range;
    return check(vk.CreatePipelineLayout(device_->handle(), &info, device_->callbacks(), &layout_));
}

Pipeline* PipelineTable::acquire(uint64_t hash) {
    Pipeline*& first = bucket_of(hash);
    for (Pipeline* p = first; p != nullptr; p = p->next_)
        if (p->hash_ == hash) return ++p->users_, p;
    auto* pipeline = allocator_->make<Pipeline>(*device_, hash);
    if (pipeline == nullptr) return nullptr;
    pipeline->users_ = 1;
    pipeline->next_ = first;
    first = pipeline;
    ++count_;
    return pipeline;
}

void PipelineTable::release(Pipeline* pipeline) {
    if (pipeline == nullptr || --pipeline->users_ > 0) return;
    Pipeline** link = &bucket_of(pipeline->hash_);
    while (*link != pipeline) link = &(*link)->next_;
    *link = pipeline->next_;
    --count_;
    allocator_->destroy(pipeline);
}

}  // namespace hearth::gpu
