// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates Vulkan instances and collects validation messages.

#include "instance.hpp"

#include "device/native/device.hpp"
#include "native_functions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace hearth::standalone {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

bool contains(std::span<const VkExtensionProperties> available, const char* name) {
    return std::ranges::any_of(available, [name](const VkExtensionProperties& extension) {
        return std::strcmp(extension.extensionName, name) == 0;
    });
}

std::vector<VkExtensionProperties> instance_extensions(const VulkanApi& vk, const char* layer) {
    uint32_t count = 0;
    vk.EnumerateInstanceExtensionProperties(layer, &count, nullptr);
    std::vector<VkExtensionProperties> extensions(count);
    vk.EnumerateInstanceExtensionProperties(layer, &count, extensions.data());
    extensions.resize(count);
    return extensions;
}

/// Vulkan version that the layer was written for; 0 if it is not installed.
uint32_t layer_version(const VulkanApi& vk, const char* name) {
    uint32_t count = 0;
    vk.EnumerateInstanceLayerProperties(&count, nullptr);
    std::vector<VkLayerProperties> layers(count);
    vk.EnumerateInstanceLayerProperties(&count, layers.data());
    for (const VkLayerProperties& layer : layers)
        if (std::strcmp(layer.layerName, name) == 0) return layer.specVersion;
    return 0;
}

}  // namespace

void ValidationLog::add(ValidationMessage message) {
    const std::scoped_lock lock(mutex_);
    messages_.push_back(std::move(message));
}

uint32_t ValidationLog::count() const {
    const std::scoped_lock lock(mutex_);
    return static_cast<uint32_t>(messages_.size());
}

std::vector<ValidationMessage> ValidationLog::take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(messages_, {});
}

VkBool32 VKAPI_PTR Instance::on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                        VkDebugUtilsMessageTypeFlagsEXT types,
                                        const VkDebugUtilsMessengerCallbackDataEXT* data,
                                        void* user_data) {
    // The loader reports here, too ("general"), about drivers that do not fit this machine.
    if (types == VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT) return VK_FALSE;
    auto& self = *static_cast<Instance*>(user_data);
    const bool is_error = (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0;
    if (self.print_messages_) std::fprintf(stderr, "validation: %s\n", data->pMessage);
    self.messages_.add({.is_error = is_error,
                        .id = data->pMessageIdName ? data->pMessageIdName : "",
                        .text = data->pMessage ? data->pMessage : ""});
    return VK_FALSE;
}

Result<std::unique_ptr<Instance>> Instance::create(const InstanceOptions& options) {
    HEARTH_ASSIGN(const VulkanApi vk, open_vulkan());
    uint32_t loader_version = 0;
    vk.EnumerateInstanceVersion(&loader_version);
    if (loader_version < VK_API_VERSION_1_1) {
        return unsupported("the Vulkan loader knows only Vulkan " +
                           std::to_string(VK_API_VERSION_MAJOR(loader_version)) + "." +
                           std::to_string(VK_API_VERSION_MINOR(loader_version)) +
                           "; 1.1 is needed");
    }

    std::unique_ptr<Instance> self(new Instance);
    self->vk_ = vk;
    self->api_version_ = std::min(loader_version, options.api_version);
    self->is_validating_ = options.validation;
    self->print_messages_ = options.print_messages;

    const std::vector<VkExtensionProperties> available = instance_extensions(vk, nullptr);
    for (const std::string& name : options.extensions) {
        if (!contains(available, name.c_str())) {
            return unsupported("instance extension " + name + " is not available");
        }
        self->extensions_.push_back(name);
    }
    const auto enable_if_available = [&](const char* name) {
        if (contains(available, name) &&
            std::ranges::find(self->extensions_, name) == self->extensions_.end()) {
            self->extensions_.emplace_back(name);
        }
    };
    enable_if_available(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (options.headless_surface && contains(available, VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME)) {
        enable_if_available(VK_KHR_SURFACE_EXTENSION_NAME);
        enable_if_available(VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME);
    }
    std::vector<const char*> layers;
    if (options.validation) {
        self->validation_version_ = layer_version(vk, kValidationLayer);
        if (self->validation_version_ == 0) {
            return unsupported(std::string(kValidationLayer) +
                               " is not installed (on Debian: apt-get install "
                               "vulkan-validationlayers)");
        }
        layers.push_back(kValidationLayer);
        if (!contains(instance_extensions(vk, kValidationLayer),
                      VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) {
            return unsupported(std::string(kValidationLayer) + " has no " +
                               VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
        }
        self->extensions_.emplace_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
    }
    for (const std::string& name : self->extensions_) {
        self->extension_names_.push_back(name.c_str());
    }

    // Core and thread-safety checks are on by default; synchronization validation must be enabled.
    const VkValidationFeatureEnableEXT enables[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
    features.enabledValidationFeatureCount = 1;
    features.pEnabledValidationFeatures = enables;
    VkDebugUtilsMessengerCreateInfoEXT messenger{
        VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                            VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT |
                            VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
    messenger.pfnUserCallback = on_message;
    messenger.pUserData = self.get();
    features.pNext = &messenger;

    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.pApplicationName = options.application_name;
    application.apiVersion = self->api_version_;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pNext = options.validation ? &features : nullptr;
    info.pApplicationInfo = &application;
    info.enabledLayerCount = static_cast<uint32_t>(layers.size());
    info.ppEnabledLayerNames = layers.data();
    info.enabledExtensionCount = static_cast<uint32_t>(self->extension_names_.size());
    info.ppEnabledExtensionNames = self->extension_names_.data();
    const VkResult result = vk.CreateInstance(&info, nullptr, &self->handle_);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        return unsupported(
            "the Vulkan loader found no driver (on Debian: apt-get install mesa-vulkan-drivers "
            "gives a software one)");
    }
    HEARTH_TRY(check_vulkan(result, "vkCreateInstance"));
    self->vk_.load_instance(self->handle_);

    if (options.validation) {
        HEARTH_TRY(check_vulkan(self->vk_.CreateDebugUtilsMessengerEXT(self->handle_, &messenger,
                                                                       nullptr, &self->messenger_),
                                "vkCreateDebugUtilsMessengerEXT"));
    }
    uint32_t count = 0;
    HEARTH_TRY(check_vulkan(self->vk_.EnumeratePhysicalDevices(self->handle_, &count, nullptr),
                            "vkEnumeratePhysicalDevices"));
    self->physical_devices_.resize(count);
    HEARTH_TRY(check_vulkan(
        self->vk_.EnumeratePhysicalDevices(self->handle_, &count, self->physical_devices_.data()),
        "vkEnumeratePhysicalDevices"));
    return self;
}

Result<std::unique_ptr<Instance>> Instance::create_native(
    const hearth_cpu_context_create_info& info) {
    const auto device = std::make_shared<native::Device>();
    gpu::Problems problems;
    if (!device->init(info, problems)) return unsupported(problems.text.c_str());
    std::unique_ptr<Instance> self(new Instance);
    self->native_ = device;
    self->handle_ = device->instance();
    self->api_version_ = VK_API_VERSION_1_2;
    self->vk_.GetInstanceProcAddr = native_instance_proc;
    self->vk_.load_instance(self->handle_);
    self->physical_devices_ = {device->physical_device()};
    return self;
}

Instance::~Instance() {
    if (messenger_) vk_.DestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
    if (handle_) vk_.DestroyInstance(handle_, nullptr);
}

bool Instance::has_extension(const char* name) const {
    return std::ranges::find(extensions_, name) != extensions_.end();
}

}  // namespace hearth::standalone
