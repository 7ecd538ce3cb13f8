// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates a VkInstance, with validation layers on request and all their messages kept.

#pragma once

#include "vulkan_api.hpp"

#include <hearth/hearth.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace hearth::standalone {

/// One warning or error of the validation layers.
struct ValidationMessage {
    bool is_error = false;
    std::string id;    ///< "VUID-..." or "SYNC-HAZARD-..."
    std::string text;  ///< verbatim
};

/// Collects validation messages.  Any thread.
class ValidationLog {
  public:
    void add(ValidationMessage message);
    uint32_t count() const;
    /// Returns the messages so far and clears the log.
    std::vector<ValidationMessage> take();

  private:
    mutable std::mutex mutex_;
    std::vector<ValidationMessage> messages_;
};

struct InstanceOptions {
    /// Core, synchronization and thread-safety validation; an error if the layer is not installed.
    bool validation = false;
    /// Also print each validation message to stderr.
    bool print_messages = true;
    /// VK_KHR_surface and VK_EXT_headless_surface if the driver has them.
    bool headless_surface = false;
    /// Required extensions (those of a window system, for example).
    std::vector<std::string> extensions;
    const char* application_name = "hearth";
    /// VkApplicationInfo::apiVersion, at least 1.1; lower if the loader does not support it.
    uint32_t api_version = VK_API_VERSION_1_3;
};

/// Owns a VkInstance. Must outlive every Device created from it.
class Instance {
  public:
    static Result<std::unique_ptr<Instance>> create(const InstanceOptions& options = {});
    /// Uses this machine's CPU instead of a Vulkan driver: one physical device, and no loader is
    /// opened.
    /// Errors: as hearth_context_create_cpu.
    static Result<std::unique_ptr<Instance>> create_native(
        const hearth_cpu_context_create_info& info = hearth_cpu_context_create_info_default());
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    const VulkanApi& vk() const { return vk_; }
    VkInstance handle() const { return handle_; }
    /// The version the instance was created for (VkApplicationInfo::apiVersion).
    uint32_t api_version() const { return api_version_; }
    std::span<const VkPhysicalDevice> physical_devices() const { return physical_devices_; }
    std::span<const char* const> enabled_extensions() const { return extension_names_; }
    bool has_extension(const char* name) const;
    bool is_validating() const { return is_validating_; }
    /// True if extensions of this version of Vulkan's headers can be used: an older validation
    /// layer would report each use as an error.
    bool knows_headers(uint32_t version) const {
        return !is_validating_ || validation_version_ >= version;
    }
    ValidationLog& messages() { return messages_; }

  private:
    Instance() = default;

    VulkanApi vk_;
    VkInstance handle_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    uint32_t api_version_ = 0;
    bool is_validating_ = false;
    uint32_t validation_version_ = 0;
    bool print_messages_ = true;
    std::vector<VkPhysicalDevice> physical_devices_;
    std::vector<std::string> extensions_;
    std::vector<const char*> extension_names_;
    ValidationLog messages_;
    std::shared_ptr<void> native_;  ///< owns the object behind a CPU device's handles

    static VkBool32 VKAPI_PTR on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT* data,
                                         void* user_data);
};

}  // namespace hearth::standalone
