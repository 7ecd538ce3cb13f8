// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates Vulkan devices, queues and buffers.

#include "device.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace hearth::standalone {
namespace {

/// Lower is better.
int rank_of(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return 0;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return 1;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return 2;
        default:
            return 3;
    }
}

hearth_device_requirements_info device_query(const Instance& instance,
                                             VkPhysicalDevice physical_device,
                                             hearth_binding_model binding_model) {
    VkPhysicalDeviceProperties properties;
    instance.vk().GetPhysicalDeviceProperties(physical_device, &properties);
    hearth_device_requirements_info query = hearth_device_requirements_info_default();
    query.instance = instance.handle();
    query.physical_device = physical_device;
    query.get_instance_proc_addr = instance.vk().GetInstanceProcAddr;
    query.api_version = std::min(instance.api_version(), properties.apiVersion);
    query.binding_model = binding_model;
    return query;
}

/// The binding model of a device's programs; addresses, whose lack is reported, if it has neither.
hearth_binding_model choose_binding_model(const Instance& instance, VkPhysicalDevice device,
                                          const DeviceOptions& options) {
    if (options.binding_model) return *options.binding_model;
    const auto has = [&](hearth_binding_model model) {
        return get_device_requirements(device_query(instance, device, model)).ok();
    };
    const bool needs_descriptors =
        !has(HEARTH_BINDING_DEVICE_ADDRESS) && has(HEARTH_BINDING_PUSH_DESCRIPTOR);
    return needs_descriptors ? HEARTH_BINDING_PUSH_DESCRIPTOR : HEARTH_BINDING_DEVICE_ADDRESS;
}

Result<VkPhysicalDevice> choose_physical_device(const Instance& instance,
                                                const DeviceOptions& options) {
    const std::span<const VkPhysicalDevice> devices = instance.physical_devices();
    if (devices.empty()) {
        return unsupported(
            "no Vulkan device (on Debian: apt-get install mesa-vulkan-drivers gives a software "
            "one)");
    }
    if (options.index >= 0) {
        if (static_cast<size_t>(options.index) >= devices.size()) {
            return not_found("device " + std::to_string(options.index) + ": there are only " +
                             std::to_string(devices.size()));
        }
        return devices[static_cast<size_t>(options.index)];
    }
    // A device that lacks a requirement is chosen only if all do, so that the lack is reported.
    const auto rank = [&](VkPhysicalDevice device) {
        VkPhysicalDeviceProperties properties;
        instance.vk().GetPhysicalDeviceProperties(device, &properties);
        const bool is_fit =
            get_device_requirements(
                device_query(instance, device, choose_binding_model(instance, device, options)))
                .ok();
        return rank_of(properties.deviceType) + (is_fit ? 0 : 100);
    };
    return *std::ranges::min_element(devices, {}, rank);
}

