// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The handshake: requirements, feature chains, what the host enabled and what it did not, its
// hooks.

#include "device/vulkan/requirements.hpp"
#include "gpu/rig.hpp"
#include "support/vulkan_shim.hpp"

#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

namespace hearth::test {
namespace {

class Adopt : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        VulkanShim::get().reset();
    }
    hearth_device_requirements_info query() {
        hearth_device_requirements_info q = hearth_device_requirements_info_default();
        q.instance = instance().handle();
        q.physical_device = device().physical_device();
        q.get_instance_proc_addr = instance().vk().GetInstanceProcAddr;
        q.api_version = device().api_version();
        q.binding_model = device().host_info().binding_model;
        return q;
    }
    /// What hearth_context_create has to say to this host info.
    std::string problems_of(const hearth_context_create_info& info) {
        hearth_context* context = nullptr;
        hearth_messages report{};
        EXPECT_LT(hearth_context_create(&info, &context, &report), 0);
        EXPECT_EQ(context, nullptr);
        return report.text;
    }
};

TEST_F(Adopt, RequirementsNameWhatTheBindingModelNeeds) {
    hearth_device_requirements_info q = query();
    q.binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    const hearth_requirements addresses = get_device_requirements(q).value();
    EXPECT_EQ(addresses.required_features, HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS);
    // In the core since 1.2.
    const bool is_extension = q.api_version < VK_API_VERSION_1_2;
    ASSERT_EQ(addresses.required_extension_count, is_extension ? 1u : 0u);
    if (is_extension) {
        EXPECT_STREQ(addresses.required_extensions[0], "VK_KHR_buffer_device_address");
    }
    EXPECT_EQ(addresses.min_api_version, VK_API_VERSION_1_1);
    q.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
    const hearth_requirements descriptors = get_device_requirements(q).value();
    EXPECT_EQ(descriptors.required_features, 0u);
    ASSERT_EQ(descriptors.required_extension_count, 1u);
    EXPECT_STREQ(descriptors.required_extensions[0], "VK_KHR_push_descriptor");
    q.api_version = VK_API_VERSION_1_0;
    const auto old = get_device_requirements(q);
    ASSERT_FALSE(old.ok());
    EXPECT_EQ(old.status().message(),
              "HEARTH_ERROR_UNSUPPORTED: Vulkan 1.1 or newer is required, the version in use is "
              "1.0; create the instance with a newer apiVersion, or update the driver");
}

/// A device of Vulkan 1.1, as a host's table of functions shows it: the functions of the one that
/// there is, and some extensions, but none by which kernels could find their operands.
struct Vulkan11 {
    static inline PFN_vkGetInstanceProcAddr real = nullptr;
    static constexpr const char* kExtensions[] = {
        "VK_KHR_8bit_storage", "VK_KHR_shader_float16_int8", "VK_KHR_timeline_semaphore"};

    static VkResult VKAPI_PTR list_extensions(VkPhysicalDevice, const char*, uint32_t* count,
                                              VkExtensionProperties* out) {
        *count = static_cast<uint32_t>(std::size(kExtensions));
        if (out == nullptr) return VK_SUCCESS;
        for (size_t i = 0; i < std::size(kExtensions); ++i) {
            out[i] = {};
            std::strcpy(out[i].extensionName, kExtensions[i]);
        }
        return VK_SUCCESS;
    }
    static void VKAPI_PTR tell_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* p) {
        const auto tell = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
            real(instance, "vkGetPhysicalDeviceProperties2"));
        tell(device, p);
        p->properties.apiVersion = VK_API_VERSION_1_1;
    }
    /// Asks only for what 1.1 and the extensions have, of which this device has nothing.
    static void VKAPI_PTR tell_features(VkPhysicalDevice, VkPhysicalDeviceFeatures2* chain) {
        constexpr VkStructureType kKnown[] = {
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
        chain->features = {};
        for (auto* s = static_cast<VkBaseOutStructure*>(chain->pNext); s != nullptr; s = s->pNext)
            EXPECT_NE(std::find(std::begin(kKnown), std::end(kKnown), s->sType), std::end(kKnown))
                << s->sType << ": neither Vulkan 1.1 nor the extensions have this struct";
    }
    static PFN_vkVoidFunction VKAPI_PTR get_proc(VkInstance host, const char* name) {
        const std::string_view asked = name;
        if (asked == "vkEnumerateDeviceExtensionProperties")
            return reinterpret_cast<PFN_vkVoidFunction>(&list_extensions);
        if (asked == "vkGetPhysicalDeviceProperties2")
            return reinterpret_cast<PFN_vkVoidFunction>(&tell_properties);
        if (asked == "vkGetPhysicalDeviceFeatures2")
            return reinterpret_cast<PFN_vkVoidFunction>(&tell_features);
        return real(host, name);
    }
    static inline VkInstance instance = VK_NULL_HANDLE;
};

TEST_F(Adopt, ADeviceOfVulkan11WithoutTheExtensionsIsRefusedWithEverythingThatIsMissing) {
    Vulkan11::real = instance().vk().GetInstanceProcAddr;
    Vulkan11::instance = instance().handle();
    hearth_device_requirements_info q = query();
    q.get_instance_proc_addr = Vulkan11::get_proc;
    q.api_version = VK_API_VERSION_1_1;
    q.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
    q.allow_untrusted_programs = 1;
    const auto refused = get_device_requirements(q);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().message(),
              "HEARTH_ERROR_UNSUPPORTED: device extension VK_KHR_push_descriptor is required, and "
              "the device does not support it; update the driver or choose another device; feature "
              "robustBufferAccess is required, and the device does not support it; update the "
              "driver or choose another device; device extension VK_EXT_robustness2 is required, "
              "and the device does not support it; update the driver or choose another device");
    q.binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    q.allow_untrusted_programs = 0;
    EXPECT_EQ(
        get_device_requirements(q).status().message(),
        "HEARTH_ERROR_UNSUPPORTED: device extension VK_KHR_buffer_device_address is required, and "
        "the device does not support it; update the driver or choose another device");

    hearth_context_create_info info = device().host_info();
    info.get_instance_proc_addr = Vulkan11::get_proc;
    info.api_version = VK_API_VERSION_1_1;
    info.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
    info.device_extensions = Vulkan11::kExtensions;
    info.device_extension_count = static_cast<uint32_t>(std::size(Vulkan11::kExtensions));
    info.features = 0;
    info.queue_family_index = 77;
    const std::string text = problems_of(info);
    EXPECT_NE(
        text.find(
            "device extension VK_KHR_push_descriptor is required, but not listed as enabled; "
            "enable it when you create the device, and list "
            "it\nhearth_context_create_info::queue_family_index is 77, expected less than the "),
        std::string::npos)
        << text;
    info.binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    const std::string addresses = problems_of(info);
    EXPECT_NE(
        addresses.find("feature bufferDeviceAddress is required, but not listed as enabled; enable "
                       "it when you create the device (hearth_enable_features), and list "
                       "it\ndevice extension VK_KHR_buffer_device_address is required, but not "
                       "listed as enabled; enable it when you create the device, and list it\n"),
        std::string::npos)
        << addresses;
}

