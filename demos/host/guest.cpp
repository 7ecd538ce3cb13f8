// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Adopts the demo's device for Hearth and counts all allocations.

#include "guest.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

// Counts allocations of this thread while a FramePath is open.
thread_local int t_open_frame_paths = 0;
thread_local uint64_t t_allocation_count = 0;

void count_allocation() {
    if (t_open_frame_paths > 0) ++t_allocation_count;
}

void* allocate_aligned(size_t size, size_t alignment) {
    count_allocation();
    alignment = std::max(alignment, alignof(std::max_align_t));
    return std::aligned_alloc(alignment,
                              (std::max<size_t>(size, 1) + alignment - 1) / alignment * alignment);
}

void* VKAPI_PTR host_allocate(void*, size_t size, size_t alignment, VkSystemAllocationScope) {
    return allocate_aligned(size, alignment);
}

void VKAPI_PTR host_free(void*, void* memory) {
    std::free(memory);
}

void* VKAPI_PTR host_reallocate(void*, void* original, size_t size, size_t alignment,
                                VkSystemAllocationScope) {
    if (size == 0) {
        std::free(original);
        return nullptr;
    }
    void* const grown = std::realloc(original, size);
    if (!grown || reinterpret_cast<uintptr_t>(grown) % alignment == 0) {
        count_allocation();
        return grown;
    }
    // realloc guarantees no more alignment than malloc.
    void* const moved = allocate_aligned(size, alignment);
    if (moved) std::memcpy(moved, grown, size);
    std::free(grown);
    return moved;
}

const VkAllocationCallbacks kCountingCallbacks = {
    .pfnAllocation = host_allocate, .pfnReallocation = host_reallocate, .pfnFree = host_free};

}  // namespace

// Replaces the program's operator new, so that all allocations are counted.
void* operator new(size_t size) {
    count_allocation();
    if (void* const memory = std::malloc(std::max<size_t>(size, 1))) return memory;
    throw std::bad_alloc();
}
// AddressSanitizer's version does not call the one above and would not match the delete below.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
    count_allocation();
    return std::malloc(std::max<size_t>(size, 1));
}
void* operator new(size_t size, std::align_val_t alignment) {
    if (void* const memory = allocate_aligned(size, static_cast<size_t>(alignment))) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace hearth::demo {

Result<std::unique_ptr<Guest>> Guest::create(standalone::Device& device) {
    std::unique_ptr<Guest> self(new Guest(device));
    const hearth_device_memory_callbacks hooks{self.get(), allocate, free};
    hearth_context_create_info info = device.host_info();
    info.allocation_callbacks = &kCountingCallbacks;
    info.device_memory_callbacks = &hooks;
    HEARTH_ASSIGN(self->context_, Context::create(info));
    return self;
}

hearth_result Guest::allocate(void* user_data, const hearth_device_memory_allocate_info* request,
                              hearth_memory_block* out) {
    Guest& self = *static_cast<Guest*>(user_data);
    const standalone::VulkanApi& vk = self.device_.vk();
    uint32_t type = self.device_.find_memory_type(
        request->memory_type_bits, request->required_properties | request->preferred_properties);
    if (type == UINT32_MAX) {
        type =
            self.device_.find_memory_type(request->memory_type_bits, request->required_properties);
    }
    if (type == UINT32_MAX) return HEARTH_ERROR_UNSUPPORTED;
    VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.pNext = request->device_address != 0 ? &flags : nullptr;
    info.allocationSize = request->size_bytes;
    info.memoryTypeIndex = type;
    *out = {};
    ++self.device_allocations_;
    if (vk.AllocateMemory(self.device_.handle(), &info, nullptr, &out->memory) != VK_SUCCESS) {
        return HEARTH_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if ((request->required_properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 &&
        vk.MapMemory(self.device_.handle(), out->memory, 0, VK_WHOLE_SIZE, 0, &out->mapped) !=
            VK_SUCCESS) {
        vk.FreeMemory(self.device_.handle(), out->memory, nullptr);
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    return HEARTH_OK;
}

void Guest::free(void* user_data, const hearth_memory_block* block) {
    Guest& self = *static_cast<Guest*>(user_data);
    self.device_.vk().FreeMemory(self.device_.handle(), block->memory, nullptr);
}

Result<uint64_t> Guest::weights_hash(const LoadedProgram& program, hearth_session* session,
                                     uint64_t& serial) {
    const auto check = [&](hearth_result result) {
        return result == HEARTH_OK ? Status() : to_status(result, hearth_session_error(session));
    };
    Hash hash;
    // One at a time: sessions of agents have room for little more.
    for (uint32_t i = 0; i < program.info().variable_count; ++i) {
        HEARTH_ASSIGN(const hearth_variable_info slot, program.variable(i));
        if (slot.kind != HEARTH_VARIABLE_PARAM) continue;
        HEARTH_TRY(context_.begin_frame(serial + 1, serial));
        ++serial;
        hearth_readback_info info = hearth_readback_info_default();
        info.variable = i;
        hearth_readback id = 0;
        Status recorded;
        HEARTH_TRY(device_.run_compute([&](VkCommandBuffer commands) {
            info.command_buffer = commands;
            recorded = check(hearth_record_readback(session, &info, &id));
        }));
        HEARTH_TRY(recorded);
        HEARTH_TRY(context_.begin_frame(serial + 1, serial));
        ++serial;
        const void* data = nullptr;
        uint64_t size_bytes = 0, of = 0;
        HEARTH_TRY(check(hearth_readback_poll(session, id, &data, &size_bytes, &of)));
        hash.bytes({static_cast<const std::byte*>(data), static_cast<size_t>(size_bytes)});
        hearth_readback_release(session, id);
    }
    return hash.value();
}

Guest::FramePath::FramePath(Guest& guest)
    : guest_(guest), device_before_(guest.device_allocations_) {
    if (t_open_frame_paths++ == 0) t_allocation_count = 0;
}

Guest::FramePath::~FramePath() {
    if (--t_open_frame_paths > 0) return;
    guest_.cpu_allocations_ += t_allocation_count;
    guest_.frame_device_allocations_ += guest_.device_allocations_ - device_before_;
}

}  // namespace hearth::demo