std::vector<VkQueueFamilyProperties> queue_families(const VulkanApi& vk,
                                                    VkPhysicalDevice physical_device) {
    uint32_t count = 0;
    vk.GetPhysicalDeviceQueueFamilyProperties(physical_device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vk.GetPhysicalDeviceQueueFamilyProperties(physical_device, &count, families.data());
    return families;
}

/// Returns the first family whose flags among `mask` equal `flags`, with a null queue handle;
/// nullopt if none.
std::optional<Queue> find_queue(std::span<const VkQueueFamilyProperties> families,
                                VkQueueFlags mask, VkQueueFlags flags) {
    const auto family = std::ranges::find_if(
        families, [&](const VkQueueFamilyProperties& f) { return (f.queueFlags & mask) == flags; });
    if (family == families.end()) return std::nullopt;
    return Queue{VK_NULL_HANDLE, static_cast<uint32_t>(family - families.begin()),
                 family->timestampValidBits};
}

std::vector<VkExtensionProperties> device_extensions(const VulkanApi& vk,
                                                     VkPhysicalDevice physical_device) {
    uint32_t count = 0;
    vk.EnumerateDeviceExtensionProperties(physical_device, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> extensions(count);
    vk.EnumerateDeviceExtensionProperties(physical_device, nullptr, &count, extensions.data());
    return extensions;
}

void leave_out(hearth_requirements& requirements, hearth_features features,
               std::string_view extension) {
    requirements.optional_features &= ~features;
    const char** const names = requirements.optional_extensions;
    const char** const end = names + requirements.optional_extension_count;
    const char** const rest =
        std::remove_if(names, end, [&](const char* name) { return name == extension; });
    requirements.optional_extension_count = static_cast<uint32_t>(rest - names);
}

}  // namespace

Result<std::unique_ptr<Device>> Device::create(Instance& instance, const DeviceOptions& options) {
    HEARTH_ASSIGN(const VkPhysicalDevice physical_device,
                  choose_physical_device(instance, options));
    const hearth_binding_model binding_model =
        choose_binding_model(instance, physical_device, options);
    hearth_device_requirements_info query = device_query(instance, physical_device, binding_model);
    query.allow_untrusted_programs = options.foreign_programs ? 1 : 0;
    HEARTH_ASSIGN(hearth_requirements requirements, get_device_requirements(query));
    constexpr uint32_t kKhrMatricesVersion = VK_MAKE_API_VERSION(0, 1, 3, 255);
    if (!instance.knows_headers(kKhrMatricesVersion))
        leave_out(requirements, HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR, "VK_KHR_cooperative_matrix");
    constexpr uint32_t kWorkgroupMatricesVersion = VK_MAKE_API_VERSION(0, 1, 3, 300);
    if (!instance.knows_headers(kWorkgroupMatricesVersion))
        leave_out(requirements,
                  HEARTH_FEATURE_COOPERATIVE_MATRIX_WORKGROUP_SCOPE |
                      HEARTH_FEATURE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS,
                  "VK_NV_cooperative_matrix2");
    constexpr uint32_t kMixedDotVersion = VK_MAKE_API_VERSION(0, 1, 4, 342);
    if (!instance.knows_headers(kMixedDotVersion))
        leave_out(requirements, HEARTH_FEATURE_MIXED_FLOAT_DOT_PRODUCT,
                  "VK_VALVE_shader_mixed_float_dot_product");
    std::unique_ptr<Device> self(new Device);
    self->vk_ = instance.vk();
    self->instance_ = &instance;
    self->physical_device_ = physical_device;
    const VulkanApi& vk = self->vk_;
    vk.GetPhysicalDeviceProperties(physical_device, &self->properties_);
    vk.GetPhysicalDeviceMemoryProperties(physical_device, &self->memory_);
    self->api_version_ = query.api_version;
    self->binding_model_ = binding_model;

    const std::vector<VkQueueFamilyProperties> families = queue_families(vk, physical_device);
    constexpr VkQueueFlags kBoth = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    std::optional<Queue> main = find_queue(families, kBoth, kBoth);
    self->has_graphics_ = main.has_value();
    const std::optional<Queue> compute = find_queue(families, kBoth, VK_QUEUE_COMPUTE_BIT);
    if (!main) main = compute;
    if (!main) {
        return unsupported(std::string(self->properties_.deviceName) + " has no compute queue");
    }
    if (options.async_compute && !compute) {
        return unsupported(std::string(self->properties_.deviceName) +
                           " has no queue family that computes and does not draw, as asynchronous "
                           "compute needs");
    }
    self->queue_ = *main;
    self->compute_queue_ = options.async_compute ? *compute : *main;

    const bool wants_optional = options.features == FeatureLevel::kRequiredAndOptional;
    std::vector<std::string> names(
        requirements.required_extensions,
        requirements.required_extensions + requirements.required_extension_count);
    if (wants_optional) {
        names.insert(names.end(), requirements.optional_extensions,
                     requirements.optional_extensions + requirements.optional_extension_count);
    }
    names.insert(names.end(), options.extensions.begin(), options.extensions.end());
    if (options.pipeline_statistics)
        names.emplace_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
    const std::vector<VkExtensionProperties> available = device_extensions(vk, physical_device);
    for (const std::string& name : names) {
        if (std::ranges::none_of(available, [&](const VkExtensionProperties& extension) {
                return name == extension.extensionName;
            })) {
            return unsupported(std::string(self->properties_.deviceName) + " has no " + name);
        }
        if (std::ranges::find(self->extensions_, name) == self->extensions_.end()) {
            self->extensions_.push_back(name);
        }
    }
    for (const std::string& name : self->extensions_) {
        self->extension_names_.push_back(name.c_str());
    }

    self->features_ = requirements.required_features;
    if (wants_optional) self->features_ |= requirements.optional_features;
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    HEARTH_ASSIGN(const std::vector<uint64_t> storage,
                  enable_features(self->features_, self->api_version_, &features));

    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
    statistics.pipelineExecutableInfo = VK_TRUE;
    statistics.pNext = &features;

    const float priority = 1.0f;
    std::vector<VkDeviceQueueCreateInfo> queues;
    for (const uint32_t family : {self->queue_.family, self->compute_queue_.family}) {
        if (!queues.empty() && queues.front().queueFamilyIndex == family) continue;
        VkDeviceQueueCreateInfo& queue = queues.emplace_back();
        queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
        queue.queueFamilyIndex = family;
        queue.queueCount = 1;
        queue.pQueuePriorities = &priority;
    }
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.pNext = options.pipeline_statistics ? static_cast<const void*>(&statistics) : &features;
    info.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
    info.pQueueCreateInfos = queues.data();
    info.enabledExtensionCount = static_cast<uint32_t>(self->extension_names_.size());
    info.ppEnabledExtensionNames = self->extension_names_.data();
    HEARTH_TRY(check_vulkan(vk.CreateDevice(physical_device, &info, nullptr, &self->handle_),
                            "vkCreateDevice"));
    self->vk_.load_device(self->handle_);
    for (Queue* queue : {&self->queue_, &self->compute_queue_})
        vk.GetDeviceQueue(self->handle_, queue->family, 0, &queue->handle);
    return self;
}

Device::~Device() {
    if (!handle_) return;
    vk_.DeviceWaitIdle(handle_);
    vk_.DestroyDevice(handle_, nullptr);
}

uint32_t Device::find_memory_type(uint32_t type_bits, VkMemoryPropertyFlags flags) const {
    for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
        const bool is_allowed = (type_bits >> i & 1u) != 0;
        if (is_allowed && (memory_.memoryTypes[i].propertyFlags & flags) == flags) return i;
    }
    return UINT32_MAX;
}