TEST_F(Adopt, AnOlderApiVersionAsksForTheExtensionOfALaterFeature) {
    hearth_device_requirements_info q = query();
    q.api_version = VK_API_VERSION_1_2;
    const hearth_requirements r = get_device_requirements(q).value();
    if ((r.optional_features & HEARTH_FEATURE_SYNCHRONIZATION_2) == 0)
        GTEST_SKIP() << "the device has no synchronization2";
    const std::span<const char* const> names(r.optional_extensions, r.optional_extension_count);
    EXPECT_TRUE(gpu::contains(names, "VK_KHR_synchronization2"));
}

TEST_F(Adopt, FeatureChainsAreEditedInPlaceAndCompletedFromTheHostsStorage) {
    const hearth_features wanted = HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS |
                                   HEARTH_FEATURE_SYNCHRONIZATION_2 |
                                   HEARTH_FEATURE_SHADER_FLOAT16 | HEARTH_FEATURE_SHADER_INT64;
    VkPhysicalDeviceVulkan12Features features12{};
    features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features12.timelineSemaphore = VK_TRUE;
    VkPhysicalDeviceFeatures2 chain{};
    chain.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    chain.pNext = &features12;
    size_t bytes = 0;
    ASSERT_EQ(hearth_enable_features(wanted, VK_API_VERSION_1_3, &chain, nullptr, &bytes),
              HEARTH_OK);
    EXPECT_GT(bytes, 0u);
    EXPECT_FALSE(features12.bufferDeviceAddress);
    std::vector<uint64_t> storage(bytes / 8);
    size_t too_small = bytes - 8;
    EXPECT_EQ(
        hearth_enable_features(wanted, VK_API_VERSION_1_3, &chain, storage.data(), &too_small),
        HEARTH_ERROR_OUT_OF_RANGE);
    EXPECT_FALSE(features12.bufferDeviceAddress);
    ASSERT_EQ(hearth_enable_features(wanted, VK_API_VERSION_1_3, &chain, storage.data(), &bytes),
              HEARTH_OK);
    EXPECT_TRUE(features12.bufferDeviceAddress);
    EXPECT_TRUE(features12.shaderFloat16);
    EXPECT_TRUE(features12.timelineSemaphore);
    EXPECT_FALSE(features12.hostQueryReset);
    EXPECT_TRUE(chain.features.shaderInt64);
    EXPECT_FALSE(chain.features.shaderInt16);
    std::set<VkStructureType> seen;
    for (auto* s = reinterpret_cast<VkBaseOutStructure*>(&chain); s != nullptr; s = s->pNext)
        EXPECT_TRUE(seen.insert(s->sType).second) << s->sType;
    EXPECT_TRUE(seen.count(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES));
    EXPECT_EQ(seen.size(), 3u);
}

