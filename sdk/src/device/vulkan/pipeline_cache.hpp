// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the driver remembers of the pipelines it built, kept by the host between runs of the game.

#pragma once

#include "device/vulkan/device.hpp"

#include <span>

namespace hearth::gpu {

/// Before the driver's own bytes.  Drivers check theirs, but not all of them well; what another
/// driver, device or library wrote, or what is damaged, is never shown to them.
struct PipelineCacheHeader {
    uint32_t magic, format_version;
    uint32_t vendor, device, driver_version;
    uint32_t library_version;  ///< HEARTH_VERSION
    uint8_t uuid[VK_UUID_SIZE];
    uint64_t byte_count;  ///< of what follows
    uint64_t checksum;    ///< checksum() of it
};

static_assert(sizeof(PipelineCacheHeader) == 56);

class PipelineCache {
  public:
    PipelineCache() = default;
    ~PipelineCache();
    PipelineCache(const PipelineCache&) = delete;
    PipelineCache& operator=(const PipelineCache&) = delete;

    /// A cache of Hearth's own, filled with `saved` if that is this device's.
    hearth_result create(Device& device, const VkPhysicalDeviceProperties& properties,
                         std::span<const std::byte> saved);

    /// Whether `saved` was used; if not, why.
    bool is_filled() const { return is_filled_; }
    const char* why_not() const { return why_not_; }

    /// Writes the header and the driver's bytes.  *byte_count: capacity before, size afterwards; out
    /// null: what is enough.  HEARTH_ERROR_NOT_FOUND without a cache.
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
