// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads and saves the pipeline cache behind a header that identifies the device and library.

#include "device/vulkan/pipeline_cache.hpp"

#include "core/checksum.hpp"

#include <cstring>

namespace hearth::gpu {

namespace {

constexpr uint32_t kCacheMagic = 0x43505248;  // "HRPC"
constexpr uint32_t kCacheFormatVersion = 1;

}  // namespace

PipelineCache::~PipelineCache() {
    if (handle_ != VK_NULL_HANDLE)
        device_->vk().DestroyPipelineCache(device_->handle(), handle_, device_->callbacks());
}

PipelineCacheHeader PipelineCache::expected_header() const {
    PipelineCacheHeader header{};
    header.magic = kCacheMagic;
    header.format_version = kCacheFormatVersion;
    header.vendor = properties_.vendorID;
    header.device = properties_.deviceID;
    header.driver_version = properties_.driverVersion;
    header.library_version = HEARTH_VERSION;
    std::memcpy(header.uuid, properties_.pipelineCacheUUID, sizeof header.uuid);
    return header;
}

hearth_result PipelineCache::create(Device& device, const VkPhysicalDeviceProperties& properties,
                                    std::span<const std::byte> saved) {
    device_ = &device;
    properties_ = properties;
    std::span<const std::byte> payload;
    if (!saved.empty()) {
        const PipelineCacheHeader expected = expected_header();
        PipelineCacheHeader header{};
        if (saved.size() >= sizeof header) std::memcpy(&header, saved.data(), sizeof header);
        if (saved.size() < sizeof header || header.magic != kCacheMagic ||
            header.format_version != kCacheFormatVersion)
            why_not_ = "it is not a pipeline cache of this version of Hearth";
        else if (std::memcmp(&header, &expected, offsetof(PipelineCacheHeader, byte_count)) != 0)
            why_not_ = "it was made by another device, driver or version of Hearth";
        else if (header.byte_count != saved.size() - sizeof header ||
                 header.checksum != checksum(saved.subspan(sizeof header)))
            why_not_ = "it is damaged";
        else
            payload = saved.subspan(sizeof header);
    }
    VkPipelineCacheCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = payload.size();
    info.pInitialData = payload.data();
    const DeviceFunctions& vk = device.vk();
    VkResult result = vk.CreatePipelineCache(device.handle(), &info, device.callbacks(), &handle_);
    // The driver's error for bytes that it rejects does not matter: retry without them. A lost
    // device or a lack of memory fails again.
    if (result != VK_SUCCESS && !payload.empty() && result != VK_ERROR_DEVICE_LOST) {
        why_not_ = "the driver rejects it";
        payload = {};
        info.initialDataSize = 0;
        info.pInitialData = nullptr;
        result = vk.CreatePipelineCache(device.handle(), &info, device.callbacks(), &handle_);
    }
    if (result != VK_SUCCESS) {
        handle_ = VK_NULL_HANDLE;
        return device.check(result);
    }
    is_filled_ = !payload.empty();
    device.set_pipeline_cache(handle_);
    device.set_name(VK_OBJECT_TYPE_PIPELINE_CACHE, handle_bits(handle_), "hearth pipeline cache");
    return HEARTH_OK;
}

hearth_result PipelineCache::save(std::byte* out, uint64_t* byte_count) {
    if (handle_ == VK_NULL_HANDLE) return HEARTH_ERROR_NOT_FOUND;
    const DeviceFunctions& vk = device_->vk();
    PipelineCacheHeader header = expected_header();
    if (out == nullptr) {
        size_t size = 0;
        const VkResult result = vk.GetPipelineCacheData(device_->handle(), handle_, &size, nullptr);
        *byte_count = sizeof header + size;
        return device_->check(result);
    }
    if (*byte_count < sizeof header) return HEARTH_ERROR_OUT_OF_RANGE;
    size_t size = *byte_count - sizeof header;
    const VkResult result =
        vk.GetPipelineCacheData(device_->handle(), handle_, &size, out + sizeof header);
    if (result == VK_INCOMPLETE) return HEARTH_ERROR_OUT_OF_RANGE;  // grew in the meantime
    if (result != VK_SUCCESS) return device_->check(result);
    header.byte_count = size;
    header.checksum = checksum({out + sizeof header, size});
    std::memcpy(out, &header, sizeof header);
    *byte_count = sizeof header + size;
    return HEARTH_OK;
}

}  // namespace hearth::gpu