hearth_context_create_info Device::host_info() const {
    hearth_context_create_info info = hearth_context_create_info_default();
    info.instance = instance_->handle();
    info.physical_device = physical_device_;
    info.device = handle_;
    info.get_instance_proc_addr = vk_.GetInstanceProcAddr;
    info.get_device_proc_addr = vk_.GetDeviceProcAddr;
    info.api_version = api_version_;
    info.queue_family_index = compute_queue_.family;
    info.instance_extension_count = static_cast<uint32_t>(instance_->enabled_extensions().size());
    info.instance_extensions = instance_->enabled_extensions().data();
    info.device_extension_count = static_cast<uint32_t>(extension_names_.size());
    info.device_extensions = extension_names_.data();
    info.features = features_;
    info.binding_model = binding_model_;
    return info;
}

Result<DeviceCaps> Device::caps() const {
    return get_device_caps(device_query(*instance_, physical_device_, binding_model_), features_);
}

Result<VkDeviceMemory> Device::allocate(VkImage image) const {
    VkMemoryRequirements needs;
    vk_.GetImageMemoryRequirements(handle_, image, &needs);
    uint32_t type = find_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    if (type == UINT32_MAX) type = find_memory_type(needs.memoryTypeBits, 0);
    VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    info.allocationSize = needs.size;
    info.memoryTypeIndex = type;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    HEARTH_TRY(check_vulkan(vk_.AllocateMemory(handle_, &info, nullptr, &memory),
                            "vkAllocateMemory for an image"));
    const VkResult result = vk_.BindImageMemory(handle_, image, memory, 0);
    if (result != VK_SUCCESS) vk_.FreeMemory(handle_, memory, nullptr);
    HEARTH_TRY(check_vulkan(result, "vkBindImageMemory"));
    return memory;
}

