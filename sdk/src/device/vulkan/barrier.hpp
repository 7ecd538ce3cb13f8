// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Barriers, through synchronization2 if the application enabled it, else through Vulkan 1.0's call.
// Also debug labels, which are optional, too.

#pragma once

#include "device/vulkan/device.hpp"

namespace hearth::gpu {

/// Stages and accesses, as VkPipelineStageFlags2 and VkAccessFlags2.
struct Scope {
    uint64_t stages = 0, access = 0;

    Scope& operator|=(const Scope& other) {
        stages |= other.stages;
        access |= other.access;
        return *this;
    }
};

// These flags have the same values in both generations of the API.
inline constexpr Scope kComputeScope{VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                     VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
inline constexpr Scope kTransferScope{VK_PIPELINE_STAGE_TRANSFER_BIT,
                                      VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
inline constexpr Scope kHostReadScope{VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT};
/// All that recordings do to a session's own memory.
inline constexpr Scope kRecordingScope{kComputeScope.stages | kTransferScope.stages,
                                       kComputeScope.access | kTransferScope.access};

/// Transfers a buffer range from one queue family to another, within a barrier.
struct OwnershipTransfer {
    VkBuffer buffer = VK_NULL_HANDLE;
    uint64_t offset = 0, bytes = 0;
    uint32_t from_family = 0, to_family = 0;
    Scope before, after;
};

/// Records one barrier: everything in `before` is finished and visible to `after`. An empty
/// `before` waits for nothing. Records nothing if both are empty and there are no transfers.
void record_barrier(const Device& device, VkCommandBuffer commands, Scope before, Scope after,
                    std::span<const OwnershipTransfer> transfers = {});

/// Transitions an image's layout and queue family.
struct ImageBarrier {
    VkImage image = VK_NULL_HANDLE;
    VkImageSubresourceRange range{};
    VkImageLayout old_layout = VK_IMAGE_LAYOUT_UNDEFINED;
    VkImageLayout new_layout = VK_IMAGE_LAYOUT_UNDEFINED;
    uint32_t from_family = VK_QUEUE_FAMILY_IGNORED, to_family = VK_QUEUE_FAMILY_IGNORED;
    Scope before, after;
};

/// Records nothing if neither layout nor family changes and one side is empty.
void record_image_barrier(const Device& device, VkCommandBuffer commands,
                          const ImageBarrier& barrier);

/// Maximum number of transfers per barrier: one per binding of an entry, and the run block.
inline constexpr size_t kMaxTransfers = 65;

void begin_label(const Device& device, VkCommandBuffer commands, const char* name);
void end_label(const Device& device, VkCommandBuffer commands);

}  // namespace hearth::gpu
