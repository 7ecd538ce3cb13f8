// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Buffers with memory, from the application's hooks or directly from the device.

#pragma once

#include "device/vulkan/device.hpp"

namespace hearth::gpu {

/// A buffer and the memory it is bound to.  Freed by DeviceMemory::destroy, not by itself.
struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    uint64_t bytes = 0;
    uint64_t address = 0;         ///< 0 without bufferDeviceAddress
    std::byte* mapped = nullptr;  ///< host-visible usages only
    hearth_memory_usage usage = HEARTH_MEMORY_WEIGHTS;
    uint64_t allocated_bytes = 0;
    hearth_memory_block block{};
    bool has_block = false;
    uint32_t heap = 0;  ///< without hooks: its memory heap
};

/// Allocates the sessions' memory; tracks usage and the application's budgets.
class DeviceMemory {
  public:
    void init(Device& device, const hearth_context_create_info& info);

    /// Queries the memory that create() with the same arguments needs.
    hearth_result query(hearth_memory_usage usage, uint64_t bytes, VkMemoryRequirements& out);

    /// Creates a buffer of `bytes` > 0. On failure `out` is empty.
    hearth_result create(hearth_memory_usage usage, uint64_t bytes, const char* name, Buffer& out);
    void destroy(Buffer& buffer);

    uint64_t held(hearth_memory_usage usage) const { return held_[usage]; }
    uint64_t held_total() const { return held_total_; }
    uint64_t held_of_heap(uint32_t heap) const { return held_of_heap_[heap]; }
    /// Describes the budget that the last HEARTH_ERROR_BUDGET_EXCEEDED of create() was about.
    template <size_t kSize>
    void describe_refusal(FixedText<kSize>& out) const {
        const auto wide = [](uint64_t value) { return static_cast<unsigned long long>(value); };
        if (refused_heap_ == kNoHeap)
            out.set(
                "%llu bytes in addition to %llu exceed "
                "hearth_context_create_info::device_memory_budget of %llu; raise it or free memory",
                wide(refused_bytes_), wide(held_total_), wide(budget_));
        else
            out.set(
                "%llu bytes in addition to %llu of heap %u exceed "
                "hearth_context_create_info::heap_budgets[%u] of %llu; raise it or free memory",
                wide(refused_bytes_), wide(held_of_heap_[refused_heap_]), refused_heap_,
                refused_heap_, wide(heap_budgets_[refused_heap_]));
    }

  private:
    hearth_result create_handle(hearth_memory_usage usage, uint64_t bytes, VkBuffer& out);
    /// Allocates out.block and sets out.heap.
    hearth_result allocate(const hearth_device_memory_allocate_info& request, Buffer& out);
    hearth_result allocate_from_hooks(const hearth_device_memory_allocate_info& request,
                                      hearth_memory_block& out);
    hearth_result allocate_from_device(const hearth_device_memory_allocate_info& request,
                                       Buffer& out);
    /// Returns the first type that the request allows, has all `wanted` properties, and whose heap
    /// has room.
    uint32_t find_type(const hearth_device_memory_allocate_info& request,
                       VkMemoryPropertyFlags wanted) const;
    bool has_room(uint32_t heap, uint64_t bytes) const;
    /// Stores what describe_refusal() describes.
    hearth_result refuse(const hearth_device_memory_allocate_info& request, uint32_t heap);
    void free(const hearth_memory_block& block);

    Device* device_ = nullptr;
    hearth_device_memory_callbacks hooks_{};
    bool has_hooks_ = false;
    uint64_t budget_ = 0;                            ///< over all heaps
    uint64_t heap_budgets_[HEARTH_HEAP_COUNT] = {};  ///< 0: no limit
    uint64_t held_[HEARTH_MEMORY_USAGE_COUNT] = {};
    uint64_t held_of_heap_[HEARTH_HEAP_COUNT] = {};
    uint64_t held_total_ = 0;
    static constexpr uint32_t kNoHeap = HEARTH_HEAP_COUNT;
    /// The last allocation that a budget refused; kNoHeap: the budget over all heaps.
    uint64_t refused_bytes_ = 0;
    uint32_t refused_heap_ = kNoHeap;
};

}  // namespace hearth::gpu