Status Device::run(const std::function<void(VkCommandBuffer)>& record, const Queue& queue) {
    VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    info.queueFamilyIndex = queue.family;
    VkCommandPool pool = VK_NULL_HANDLE;
    HEARTH_TRY(
        check_vulkan(vk_.CreateCommandPool(handle_, &info, nullptr, &pool), "vkCreateCommandPool"));
    const auto submit_and_wait = [&]() -> Status {
        VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        allocate.commandPool = pool;
        allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        allocate.commandBufferCount = 1;
        VkCommandBuffer cmd = VK_NULL_HANDLE;
        HEARTH_TRY(check_vulkan(vk_.AllocateCommandBuffers(handle_, &allocate, &cmd),
                                "vkAllocateCommandBuffers"));
        VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        HEARTH_TRY(check_vulkan(vk_.BeginCommandBuffer(cmd, &begin), "vkBeginCommandBuffer"));
        record(cmd);
        HEARTH_TRY(check_vulkan(vk_.EndCommandBuffer(cmd), "vkEndCommandBuffer"));
        VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
        submit.commandBufferCount = 1;
        submit.pCommandBuffers = &cmd;
        HEARTH_TRY(check_vulkan(vk_.QueueSubmit(queue.handle, 1, &submit, VK_NULL_HANDLE),
                                "vkQueueSubmit"));
        return check_vulkan(vk_.QueueWaitIdle(queue.handle), "vkQueueWaitIdle");
    };
    Status status = submit_and_wait();
    vk_.DestroyCommandPool(handle_, pool, nullptr);
    return status;
}

Result<Buffer> Buffer::create(Device& device, VkDeviceSize size_bytes, MemoryKind kind,
                              VkBufferUsageFlags extra_usage) {
    const VulkanApi& vk = device.vk();
    Buffer buffer;
    buffer.device_ = &device;
    buffer.size_bytes_ = size_bytes;
    buffer.usage_ = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                    VK_BUFFER_USAGE_TRANSFER_DST_BIT | extra_usage;
    const bool has_address =
        (device.enabled_features() & HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS) != 0;
    if (has_address) buffer.usage_ |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = size_bytes;
    info.usage = buffer.usage_;
    HEARTH_TRY(check_vulkan(vk.CreateBuffer(device.handle(), &info, nullptr, &buffer.handle_),
                            "vkCreateBuffer"));
    VkMemoryRequirements needs;
    vk.GetBufferMemoryRequirements(device.handle(), buffer.handle_, &needs);

    constexpr VkMemoryPropertyFlags kMapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = UINT32_MAX;
    if (kind == MemoryKind::kDevice) {
        type = device.find_memory_type(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    } else if (kind == MemoryKind::kReadback) {
        type = device.find_memory_type(needs.memoryTypeBits,
                                       kMapped | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
    }
    if (type == UINT32_MAX) type = device.find_memory_type(needs.memoryTypeBits, kMapped);
    if (type == UINT32_MAX) return unsupported("no memory type for a host-visible buffer");

    VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.pNext = has_address ? &flags : nullptr;
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = type;
    HEARTH_TRY(check_vulkan(vk.AllocateMemory(device.handle(), &allocate, nullptr, &buffer.memory_),
                            "vkAllocateMemory"));
    HEARTH_TRY(check_vulkan(vk.BindBufferMemory(device.handle(), buffer.handle_, buffer.memory_, 0),
                            "vkBindBufferMemory"));
    if (kind != MemoryKind::kDevice) {
        HEARTH_TRY(check_vulkan(
            vk.MapMemory(device.handle(), buffer.memory_, 0, VK_WHOLE_SIZE, 0, &buffer.data_),
            "vkMapMemory"));
    }
    if (has_address) {
        VkBufferDeviceAddressInfo address{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
        address.buffer = buffer.handle_;
        buffer.address_ = vk.GetBufferDeviceAddress(device.handle(), &address);
    }
    return buffer;
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(memory_, other.memory_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(usage_, other.usage_);
    std::swap(address_, other.address_);
    std::swap(data_, other.data_);
    return *this;
}

void Buffer::reset() {
    if (!device_) return;
    if (handle_) device_->vk().DestroyBuffer(device_->handle(), handle_, nullptr);
    if (memory_) device_->vk().FreeMemory(device_->handle(), memory_, nullptr);
    device_ = nullptr;
    handle_ = VK_NULL_HANDLE;
    memory_ = VK_NULL_HANDLE;
    size_bytes_ = 0;
    usage_ = 0;
    address_ = 0;
    data_ = nullptr;
}

}  // namespace hearth::standalone