TEST_F(Adopt, TheCppWrapperEnablesFeaturesWithAndWithoutStructsOfItsOwn) {
    VkPhysicalDeviceVulkan12Features features12{};
    features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    VkPhysicalDeviceFeatures2 chain{};
    chain.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    chain.pNext = &features12;
    // All structs are in the chain, so nothing needs to be stored.
    ASSERT_TRUE(enable_features(HEARTH_FEATURE_SHADER_FLOAT16, VK_API_VERSION_1_3, &chain).ok());
    EXPECT_TRUE(features12.shaderFloat16);
    const auto storage =
        enable_features(HEARTH_FEATURE_SYNCHRONIZATION_2, VK_API_VERSION_1_3, &chain);
    ASSERT_TRUE(storage.ok()) << storage.status().message();
    EXPECT_EQ(get_enabled_features(&chain),
              HEARTH_FEATURE_SHADER_FLOAT16 | HEARTH_FEATURE_SYNCHRONIZATION_2);
    EXPECT_EQ(get_enabled_features(nullptr), 0u);
    VkPhysicalDeviceFeatures2 empty{};
    EXPECT_EQ(enable_features(0, VK_API_VERSION_1_3, &empty).status().code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(feature_name(HEARTH_FEATURE_SHADER_FLOAT16), "shaderFloat16");
    EXPECT_EQ(feature_name(HEARTH_FEATURE_SHADER_FLOAT16 | HEARTH_FEATURE_SYNCHRONIZATION_2), "");
}

TEST_F(Adopt, FeaturesAreEnabledInAChainWithoutAHead) {
    // As of an engine that passes pEnabledFeatures and chains other structs.
    VkPhysicalDeviceVulkan12Features features12{};
    features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    const auto storage =
        enable_features(HEARTH_FEATURE_SHADER_FLOAT16 | HEARTH_FEATURE_SYNCHRONIZATION_2,
                        VK_API_VERSION_1_3, &features12);
    ASSERT_TRUE(storage.ok()) << storage.status().message();
    EXPECT_TRUE(features12.shaderFloat16);
    EXPECT_EQ(get_enabled_features(&features12),
              HEARTH_FEATURE_SHADER_FLOAT16 | HEARTH_FEATURE_SYNCHRONIZATION_2);
    for (auto* s = static_cast<const VkBaseInStructure*>(features12.pNext); s; s = s->pNext)
        EXPECT_NE(s->sType, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
            << "only features of Vulkan 1.0 need it, and it excludes pEnabledFeatures";
}

TEST_F(Adopt, WithoutAChainTheStorageIsAListOfStructsToChain) {
    const hearth_features wanted =
        HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS | HEARTH_FEATURE_SYNCHRONIZATION_2 |
        HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL | HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS |
        HEARTH_FEATURE_SHADER_INT64;
    const auto storage = enable_features(wanted, VK_API_VERSION_1_3, nullptr);
    ASSERT_TRUE(storage.ok()) << storage.status().message();
    EXPECT_EQ(get_enabled_features(storage->data()), wanted);
    std::set<VkStructureType> seen;
    for (auto* s = reinterpret_cast<const VkBaseInStructure*>(storage->data()); s; s = s->pNext)
        EXPECT_TRUE(seen.insert(s->sType).second) << s->sType;
    EXPECT_EQ(seen, (std::set<VkStructureType>{
                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2}));
}

TEST_F(Adopt, AnExtensionThatTheDeviceDoesNotHaveIsNamed) {
    hearth_context_create_info info = device().host_info();
    std::vector<const char*> extensions(info.device_extensions,
                                        info.device_extensions + info.device_extension_count);
    extensions.push_back("VK_KHR_swapchian");
    info.device_extensions = extensions.data();
    info.device_extension_count = static_cast<uint32_t>(extensions.size());
    std::string logged;
    info.callback_user_data = &logged;
    info.log = [](void* user_data, hearth_log_level level, const char*, const char* message) {
        EXPECT_EQ(level, HEARTH_LOG_WARNING);
        *static_cast<std::string*>(user_data) += message;
    };
    hearth_context* context = nullptr;
    hearth_messages messages{};
    // No error: layers provide extensions that the device does not list.
    ASSERT_EQ(hearth_context_create(&info, &context, &messages), HEARTH_OK);
    EXPECT_EQ(messages.message_count, 1u);
    EXPECT_STREQ(messages.text,
                 "device extension VK_KHR_swapchian is listed as enabled, and the device does not "
                 "have it; check its spelling, unless a layer provides it");
    EXPECT_EQ(logged, messages.text);
    EXPECT_EQ(hearth_context_destroy(context), HEARTH_OK);
}

TEST_F(Adopt, FeaturesAreReadFromWhateverChainADeviceWasCreatedWith) {
    EXPECT_EQ(hearth_get_enabled_features(nullptr, nullptr), 0u);
    // Each feature by itself, from where patching puts it.
    for (int bit = 0; bit < HEARTH_FEATURE_COUNT; ++bit) {
        const hearth_features feature = hearth_features{1} << bit;
        VkPhysicalDeviceFeatures2 chain{};
        chain.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
        uint64_t storage[64];
        size_t bytes = sizeof storage;
        ASSERT_EQ(hearth_enable_features(feature, VK_API_VERSION_1_3, &chain, storage, &bytes),
                  HEARTH_OK);
        EXPECT_EQ(hearth_get_enabled_features(&chain, nullptr), feature)
            << hearth_feature_name(feature);
        const bool is_of_1_0 = (HEARTH_FEATURES_OF_VULKAN_1_0 & feature) != 0;
        EXPECT_EQ(hearth_get_enabled_features(nullptr, &chain.features) == feature, is_of_1_0)
            << hearth_feature_name(feature);
    }
    // Gathered structs, one that Hearth does not know between them, and the list of Vulkan 1.0
    // beside the chain.
    VkPhysicalDeviceVulkan13Features features13{};
    features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    features13.synchronization2 = VK_TRUE;
    VkDeviceQueueGlobalPriorityCreateInfoKHR other{};
    other.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR;
    other.pNext = &features13;
    VkPhysicalDeviceVulkan12Features features12{};
    features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features12.pNext = &other;
    features12.bufferDeviceAddress = features12.timelineSemaphore = VK_TRUE;
    VkPhysicalDeviceFeatures enabled{};
    enabled.shaderInt64 = enabled.geometryShader = VK_TRUE;
    EXPECT_EQ(hearth_get_enabled_features(&features12, &enabled),
              HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS | HEARTH_FEATURE_TIMELINE_SEMAPHORE |
                  HEARTH_FEATURE_SYNCHRONIZATION_2 | HEARTH_FEATURE_SHADER_INT64);
}

TEST_F(Adopt, AllProblemsOfAHandshakeAreReportedTogether) {
    hearth_context_create_info info = device().host_info();
    info.device = VK_NULL_HANDLE;
    info.api_version = VK_API_VERSION_1_0;
    EXPECT_EQ(problems_of(info),
              "hearth_context_create_info::device is null\nVulkan 1.1 or newer is required, "
              "hearth_context_create_info::api_version is 1.0");

    info = device().host_info();
    info.binding_model = HEARTH_BINDING_DEVICE_ADDRESS;
    info.features = uint64_t{1} << 40;
    info.queue_family_index = 77;
    const std::string text = problems_of(info);
    for (const char* problem :
         {"feature bufferDeviceAddress is required, but not listed as enabled; enable it when you "
          "create the device (hearth_enable_features), and list it\n",
          "hearth_context_create_info::features has bits unknown to this version; use the header "
          "of this library\nhearth_context_create_info::queue_family_index is 77, expected less "
          "than the "})
        EXPECT_NE(text.find(problem), std::string::npos) << problem << "in\n" << text;
}

TEST_F(Adopt, WhatTheHostDidNotListIsNotUsedEvenIfItsFunctionsExist) {
    hearth_context_create_info info = device().host_info();
    if ((info.features & HEARTH_FEATURE_SYNCHRONIZATION_2) == 0)
        GTEST_SKIP() << "synchronization2 is not enabled";
    RigOptions options;
    options.host = [](hearth_context_create_info& host) {
        VulkanShim::get().intercept(host);
        host.features &= ~(HEARTH_FEATURE_SYNCHRONIZATION_2 | HEARTH_FEATURE_HOST_QUERY_RESET);
        host.instance_extension_count = 0;
    };
    options.session = [](hearth_session_create_info& session) {
        session.flags = HEARTH_SESSION_TIMESTAMP_COMMANDS;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    TestReference reference;
    const std::vector<float> x = test_values(2 * kWidth, 1);
    EXPECT_EQ(rig->learn(x, 0.5f), reference.learn(x, 0.5f));
    VulkanShim& shim = VulkanShim::get();
    EXPECT_GT(shim.calls[kCmdPipelineBarrier], 0u);
    EXPECT_EQ(shim.calls[kCmdPipelineBarrier2], 0u);
    EXPECT_EQ(shim.calls[kResetQueryPool], 0u);
    EXPECT_EQ(shim.calls[kSetDebugUtilsObjectNameEXT], 0u);
    EXPECT_EQ(shim.calls[kCmdBeginDebugUtilsLabelEXT], 0u);
}

TEST_F(Adopt, LabelsAreBalancedAndOnlyThereIfDebugUtilsIsEnabled) {
    RigOptions options;
    options.host = [](hearth_context_create_info& host) { VulkanShim::get().intercept(host); };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    (void)rig->learn(test_values(kWidth, 1), 0.5f);
    VulkanShim& shim = VulkanShim::get();
    const std::span<const char* const> extensions = instance().enabled_extensions();
    // Session, entry and seven steps.
    const uint64_t expected = gpu::contains(extensions, "VK_EXT_debug_utils") ? 9 : 0;
    EXPECT_EQ(shim.calls[kCmdBeginDebugUtilsLabelEXT], expected);
    EXPECT_EQ(shim.calls[kCmdEndDebugUtilsLabelEXT], expected);
}

TEST_F(Adopt, HearthAsksForNoFunctionThatSubmitsWaitsOrMakesDevices) {
    RigOptions options;
    options.host = [](hearth_context_create_info& host) { VulkanShim::get().intercept(host); };
    options.session = [](hearth_session_create_info& session) {
        session.flags = HEARTH_SESSION_TIMESTAMP_RUNS | HEARTH_SESSION_ALLOW_STAGING_COPIES;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    (void)rig->learn(test_values(kWidth, 1), 0.5f);
    (void)rig->read_slot(kStateVariable);
    EXPECT_TRUE(VulkanShim::get().unexpected.empty()) << *VulkanShim::get().unexpected.begin();
    EXPECT_GT(VulkanShim::get().total_calls(), 50u);
}

TEST_F(Adopt, LearnRecordsOneBarrierForEachOfTheProgramAndOneAtEachEdge) {
    RigOptions options;
    options.host = [](hearth_context_create_info& host) { VulkanShim::get().intercept(host); };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    VulkanShim& shim = VulkanShim::get();
    shim.reset();
    (void)rig->learn(test_values(kWidth, 1), 0.5f);
    EXPECT_EQ(shim.calls[kCmdPipelineBarrier] + shim.calls[kCmdPipelineBarrier2], 4u + 2u);
    EXPECT_EQ(shim.calls[kCmdDispatch], 5u);
    EXPECT_EQ(shim.calls[kCmdCopyBuffer], 1u);
    EXPECT_EQ(shim.calls[kCmdFillBuffer], 1u);
}

TEST_F(Adopt, DeviceMemoryComesFromTheHostsHooksAndGoesBack) {
    struct Host {
        standalone::Device* device;
        uint64_t live = 0, total = 0, bytes = 0;
        std::set<std::string> names;
    } host{&device()};
    hearth_device_memory_callbacks hooks{};
    hooks.user_data = &host;
    hooks.allocate = [](void* user, const hearth_device_memory_allocate_info* request,
                        hearth_memory_block* out) {
        Host& h = *static_cast<Host*>(user);
        const standalone::VulkanApi& vk = h.device->vk();
        VkMemoryAllocateFlagsInfo flags{};
        flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
        flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        VkMemoryAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        info.pNext = request->device_address != 0 ? &flags : nullptr;
        // An offset of its own, as a sub-allocator would give.
        out->offset = request->alignment;
        info.allocationSize = request->size_bytes + out->offset;
        info.memoryTypeIndex =
            h.device->find_memory_type(request->memory_type_bits, request->required_properties);
        if (vk.AllocateMemory(h.device->handle(), &info, nullptr, &out->memory) != VK_SUCCESS)
            return HEARTH_ERROR_OUT_OF_DEVICE_MEMORY;
        if ((request->required_properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 &&
            vk.MapMemory(h.device->handle(), out->memory, out->offset, request->size_bytes, 0,
                         &out->mapped) != VK_SUCCESS)
            return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
        out->user_data = ++h.total;
        ++h.live;
        h.names.insert(request->name);
        return HEARTH_OK;
    };
    hooks.free = [](void* user, const hearth_memory_block* block) {
        Host& h = *static_cast<Host*>(user);
        EXPECT_GT(block->user_data, 0u);
        --h.live;
        h.device->vk().FreeMemory(h.device->handle(), block->memory, nullptr);
    };
    RigOptions options;
    options.host = [&](hearth_context_create_info& info) {
        VulkanShim::get().intercept(info);
        info.device_memory_callbacks = &hooks;
    };
    {
        const auto rig = make_rig(options);
        ASSERT_TRUE(rig);
        TestReference reference;
        const std::vector<float> x = test_values(2 * kWidth, 1);
        EXPECT_EQ(rig->learn(x, 0.5f), reference.learn(x, 0.5f));
        EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
        EXPECT_TRUE(host.names.count("hearth weights") && host.names.count("hearth arena"));
        EXPECT_EQ(VulkanShim::get().calls[kAllocateMemory], 0u);
    }
    EXPECT_GE(host.total, 6u);
    EXPECT_EQ(host.live, 0u);
}

TEST_F(Adopt, TheArenaMayLieInMemoryOfTheHostsTransients) {
    struct Host {
        standalone::Device* device;
        VkBuffer transient = VK_NULL_HANDLE;  // over the arena's memory
        uint64_t bytes = 0;
    } host{&device()};
    hearth_device_memory_callbacks hooks{};
    hooks.user_data = &host;
    hooks.allocate = [](void* user, const hearth_device_memory_allocate_info* request,
                        hearth_memory_block* out) {
        Host& h = *static_cast<Host*>(user);
        const standalone::VulkanApi& vk = h.device->vk();
        VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
        flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
        VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
        info.pNext = request->device_address != 0 ? &flags : nullptr;
        info.allocationSize = request->size_bytes;
        info.memoryTypeIndex =
            h.device->find_memory_type(request->memory_type_bits, request->required_properties);
        if (vk.AllocateMemory(h.device->handle(), &info, nullptr, &out->memory) != VK_SUCCESS)
            return HEARTH_ERROR_OUT_OF_DEVICE_MEMORY;
        if ((request->required_properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 &&
            vk.MapMemory(h.device->handle(), out->memory, 0, VK_WHOLE_SIZE, 0, &out->mapped) !=
                VK_SUCCESS)
            return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
        if (request->usage != HEARTH_MEMORY_ARENA || h.transient != VK_NULL_HANDLE)
            return HEARTH_OK;
        VkBufferCreateInfo buffer{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
        buffer.size = h.bytes = request->size_bytes / 4 * 4;
        buffer.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
        EXPECT_EQ(vk.CreateBuffer(h.device->handle(), &buffer, nullptr, &h.transient), VK_SUCCESS);
        VkMemoryRequirements needs{};
        vk.GetBufferMemoryRequirements(h.device->handle(), h.transient, &needs);
        EXPECT_EQ(needs.memoryTypeBits >> info.memoryTypeIndex & 1, 1u);
        EXPECT_EQ(vk.BindBufferMemory(h.device->handle(), h.transient, out->memory, 0), VK_SUCCESS);
        return HEARTH_OK;
    };
    hooks.free = [](void* user, const hearth_memory_block* block) {
        const Host& h = *static_cast<Host*>(user);
        h.device->vk().FreeMemory(h.device->handle(), block->memory, nullptr);
    };
    RigOptions options;
    options.host = [&](hearth_context_create_info& info) { info.device_memory_callbacks = &hooks; };
    {
        const auto rig = make_rig(options);
        ASSERT_TRUE(rig);
        ASSERT_GT(host.bytes, 0u) << "the test program has no intermediates";
        TestReference reference;
        for (uint64_t i = 0; i < 4; ++i) {
            const std::vector<float> x = test_values(2 * kWidth, i);
            rig->set_x(x);
            const float rate = 0.5f;
            rig->frame([&](VkCommandBuffer commands) {
                const standalone::VulkanApi& vk = device().vk();
                const auto order = [&](VkPipelineStageFlags from, VkPipelineStageFlags to) {
                    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
                    barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
                    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
                    vk.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0,
                                          nullptr);
                };
                const auto compute =
                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
                order(compute, VK_PIPELINE_STAGE_TRANSFER_BIT);
                vk.CmdFillBuffer(commands, host.transient, 0, host.bytes, 0xffffffffu);  // NaN
                order(VK_PIPELINE_STAGE_TRANSFER_BIT, compute);
                std::array<hearth_tensor_binding, 3> bounds;
                EXPECT_TRUE(rig->session.record(rig->learn_info(commands, 2, rate, bounds)).ok());
            });
            EXPECT_EQ(rig->get_y(2), reference.learn(x, rate)) << i;
        }
        EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
    }
    device().vk().DestroyBuffer(device().handle(), host.transient, nullptr);
}

// The hooks below hand out no memory at all, which shows only where it is used.
TEST_F(Adopt, MemoryThatIsNotWhatWasAskedForIsRefusedAndGivenBack) {
    struct Host {
        std::function<hearth_result(const hearth_device_memory_allocate_info&,
                                    hearth_memory_block&)>
            fill;
        int live = 0;
    } host;
    hearth_device_memory_callbacks hooks{};
    hooks.user_data = &host;
    hooks.allocate = [](void* user, const hearth_device_memory_allocate_info* request,
                        hearth_memory_block* out) {
        Host& h = *static_cast<Host*>(user);
        out->memory = reinterpret_cast<VkDeviceMemory>(uintptr_t{64});
        out->mapped = &h;
        const hearth_result result = h.fill(*request, *out);
        h.live += result == HEARTH_OK;
        return result;
    };
    hooks.free = [](void* user, const hearth_memory_block*) { --static_cast<Host*>(user)->live; };
    const BindingModel model = binding_model(device());
    const std::vector<std::byte> bytes =
        save_program(TestProgramBuilder(test_shaders(model), model).build());
    const auto error_with = [&](const auto& fill) {
        host.fill = fill;
        hearth_context_create_info info = device().host_info();
        info.device_memory_callbacks = &hooks;
        Context context = Context::create(info).value();
        const LoadedProgram program = LoadedProgram::load(context, bytes).value();
        const auto session = Session::create(context, program);
        EXPECT_EQ(host.live, 0);
        EXPECT_EQ(context.stats().device_bytes_total, 0u);
        return session.ok() ? std::string("ok") : std::string(session.status().message());
    };
    const auto starts_with = [](const std::string& text, const char* start) {
        EXPECT_TRUE(text.starts_with(start)) << text;
    };
    using Request = const hearth_device_memory_allocate_info&;
    using Block = hearth_memory_block&;
    starts_with(error_with([](Request, Block out) {
                    out.memory = VK_NULL_HANDLE;
                    return HEARTH_OK;
                }),
                "HEARTH_ERROR_INVALID_ARGUMENT: ");
    starts_with(error_with([](Request request, Block out) {
                    EXPECT_GT(request.alignment, 1u);
                    out.offset = request.alignment / 2;
                    return HEARTH_OK;
                }),
                "HEARTH_ERROR_INVALID_ARGUMENT: ");
    starts_with(error_with([](Request request, Block out) {
                    out.mapped = nullptr;
                    // Only memory for the host's eyes must be mapped: the rest fails otherwise.
                    const bool is_visible =
                        (request.required_properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
                    return is_visible ? HEARTH_OK : HEARTH_ERROR_OUT_OF_DEVICE_MEMORY;
                }),
                "HEARTH_ERROR_");
    starts_with(error_with([](Request, Block) { return HEARTH_NOT_READY; }),
                "HEARTH_ERROR_INTERNAL: ");
    starts_with(error_with([](Request, Block) { return HEARTH_ERROR_OUT_OF_DEVICE_MEMORY; }),
                "HEARTH_ERROR_OUT_OF_DEVICE_MEMORY: ");
}

TEST_F(Adopt, ABudgetIsKeptBeforeTheDriverIsAsked) {
    RigOptions options;
    uint64_t needed = 0;
    {
        const auto rig = make_rig(options);
        ASSERT_TRUE(rig);
        needed = rig->context.stats().device_bytes_total;
        (void)rig->act(test_values(kWidth, 1));
    }
    const BindingModel model = binding_model(device());
    const std::vector<std::byte> bytes =
        save_program(TestProgramBuilder(test_shaders(model), model).build());
    for (const uint64_t budget : {uint64_t{1}, needed / 2, needed - 1, needed + 4096}) {
        hearth_context_create_info info = device().host_info();
        info.device_memory_budget = budget;
        Context context = Context::create(info).value();
        const LoadedProgram program = LoadedProgram::load(context, bytes).value();
        const auto session = Session::create(context, program);
        EXPECT_EQ(session.ok(), budget >= needed) << budget;
        if (session.ok()) continue;
        EXPECT_NE(session.status().message().find("HEARTH_ERROR_BUDGET_EXCEEDED: session: hearth "),
                  std::string::npos)
            << session.status().message();
        EXPECT_EQ(context.stats().device_bytes_total, 0u);
    }
}

/// Vulkan's functions of a device that has each heap, and each memory type, twice.
struct TwiceTheHeaps {
    static inline PFN_vkGetInstanceProcAddr real_instance_proc = nullptr;
    static inline PFN_vkGetDeviceProcAddr real_device_proc = nullptr;
    static inline PFN_vkGetPhysicalDeviceMemoryProperties real_properties = nullptr;
    static inline PFN_vkGetBufferMemoryRequirements real_requirements = nullptr;
    static inline PFN_vkAllocateMemory real_allocate = nullptr;
    static inline uint32_t type_count = 0, heap_count = 0;

    static void VKAPI_PTR properties(VkPhysicalDevice device,
                                     VkPhysicalDeviceMemoryProperties* out) {
        real_properties(device, out);
        type_count = out->memoryTypeCount;
        heap_count = out->memoryHeapCount;
        for (uint32_t i = 0; i < type_count; ++i) {
            out->memoryTypes[type_count + i] = out->memoryTypes[i];
            out->memoryTypes[type_count + i].heapIndex += heap_count;
        }
        for (uint32_t i = 0; i < heap_count; ++i)
            out->memoryHeaps[heap_count + i] = out->memoryHeaps[i];
        out->memoryTypeCount = 2 * type_count;
        out->memoryHeapCount = 2 * heap_count;
    }
    static void VKAPI_PTR requirements(VkDevice device, VkBuffer buffer,
                                       VkMemoryRequirements* out) {
        real_requirements(device, buffer, out);
        out->memoryTypeBits |= out->memoryTypeBits << type_count;
    }
    static VkResult VKAPI_PTR allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                       const VkAllocationCallbacks* callbacks,
                                       VkDeviceMemory* out) {
        VkMemoryAllocateInfo once = *info;
        once.memoryTypeIndex %= type_count;
        return real_allocate(device, &once, callbacks, out);
    }
    template <class Function>
    static PFN_vkVoidFunction replace(PFN_vkVoidFunction found, Function& real, Function ours) {
        real = reinterpret_cast<Function>(found);
        return reinterpret_cast<PFN_vkVoidFunction>(ours);
    }
    static PFN_vkVoidFunction VKAPI_PTR instance_proc(VkInstance instance, const char* name) {
        const PFN_vkVoidFunction found = real_instance_proc(instance, name);
        if (std::string_view(name) == "vkGetPhysicalDeviceMemoryProperties")
            return replace(found, real_properties, &properties);
        return found;
    }
    static PFN_vkVoidFunction VKAPI_PTR device_proc(VkDevice device, const char* name) {
        const PFN_vkVoidFunction found = real_device_proc(device, name);
        if (std::string_view(name) == "vkGetBufferMemoryRequirements")
            return replace(found, real_requirements, &requirements);
        if (std::string_view(name) == "vkAllocateMemory")
            return replace(found, real_allocate, &allocate);
        return found;
    }
    static void intercept(hearth_context_create_info& info) {
        real_instance_proc = info.get_instance_proc_addr;
        real_device_proc = info.get_device_proc_addr;
        info.get_instance_proc_addr = instance_proc;
        info.get_device_proc_addr = device_proc;
    }
};

TEST_F(Adopt, TheBudgetOfAHeapIsKeptAndAnotherHeapTakesWhatItHasNoRoomFor) {
    VkPhysicalDeviceMemoryProperties memory{};
    device().instance().vk().GetPhysicalDeviceMemoryProperties(device().physical_device(), &memory);
    if (2 * memory.memoryTypeCount > VK_MAX_MEMORY_TYPES ||
        2 * memory.memoryHeapCount > VK_MAX_MEMORY_HEAPS)
        GTEST_SKIP() << "the device has too many memory types to have them twice";
    const BindingModel model = binding_model(device());
    const std::vector<std::byte> bytes =
        save_program(TestProgramBuilder(test_shaders(model), model).build());
    const auto held = [&](std::vector<uint64_t> budgets, bool expected) {
        hearth_context_create_info info = device().host_info();
        TwiceTheHeaps::intercept(info);
        std::copy(budgets.begin(), budgets.end(), info.heap_budgets);
        Context context = Context::create(info).value();
        const LoadedProgram program = LoadedProgram::load(context, bytes).value();
        const auto session = Session::create(context, program);
        EXPECT_EQ(session.ok(), expected);
        if (!session.ok()) {
            EXPECT_NE(session.status().message().find(
                          " of heap 0 exceed hearth_context_create_info::heap_budgets[0] of 1; "
                          "raise it or free memory"),
                      std::string::npos)
                << session.status().message();
            EXPECT_EQ(session.status().message().find("HEARTH_ERROR_BUDGET_EXCEEDED: session"), 0u)
                << session.status().message();
        }
        const hearth_context_stats stats = context.stats();
        const std::vector<uint64_t> of_heaps(stats.heap_bytes,
                                             stats.heap_bytes + HEARTH_HEAP_COUNT);
        EXPECT_EQ(std::accumulate(of_heaps.begin(), of_heaps.end(), uint64_t{0}),
                  stats.device_bytes_total);
        return of_heaps;
    };
    const std::vector<uint64_t> unlimited = held({}, true);
    const size_t heap = static_cast<size_t>(std::max_element(unlimited.begin(), unlimited.end()) -
                                            unlimited.begin());
    ASSERT_LT(heap, memory.memoryHeapCount) << "the first that will do";
    std::vector<uint64_t> budgets(HEARTH_HEAP_COUNT);
    budgets[heap] = unlimited[heap] / 2;
    const std::vector<uint64_t> halved = held(budgets, true);
    EXPECT_LE(halved[heap], budgets[heap]);
    EXPECT_GT(halved[heap + memory.memoryHeapCount], 0u);
    std::fill(budgets.begin(), budgets.end(), 1);
    const std::vector<uint64_t> refused = held(budgets, false);
    EXPECT_EQ(std::count(refused.begin(), refused.end(), 0u), HEARTH_HEAP_COUNT);

    // Whose hooks choose the heap keeps its budget.
    hearth_device_memory_callbacks hooks{};
    hooks.allocate = [](void*, const hearth_device_memory_allocate_info*, hearth_memory_block*) {
        return HEARTH_ERROR_OUT_OF_DEVICE_MEMORY;
    };
    hooks.free = [](void*, const hearth_memory_block*) {};
    hearth_context_create_info info = device().host_info();
    info.device_memory_callbacks = &hooks;
    info.heap_budgets[3] = 7;
    const auto context = Context::create(info);
    ASSERT_FALSE(context.ok());
    EXPECT_NE(context.status().message().find(
                  "hearth_context_create_info::heap_budgets[3] is 7, but device_memory_callbacks "
                  "choose the heap; leave the budgets 0"),
              std::string::npos)
        << context.status().message();
}

TEST_F(Adopt, PipelinesAreBuiltByTheHostsJobs) {
    std::vector<std::thread> threads;
    RigOptions options;
    options.build_pipelines = false;
    options.host = [&](hearth_context_create_info& info) {
        info.callback_user_data = &threads;
        info.submit_task = [](void* user, void (*job)(void*), void* data) {
            static_cast<std::vector<std::thread>*>(user)->emplace_back(job, data);
        };
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    EXPECT_TRUE(rig->session.create_pipelines_async().ok());
    EXPECT_EQ(threads.size(), 4u);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(rig->session.status().pipelines, HEARTH_OK);
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

TEST_F(Adopt, WithoutAJobCallbackAsynchronousBuildingIsRefused) {
    RigOptions options;
    options.build_pipelines = false;
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    EXPECT_EQ(hearth_session_create_pipelines_async(rig->session.handle()),
              HEARTH_ERROR_INVALID_STATE);
}

TEST_F(Adopt, AStructOfAnOlderHeaderIsReadAsFarAsItGoes) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    hearth_context_stats stats = hearth_context_stats_default();
    stats.size = 24;  // as if it ended after cpu_bytes_peak
    stats.device_bytes_total = 1234;
    EXPECT_EQ(hearth_context_get_stats(rig->context.handle(), &stats), HEARTH_OK);
    EXPECT_GT(stats.cpu_bytes, 0u);
    EXPECT_EQ(stats.device_bytes_total, 1234u);
    EXPECT_EQ(stats.size, 24u);
}

TEST_F(Adopt, VersionsOfAnotherMinorAreRefusedBeforeOnePointZero) {
    EXPECT_EQ(hearth_version(), uint32_t{HEARTH_VERSION});
    EXPECT_EQ(hearth_check_version(HEARTH_VERSION), HEARTH_OK);
    const uint32_t another = HEARTH_MAKE_VERSION(0, HEARTH_VERSION_MINOR + 1, 0);
    EXPECT_EQ(hearth_check_version(another), HEARTH_ERROR_VERSION_MISMATCH);
    EXPECT_EQ(hearth_check_version(HEARTH_MAKE_VERSION(0, HEARTH_VERSION_MINOR, 9)), HEARTH_OK);
    EXPECT_EQ(version(), uint32_t{HEARTH_VERSION});
    EXPECT_TRUE(check_version().ok());
    EXPECT_EQ(check_version(another).code(), StatusCode::kUnsupported);
    EXPECT_EQ(build_info(), hearth_build_info());
    EXPECT_EQ(detect_cpu_isa(), hearth_detect_cpu_isa());
}

/// A driver with 132 units and matrices of 16x16x16, and of workgroups of 128: what its functions
/// say.
struct DriverWithMatrices {
    static void VKAPI_CALL properties(VkPhysicalDevice, VkPhysicalDeviceProperties2* out) {
        for (auto* s = static_cast<VkBaseOutStructure*>(out->pNext); s != nullptr; s = s->pNext) {
            if (s->sType == gpu::kNvCooperativeMatrix2PropertiesType)
                reinterpret_cast<gpu::NvCooperativeMatrix2Properties*>(s)
                    ->cooperativeMatrixWorkgroupScopeReservedSharedMemory = 8192;
            if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV)
                reinterpret_cast<VkPhysicalDeviceShaderSMBuiltinsPropertiesNV*>(s)->shaderSMCount =
                    132;
        }
    }
    static VkResult VKAPI_CALL extensions(VkPhysicalDevice, const char*, uint32_t* count,
                                          VkExtensionProperties* out) {
        *count = 1;
        if (out != nullptr) *out = {VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME, 1};
        return VK_SUCCESS;
    }
    static VkResult VKAPI_CALL kinds(VkPhysicalDevice, uint32_t* count,
                                     gpu::KhrCooperativeMatrixProperties* out) {
        *count = 1;
        if (out == nullptr) return VK_SUCCESS;
        out->MSize = out->NSize = out->KSize = 16;
        out->AType = out->BType = VK_COMPONENT_TYPE_FLOAT16_NV;
        out->CType = out->ResultType = VK_COMPONENT_TYPE_FLOAT32_NV;
        out->scope = VK_SCOPE_SUBGROUP_NV;
        return VK_SUCCESS;
    }
    static VkResult VKAPI_CALL flexible_kinds(VkPhysicalDevice, uint32_t* count,
                                              gpu::NvFlexibleDimensionsProperties* out) {
        *count = 3;
        if (out == nullptr) return VK_SUCCESS;
        for (uint32_t i = 0; i < 3; ++i) {
            EXPECT_EQ(out[i].sType, gpu::kNvFlexibleDimensionsPropertiesType);
            out[i].MGranularity = 32;
            out[i].NGranularity = out[i].KGranularity = 16;
            out[i].AType = out[i].BType = VK_COMPONENT_TYPE_FLOAT16_NV;
            out[i].CType = out[i].ResultType =
                i == 0 ? VK_COMPONENT_TYPE_FLOAT16_NV : VK_COMPONENT_TYPE_FLOAT32_NV;
            out[i].scope = i == 1 ? VK_SCOPE_SUBGROUP_NV : VK_SCOPE_WORKGROUP_NV;
            out[i].workgroupInvocations = i == 1 ? 0 : 128;
        }
        return VK_SUCCESS;
    }
};

TEST(Caps, ListMatricesOfAWorkgroupWhereTheHostEnabledBothFeatures) {
    gpu::InstanceFunctions vk;
    vk.GetPhysicalDeviceProperties2 = DriverWithMatrices::properties;
    vk.EnumerateDeviceExtensionProperties = DriverWithMatrices::extensions;
    vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR = DriverWithMatrices::kinds;
    vk.GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV =
        DriverWithMatrices::flexible_kinds;
    constexpr hearth_features kSubgroup =
        HEARTH_FEATURE_SHADER_FLOAT16 | HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS |
        HEARTH_FEATURE_VULKAN_MEMORY_MODEL | HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR;
    constexpr hearth_features kScope = HEARTH_FEATURE_COOPERATIVE_MATRIX_WORKGROUP_SCOPE;
    constexpr hearth_features kSizes = HEARTH_FEATURE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS;
    const auto caps_with = [&](hearth_features enabled) {
        hearth_result result = HEARTH_ERROR_INTERNAL;
        const hearth_device_caps caps = gpu::query_caps(
            vk, VK_NULL_HANDLE, VK_API_VERSION_1_2, enabled, HEARTH_BINDING_DEVICE_ADDRESS, result);
        EXPECT_EQ(result, HEARTH_OK);
        return to_caps(caps);
    };
    const DeviceCaps all = caps_with(kSubgroup | kScope | kSizes);
    EXPECT_EQ(all.compute_units, 132u);
    EXPECT_EQ(all.cooperative_matrix, CooperativeMatrixExt::kKhr);
    EXPECT_EQ(all.workgroup_scope_granularities[0],
              (WorkgroupMatrixGranularity{128, {32, 16, 16}}));
    EXPECT_EQ(all.workgroup_scope_granularities[1].invocations, 0u);
    EXPECT_EQ(all.workgroup_scope_reserved_shared_memory, 8192u);
    for (const hearth_features less : {kSubgroup, kSubgroup | kScope, kSubgroup | kSizes})
        EXPECT_EQ(caps_with(less).workgroup_scope_granularities[0].invocations, 0u);
    EXPECT_EQ(caps_with(kScope | kSizes).workgroup_scope_granularities[0].invocations, 0u);
}

/// A driver that reports only who it is, and subgroups.
struct DriverWithIds {
    static inline uint32_t vendor, device, subgroup_size;
    static void VKAPI_CALL properties(VkPhysicalDevice, VkPhysicalDeviceProperties2* out) {
        out->properties.vendorID = vendor;
        out->properties.deviceID = device;
        out->properties.driverVersion = 0x01020304;
        for (auto* s = static_cast<VkBaseOutStructure*>(out->pNext); s != nullptr; s = s->pNext) {
            if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES)
                reinterpret_cast<VkPhysicalDeviceDriverProperties*>(s)->driverID =
                    VK_DRIVER_ID_MESA_TURNIP;
            if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
                auto& subgroups = *reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(s);
                subgroups.subgroupSize = subgroup_size;
                subgroups.supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
                subgroups.supportedOperations =
                    VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
            }
        }
    }
    static VkResult VKAPI_CALL extensions(VkPhysicalDevice, const char*, uint32_t* count,
                                          VkExtensionProperties*) {
        *count = 0;
        return VK_SUCCESS;
    }
};

DeviceCaps caps_by_ids(uint32_t vendor, uint32_t device, uint32_t subgroup_size = 32,
                       uint32_t api_version = VK_API_VERSION_1_2) {
    DriverWithIds::vendor = vendor;
    DriverWithIds::device = device;
    DriverWithIds::subgroup_size = subgroup_size;
    gpu::InstanceFunctions vk;
    vk.GetPhysicalDeviceProperties2 = DriverWithIds::properties;
    vk.EnumerateDeviceExtensionProperties = DriverWithIds::extensions;
    hearth_result result = HEARTH_ERROR_INTERNAL;
    const hearth_device_caps caps =
        gpu::query_caps(vk, VK_NULL_HANDLE, api_version, 0, HEARTH_BINDING_DEVICE_ADDRESS, result);
    EXPECT_EQ(result, HEARTH_OK);
    return to_caps(caps);
}

TEST(Caps, NameDeviceAndDriverById) {
    const DeviceCaps caps = caps_by_ids(0x5143, 0x43050a01);
    EXPECT_EQ(caps.vendor_id, 0x5143u);
    EXPECT_EQ(caps.device_id, 0x43050a01u);
    EXPECT_EQ(caps.driver_version, 0x01020304u);
    EXPECT_EQ(caps.driver_id, uint32_t{VK_DRIVER_ID_MESA_TURNIP});
    EXPECT_EQ(caps_by_ids(0x5143, 0x43050a01, 32, VK_API_VERSION_1_1).driver_id, 0u);
}

TEST(Caps, HaveTheUnitsOfCardsWhoseDriversDoNotReportThem) {
    EXPECT_EQ(caps_by_ids(0x8086, 0x56a0).compute_units, 32u);  // Arc A770
    EXPECT_EQ(caps_by_ids(0x8086, 0xe20b).compute_units, 20u);  // Arc B580
    EXPECT_EQ(caps_by_ids(0x8086, 0x9a49).compute_units, 0u);   // integrated
    EXPECT_EQ(caps_by_ids(0x1002, 0x56a0).compute_units, 0u);   // another vendor's
}

TEST(Caps, HaveNoSubgroupOperationsWhereTheyFailOrHaveNoSize) {
    EXPECT_TRUE(caps_by_ids(0x8086, 0x56a0).subgroup_arithmetic);
    EXPECT_FALSE(caps_by_ids(0x5143, 0x43050a01).subgroup_arithmetic);
    const DeviceCaps mali = caps_by_ids(0x13b5, 0x72120000, 0);
    EXPECT_EQ(mali.subgroup_size, 1u);
    EXPECT_FALSE(mali.subgroup_arithmetic);
}

}  // namespace
}  // namespace hearth::test
