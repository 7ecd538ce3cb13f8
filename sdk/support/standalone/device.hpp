// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates a VkDevice as a game would for Hearth, with what tests, demos and tools need: one or two
// queues, buffers, one-shot submissions.

#pragma once

#include "instance.hpp"

#include <hearth/hearth_runtime.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>

namespace hearth::standalone {

/// Set of features to enable from Hearth's requirement query.
enum class FeatureLevel {
    kRequired,             ///< exactly what Hearth requires
    kRequiredAndOptional,  ///< and all optional features that the device has
};

struct DeviceOptions {
    /// Index into Instance::physical_devices(); negative: the first discrete GPU, else an
    /// integrated one, else any.
    int index = -1;
    FeatureLevel features = FeatureLevel::kRequiredAndOptional;
    /// Binding model of the programs to run; nullopt: addresses if the device has them, else push
    /// descriptors.
    std::optional<hearth_binding_model> binding_model = std::nullopt;
    /// Also enable what untrusted programs require.
    bool foreign_programs = false;
    /// Additional device extensions, all required (VK_KHR_swapchain, for example).
    std::vector<std::string> extensions;
    /// Enables driver statistics of pipelines. Requires VK_KHR_pipeline_executable_properties.
    bool pipeline_statistics = false;
    /// Give Hearth a separate queue, of a family with compute but without graphics.
    bool async_compute = false;
};

struct Queue {
    VkQueue handle = VK_NULL_HANDLE;
    uint32_t family = 0;
    uint32_t timestamp_valid_bits = 0;  ///< 0 if this queue cannot write timestamps
};

/// Owns a VkDevice with one queue of a family with graphics and compute (or, on a device without
/// graphics, only compute), and on request a second one for Hearth. Not thread-safe, as its queues
/// are not.
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
    /// Queue for Hearth's work: main_queue(), unless DeviceOptions::async_compute was set.
    const Queue& compute_queue() const { return compute_queue_; }
    bool has_async_compute() const { return compute_queue_.handle != queue_.handle; }
    const VkPhysicalDeviceProperties& properties() const { return properties_; }
    const VkPhysicalDeviceMemoryProperties& memory_properties() const { return memory_; }
    /// The usable Vulkan version: the lower of the instance's and the device's.
    uint32_t api_version() const { return api_version_; }
    std::span<const char* const> enabled_extensions() const { return extension_names_; }
    hearth_binding_model binding_model() const { return binding_model_; }
    /// The features enabled for Hearth.
    hearth_features enabled_features() const { return features_; }

    /// Description of this device for Hearth; the lists belong to the device. Callers add hooks, a
    /// pipeline cache and callbacks before hearth::Context::create.
    hearth_context_create_info host_info() const;
    /// Capabilities of the device with the enabled features, for the compiler.
    Result<DeviceCaps> caps() const;

    /// First memory type in `type_bits` with all of `flags`; UINT32_MAX if there is none.
    uint32_t find_memory_type(uint32_t type_bits, VkMemoryPropertyFlags flags) const;

    /// Allocates device memory for `image` and binds it. The caller frees it.
    Result<VkDeviceMemory> allocate(VkImage image) const;

    /// Records with `record`, submits to the main queue, and waits until the device is done.
    Status run(const std::function<void(VkCommandBuffer)>& record) { return run(record, queue_); }
    /// As above for a `record` that can fail: its error is returned, once the device is done.
    template <class F>
    requires std::same_as<std::invoke_result_t<F&, VkCommandBuffer>, Status> Status run(F record) {
        Status recorded;
        HEARTH_TRY(run([&](VkCommandBuffer commands) { recorded = record(commands); }, queue_));
        return recorded;
    }
    /// As above, on the queue for Hearth's work.
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

/// Memory of a buffer.
enum class MemoryKind {
    kDevice,    ///< fast for the GPU; not mapped
    kUpload,    ///< mapped, coherent; the CPU writes
    kReadback,  ///< mapped, coherent, cached if available; the CPU reads
};

/// A VkBuffer with its own memory. Storage and transfer usage are always set, and device-address
/// usage if that feature is enabled.
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
    /// 0 if buffer device addresses are not enabled.
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
