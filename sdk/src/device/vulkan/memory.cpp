// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Allocates buffers within the application's budgets, through its hooks or from the device.

#include "device/vulkan/memory.hpp"

#include <algorithm>
#include <iterator>

namespace hearth::gpu {

namespace {

constexpr uint32_t kNoType = 0xffffffffu;

struct UsageFacts {
    VkMemoryPropertyFlags required, preferred;
    VkBufferUsageFlags buffer_usage;  ///< address usage is added where it is enabled
    bool is_addressed;                ///< accessed by kernels
};

constexpr VkMemoryPropertyFlags kMapped =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkBufferUsageFlags kStorageAndCopies = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;

UsageFacts facts(hearth_memory_usage usage) {
    switch (usage) {
        case HEARTH_MEMORY_PER_RECORDING:
            return {kMapped, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true};
        case HEARTH_MEMORY_STAGING:
            return {kMapped, 0, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, false};
        case HEARTH_MEMORY_READBACK:
            return {kMapped, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                    false};
        default:
            return {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, kStorageAndCopies, true};
    }
}

}  // namespace

void DeviceMemory::init(Device& device, const hearth_context_create_info& info) {
    device_ = &device;
    has_hooks_ = info.device_memory_callbacks != nullptr;
    if (has_hooks_) hooks_ = *info.device_memory_callbacks;
    budget_ = info.device_memory_budget;
    std::copy(std::begin(info.heap_budgets), std::end(info.heap_budgets), heap_budgets_);
}

hearth_result DeviceMemory::create_handle(hearth_memory_usage usage, uint64_t bytes,
                                          VkBuffer& out) {
    const UsageFacts f = facts(usage);
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = f.buffer_usage;
    if (f.is_addressed && device_->has(HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS))
        info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
    return device_->check(
        device_->vk().CreateBuffer(device_->handle(), &info, device_->callbacks(), &out));
}

hearth_result DeviceMemory::query(hearth_memory_usage usage, uint64_t bytes,
                                  VkMemoryRequirements& out) {
    VkBuffer buffer = VK_NULL_HANDLE;
    if (const hearth_result r = create_handle(usage, bytes, buffer); r != HEARTH_OK) return r;
    device_->vk().GetBufferMemoryRequirements(device_->handle(), buffer, &out);
    device_->vk().DestroyBuffer(device_->handle(), buffer, device_->callbacks());
    return HEARTH_OK;
}

hearth_result DeviceMemory::create(hearth_memory_usage usage, uint64_t bytes, const char* name,
                                   Buffer& out) {
    out = {};
    if (const hearth_result r = create_handle(usage, bytes, out.handle); r != HEARTH_OK) {
        out = {};
        return r;
    }
    out.bytes = bytes;
    out.usage = usage;
    VkMemoryRequirements needs{};
    device_->vk().GetBufferMemoryRequirements(device_->handle(), out.handle, &needs);
    const UsageFacts f = facts(usage);
    hearth_device_memory_allocate_info request{};
    request.size_bytes = needs.size;
    request.alignment = needs.alignment;
    request.memory_type_bits = needs.memoryTypeBits;
    request.required_properties = f.required;
    request.preferred_properties = f.preferred;
    request.device_address = f.is_addressed && device_->has(HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS);
    request.usage = usage;
    request.name = name;
    hearth_result result = allocate(request, out);
    if (result == HEARTH_OK) {
        out.has_block = true;
        out.allocated_bytes = needs.size;
        held_[usage] += needs.size;
        if (!has_hooks_) held_of_heap_[out.heap] += needs.size;
        held_total_ += needs.size;
        if ((f.required & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0)
            out.mapped = static_cast<std::byte*>(out.block.mapped);
        result = device_->check(device_->vk().BindBufferMemory(device_->handle(), out.handle,
                                                               out.block.memory, out.block.offset));
    }
    if (result != HEARTH_OK) {
        destroy(out);
        return result;
    }
    if (request.device_address != 0) {
        VkBufferDeviceAddressInfo info{};
        info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
        info.buffer = out.handle;
        out.address = device_->vk().GetBufferDeviceAddress(device_->handle(), &info);
    }
    device_->set_name(VK_OBJECT_TYPE_BUFFER, handle_bits(out.handle), name);
    return HEARTH_OK;
}

void DeviceMemory::destroy(Buffer& buffer) {
    if (buffer.handle != VK_NULL_HANDLE)
        device_->vk().DestroyBuffer(device_->handle(), buffer.handle, device_->callbacks());
    if (buffer.has_block) {
        free(buffer.block);
        held_[buffer.usage] -= buffer.allocated_bytes;
        if (!has_hooks_) held_of_heap_[buffer.heap] -= buffer.allocated_bytes;
        held_total_ -= buffer.allocated_bytes;
    }
    buffer = {};
}

hearth_result DeviceMemory::allocate(const hearth_device_memory_allocate_info& request,
                                     Buffer& out) {
    if (budget_ != 0 &&
        (request.size_bytes > budget_ || held_total_ > budget_ - request.size_bytes))
        return refuse(request, kNoHeap);
    return has_hooks_ ? allocate_from_hooks(request, out.block)
                      : allocate_from_device(request, out);
}

hearth_result DeviceMemory::allocate_from_hooks(const hearth_device_memory_allocate_info& request,
                                                hearth_memory_block& out) {
    const hearth_result result = hooks_.allocate(hooks_.user_data, &request, &out);
    if (result > 0) return HEARTH_ERROR_INTERNAL;  // hooks either succeed or fail
    if (result != HEARTH_OK) return result;
    const bool mapped = (request.required_properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    if (out.memory != VK_NULL_HANDLE && out.offset % request.alignment == 0 &&
        (!mapped || out.mapped != nullptr))
        return HEARTH_OK;
    hooks_.free(hooks_.user_data, &out);
    return HEARTH_ERROR_INVALID_ARGUMENT;
}

hearth_result DeviceMemory::refuse(const hearth_device_memory_allocate_info& request,
                                   uint32_t heap) {
    refused_bytes_ = request.size_bytes;
    refused_heap_ = heap;
    return HEARTH_ERROR_BUDGET_EXCEEDED;
}

bool DeviceMemory::has_room(uint32_t heap, uint64_t bytes) const {
    const uint64_t budget = heap_budgets_[heap];
    return budget == 0 || (bytes <= budget && held_of_heap_[heap] <= budget - bytes);
}

uint32_t DeviceMemory::find_type(const hearth_device_memory_allocate_info& request,
                                 VkMemoryPropertyFlags wanted) const {
    const VkPhysicalDeviceMemoryProperties& memory = device_->memory();
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
        const VkMemoryType& type = memory.memoryTypes[i];
        if ((request.memory_type_bits >> i & 1) != 0 && (type.propertyFlags & wanted) == wanted &&
            has_room(type.heapIndex, request.size_bytes))
            return i;
    }
    return kNoType;
}

hearth_result DeviceMemory::allocate_from_device(const hearth_device_memory_allocate_info& request,
                                                 Buffer& buffer) {
    const VkPhysicalDeviceMemoryProperties& memory = device_->memory();
    uint32_t type = find_type(request, request.required_properties | request.preferred_properties);
    if (type == kNoType) type = find_type(request, request.required_properties);
    if (type == kNoType) {
        // If a suitable type exists, the budget was the obstacle.
        for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
            if ((request.memory_type_bits >> i & 1) != 0 &&
                (memory.memoryTypes[i].propertyFlags & request.required_properties) ==
                    request.required_properties)
                return refuse(request, memory.memoryTypes[i].heapIndex);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    buffer.heap = memory.memoryTypes[type].heapIndex;
    hearth_memory_block& out = buffer.block;

    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    info.pNext = request.device_address != 0 ? &flags : nullptr;
    info.allocationSize = request.size_bytes;
    info.memoryTypeIndex = type;
    const DeviceFunctions& vk = device_->vk();
    out = {};
    if (const hearth_result r = device_->check(
            vk.AllocateMemory(device_->handle(), &info, device_->callbacks(), &out.memory));
        r != HEARTH_OK)
        return r;
    if ((request.required_properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) return HEARTH_OK;
    const hearth_result result = device_->check(
        vk.MapMemory(device_->handle(), out.memory, 0, VK_WHOLE_SIZE, 0, &out.mapped));
    if (result != HEARTH_OK) free(out);
    return result;
}

void DeviceMemory::free(const hearth_memory_block& block) {
    if (has_hooks_) return hooks_.free(hooks_.user_data, &block);
    device_->vk().FreeMemory(device_->handle(), block.memory, device_->callbacks());  // and unmaps
}

}  // namespace hearth::gpu
