// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The driver's pipeline cache, kept by the application between runs of the game.

#pragma once

#include "device/vulkan/device.hpp"

#include <span>

namespace hearth::gpu {

/// Precedes the driver's bytes. Not all drivers validate theirs well, so data of another driver,
/// device or library, and damaged data, are never passed to them.
struct PipelineCacheHeader {
    uint32_t magic, format_version;
    uint32_t vendor, device, driver_version;
    uint32_t library_version;  ///< HEARTH_VERSION
    uint8_t uuid[VK_UUID_SIZE];
    uint64_t byte_count;  ///< of what follows
    uint64_t checksum;    ///< checksum() of what follows
};

static_assert(sizeof(PipelineCacheHeader) == 56);

class PipelineCache {
  public:
    PipelineCache() = default;
    ~PipelineCache();
    PipelineCache(const PipelineCache&) = delete;
    PipelineCache& operator=(const PipelineCache&) = delete;

    /// Creates a cache, filled with `saved` if that is this device's.
    hearth_result create(Device& device, const VkPhysicalDeviceProperties& properties,
                         std::span<const std::byte> saved);

    /// True if `saved` was used; why_not() is the reason otherwise.
    bool is_filled() const { return is_filled_; }
    const char* why_not() const { return why_not_; }

    /// Writes the header and the driver's bytes. *byte_count: capacity in, size out; null `out`:
    /// returns a sufficient size. HEARTH_ERROR_NOT_FOUND without a cache.
    hearth_result save(std::byte* out, uint64_t* byte_count);

  private:
    PipelineCacheHeader expected_header() const;

    Device* device_ = nullptr;
    VkPipelineCache handle_ = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties_{};
    bool is_filled_ = false;
    const char* why_not_ = "";
};

}  // namespace hearth::gpu
