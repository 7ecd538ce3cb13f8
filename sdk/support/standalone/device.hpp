// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A VkDevice of our own, made as a game would make it for Hearth, with what tests, demos and tools
// need around it: a queue or two, buffers, one-shot submissions.

#pragma once

#include "instance.hpp"

#include <hearth/hearth_runtime.hpp>

#include <functional>

namespace hearth::standalone {

/// What to enable of the things that Hearth's requirement query lists.
enum class FeatureLevel {
    kRequired,             ///< exactly what Hearth cannot do without
    kRequiredAndOptional,  ///< and whatever else it can use that the device has
};

struct DeviceOptions {
    /// Index into Instance::physical_devices(); negative: the first discrete GPU, else an
    /// integrated one, else any.
    int index = -1;
    FeatureLevel features = FeatureLevel::kRequiredAndOptional;
    /// How the programs to be run find their operands.
    hearth_binding_model binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    /// Also enable what foreign programs need.
    bool foreign_programs = false;
    /// Device extensions of the caller's own, all of them needed (VK_KHR_swapchain, say).
    std::vector<std::string> extensions;
    /// Let pipelines be asked for the driver's statistics.  Needs
    /// VK_KHR_pipeline_executable_properties.
    bool pipeline_statistics = false;
    /// Give Hearth a queue of its own, of a family that computes but does not draw.
    bool async_compute = false;
};

struct Queue {
    VkQueue handle = VK_NULL_HANDLE;
    uint32_t family = 0;
    uint32_t timestamp_valid_bits = 0;  ///< 0 if this queue cannot write timestamps
};

/// Owns a VkDevice with one queue of a family that can do graphics and compute (or, on a device
/// without graphics, compute alone), and on request one for Hearth.  Not thread-safe, as its queues
/// are not.
class Device {
  public:
    static Result<std::unique_ptr<Device>> create(Instance& instance,
                                                  const DeviceOptions& options = {});
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const VulkanApi& vk() const { return vk_; }
    Instance& instance() const { return *instance_; }
    VkDevice handle() const { return handle_; }
    VkPhysicalDevice physical_device() const { return physical_device_; }
    VkQueue queue() const { return queue_.handle; }
    uint32_t queue_family() const { return queue_.family; }
    bool has_graphics() const { return has_graphics_; }
    /// 0 if this queue cannot write timestamps.
    uint32_t timestamp_valid_bits() const { return queue_.timestamp_valid_bits; }
    const Queue& main_queue() const { return queue_; }
    /// Where Hearth's work goes: main_queue(), unless DeviceOptions::async_compute was set.
    const Queue& compute_queue() const { return compute_queue_; }
    bool has_async_compute() const { return compute_queue_.handle != queue_.handle; }
    const VkPhysicalDeviceProperties& properties() const { return properties_; }
    const VkPhysicalDeviceMemoryProperties& memory_properties() const { return memory_; }
    /// The Vulkan version that may be used: the lower of the instance's and the device's.
    uint32_t api_version() const { return api_version_; }
    std::span<const char* const> enabled_extensions() const { return extension_names_; }
    hearth_binding_model binding_model() const { return binding_model_; }
    /// The features enabled for Hearth.
    hearth_features enabled_features() const { return features_; }

    /// What Hearth is told of this device; the lists belong to the device.  Callers add hooks, a
    /// pipeline cache and callbacks of their own before hearth::Context::create.
    hearth_host_info host_info() const;
    /// Caps of the device with what is enabled, for the compiler.
    Result<DeviceCaps> caps() const;

    /// First memory type in `type_bits` with all of `flags`; UINT32_MAX if there is none.
    uint32_t find_memory_type(uint32_t type_bits, VkMemoryPropertyFlags flags) const;

    /// Memory for the whole of `image`, on the device, bound to it.  The caller frees it.
    Result<VkDeviceMemory> allocate(VkImage image) const;

    /// Records with `record`, submits to the main queue, waits until the device is done.
    Status run(const std::function<void(VkCommandBuffer)>& record) { return run(record, queue_); }
    /// The same on the queue for Hearth's work.
    Status run_compute(const std::function<void(VkCommandBuffer)>& record) {
        return run(record, compute_queue_);
    }

  private:
    Device() = default;
    Status run(const std::function<void(VkCommandBuffer)>& record, const Queue& queue);

    VulkanApi vk_;
    Instance* instance_ = nullptr;
    VkPhysicalDevice physical_device_ = VK_NULL_HANDLE;
    VkDevice handle_ = VK_NULL_HANDLE;
    Queue queue_;
    Queue compute_queue_;
    bool has_graphics_ = false;
    uint32_t api_version_ = 0;
    VkPhysicalDeviceProperties properties_{};
    VkPhysicalDeviceMemoryProperties memory_{};
    hearth_binding_model binding_model_ = HEARTH_BINDING_DEVICE_ADDRESS;
    hearth_features features_ = 0;
    std::vector<std::string> extensions_;
    std::vector<const char*> extension_names_;
};

/// Where a buffer's memory lies.
enum class MemoryKind {
    kDevice,    ///< fast for the GPU; not mapped
    kUpload,    ///< mapped, coherent; the CPU writes
    kReadback,  ///< mapped, coherent, cached where there is such a type; the CPU reads
};

/// A VkBuffer with memory of its own.  Storage and transfer usage are always set, and
/// device-address usage where that feature is enabled.
class Buffer {
  public:
    static Result<Buffer> create(Device& device, VkDeviceSize size_bytes, MemoryKind kind,
                                 VkBufferUsageFlags extra_usage = 0);
    Buffer() = default;
    Buffer(Buffer&& other) noexcept { *this = std::move(other); }
    Buffer& operator=(Buffer&& other) noexcept;
    ~Buffer() { reset(); }

    explicit operator bool() const { return handle_ != VK_NULL_HANDLE; }
    VkBuffer handle() const { return handle_; }
    VkDeviceSize size_bytes() const { return size_bytes_; }
    VkBufferUsageFlags usage() const { return usage_; }
    /// 0 where buffer device addresses are not enabled.
    VkDeviceAddress address() const { return address_; }
    /// Null for MemoryKind::kDevice.
    void* data() const { return data_; }
    template <class T>
    std::span<T> as() const {
        return std::span<T>(static_cast<T*>(data_), size_bytes_ / sizeof(T));
    }
    void reset();

  private:
    Device* device_ = nullptr;
    VkBuffer handle_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    VkDeviceSize size_bytes_ = 0;
    VkBufferUsageFlags usage_ = 0;
    VkDeviceAddress address_ = 0;
    void* data_ = nullptr;
};

}  // namespace hearth::standalone
