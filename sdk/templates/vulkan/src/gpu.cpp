// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gpu.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace hearth;

namespace {

constexpr uint32_t kApiVersion = VK_API_VERSION_1_2;

Status check(VkResult result, const char* call) {
    if (result == VK_SUCCESS) return {};
    return internal_error(std::string(call) + " failed with " + std::to_string(result));
}

std::optional<uint32_t> find_compute_family(VkPhysicalDevice device) {
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
    for (uint32_t family = 0; family < count; ++family)
        if (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) return family;
    return std::nullopt;
}

}  // namespace

Gpu::Gpu(Gpu&& other) noexcept
    : instance_(std::exchange(other.instance_, VK_NULL_HANDLE)),
      physical_device_(other.physical_device_),
      properties_(other.properties_),
      requirements_(other.requirements_),
      device_(std::exchange(other.device_, VK_NULL_HANDLE)),
      queue_family_(other.queue_family_),
      queue_(other.queue_),
      pool_(std::exchange(other.pool_, VK_NULL_HANDLE)),
      commands_(other.commands_) {}

Gpu::~Gpu() {
    if (device_) vkDestroyCommandPool(device_, pool_, nullptr);
    if (device_) vkDestroyDevice(device_, nullptr);
    if (instance_) vkDestroyInstance(instance_, nullptr);
}

Result<Gpu> Gpu::open() {
    Gpu gpu;
    VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                  .apiVersion = kApiVersion};
    VkInstanceCreateInfo info{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                              .pApplicationInfo = &application};
    HEARTH_TRY(check(vkCreateInstance(&info, nullptr, &gpu.instance_), "vkCreateInstance"));
    HEARTH_TRY(gpu.pick_physical_device());
    HEARTH_TRY(gpu.create_device());

    VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                 .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                 .queueFamilyIndex = gpu.queue_family_};
    HEARTH_TRY(
        check(vkCreateCommandPool(gpu.device_, &pool, nullptr, &gpu.pool_), "vkCreateCommandPool"));
    VkCommandBufferAllocateInfo allocate{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .commandPool = gpu.pool_,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
    HEARTH_TRY(check(vkAllocateCommandBuffers(gpu.device_, &allocate, &gpu.commands_),
                     "vkAllocateCommandBuffers"));
    return gpu;
}

Status Gpu::pick_physical_device() {
    uint32_t count = 0;
    HEARTH_TRY(check(vkEnumeratePhysicalDevices(instance_, &count, nullptr),
                     "vkEnumeratePhysicalDevices"));
    std::vector<VkPhysicalDevice> devices(count);
    HEARTH_TRY(check(vkEnumeratePhysicalDevices(instance_, &count, devices.data()),
                     "vkEnumeratePhysicalDevices"));
    hearth_messages messages{};
    for (const VkPhysicalDevice device : devices) {
        hearth_device_requirements_info info = hearth_device_requirements_info_default();
        info.instance = instance_;
        info.physical_device = device;
        info.get_instance_proc_addr = vkGetInstanceProcAddr;
        info.api_version = kApiVersion;
        hearth_requirements needs = hearth_requirements_default();
        const std::optional<uint32_t> family = find_compute_family(device);
        if (!family || hearth_get_device_requirements(&info, &needs, &messages) != HEARTH_OK)
            continue;
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(device, &properties);
        const bool is_discrete = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
        if (physical_device_ && !is_discrete) continue;
        physical_device_ = device, properties_ = properties;
        requirements_ = needs, queue_family_ = *family;
        if (is_discrete) break;
    }
    if (physical_device_) return {};
    return unsupported("found no Vulkan device that Hearth can use among " + std::to_string(count) +
                       " (" + messages.text + "); `hearth info` lists them with what they lack");
}

Status Gpu::create_device() {
    // A renderer adds its own features and extensions to these.
    uint64_t storage[64];
    size_t storage_bytes = sizeof storage;
    VkPhysicalDeviceFeatures2 features{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    if (hearth_enable_features(requirements_.required_features, kApiVersion, &features, storage,
                               &storage_bytes) != HEARTH_OK)
        return internal_error("hearth_enable_features failed");
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                  .queueFamilyIndex = queue_family_,
                                  .queueCount = 1,
                                  .pQueuePriorities = &priority};
    VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                            .pNext = &features,
                            .queueCreateInfoCount = 1,
                            .pQueueCreateInfos = &queue,
                            .enabledExtensionCount = requirements_.required_extension_count,
                            .ppEnabledExtensionNames = requirements_.required_extensions};
    HEARTH_TRY(check(vkCreateDevice(physical_device_, &info, nullptr, &device_), "vkCreateDevice"));
    vkGetDeviceQueue(device_, queue_family_, 0, &queue_);
    return {};
}

hearth_context_create_info Gpu::context_info() const {
    hearth_context_create_info info = hearth_context_create_info_default();
    info.instance = instance_;
    info.physical_device = physical_device_;
    info.device = device_;
    info.get_instance_proc_addr = vkGetInstanceProcAddr;
    info.api_version = kApiVersion;
    info.queue_family_index = queue_family_;
    info.device_extension_count = requirements_.required_extension_count;
    info.device_extensions = requirements_.required_extensions;
    info.features = requirements_.required_features;
    return info;
}

Status Gpu::run(const std::function<Status(VkCommandBuffer)>& record) {
    VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                   .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    HEARTH_TRY(check(vkBeginCommandBuffer(commands_, &begin), "vkBeginCommandBuffer"));
    HEARTH_TRY(record(commands_));
    HEARTH_TRY(check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer"));
    VkSubmitInfo submit{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                        .commandBufferCount = 1,
                        .pCommandBuffers = &commands_};
    HEARTH_TRY(check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit"));
    return check(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");
}
