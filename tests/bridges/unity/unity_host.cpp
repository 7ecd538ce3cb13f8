// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stands in for Unity to test engine_bridge/unity: creates a device through the plug-in's Vulkan
// hooks, notifies it of the device, and lets it record in two frames: unity_host PROGRAM.  Prints
// the outputs of "act" for the inputs 0.01, 0.02, ...

#include "unity/hearth_unity.h"

#include <IUnityGraphics.h>
#include <IUnityGraphicsVulkan.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

extern "C" {
UNITY_INTERFACE_EXPORT void UNITY_INTERFACE_API UnityPluginLoad(IUnityInterfaces* unity);
UNITY_INTERFACE_EXPORT void UNITY_INTERFACE_API UnityPluginUnload();
}

namespace {

void must(bool is_so, const char* what, const char* why = "") {
    if (is_so) return;
    std::printf("%s: %s\n", what, why);
    std::exit(1);
}

UnityVulkanInitCallback intercept_callback = nullptr;
IUnityGraphicsDeviceEventCallback device_event = nullptr;
UnityVulkanInstance made{};
UnityVulkanRecordingState state{};
UnityVulkanPluginEventConfig configured{};
int configured_event = 0;
bool is_recording = false;

IUnityGraphics graphics{};
IUnityGraphicsVulkanV2 vulkan{};
IUnityInterfaces unity{};

void fill_interfaces() {
    graphics.GetRenderer = [] { return kUnityGfxRendererVulkan; };
    graphics.RegisterDeviceEventCallback = [](IUnityGraphicsDeviceEventCallback callback) {
        device_event = callback;
    };
    graphics.UnregisterDeviceEventCallback = [](IUnityGraphicsDeviceEventCallback) {
        device_event = nullptr;
    };
    vulkan.ConfigureEvent = [](int event, const UnityVulkanPluginEventConfig* config) {
        configured_event = event;
        configured = *config;
    };
    vulkan.Instance = [] { return made; };
    vulkan.CommandRecordingState = [](UnityVulkanRecordingState* out,
                                      UnityVulkanGraphicsQueueAccess) {
        *out = state;
        return is_recording;
    };
    vulkan.AddInterceptInitialization = [](UnityVulkanInitCallback callback, void*, int32_t) {
        intercept_callback = callback;
        return true;
    };
    unity.GetInterface = [](UnityInterfaceGUID guid) -> IUnityInterface* {
        if (guid == GetUnityInterfaceGUID<IUnityGraphics>()) return &graphics;
        if (guid == GetUnityInterfaceGUID<IUnityGraphicsVulkanV2>()) return &vulkan;
        return nullptr;
    };
}

/// Creates a device as Unity does, with this vkGetInstanceProcAddr; requests nothing for Hearth.
VkCommandBuffer make_device(PFN_vkGetInstanceProcAddr get) {
    const auto create_instance =
        reinterpret_cast<PFN_vkCreateInstance>(get(VK_NULL_HANDLE, "vkCreateInstance"));
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instance_info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    instance_info.pApplicationInfo = &application;
    must(create_instance(&instance_info, nullptr, &made.instance) == VK_SUCCESS,
         "vkCreateInstance");
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(made.instance, &count, &made.physicalDevice);
    must(count == 1, "no device");
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceFeatures enabled{};
    enabled.shaderInt16 = VK_TRUE;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.pEnabledFeatures = &enabled;
    const auto create_device =
        reinterpret_cast<PFN_vkCreateDevice>(get(made.instance, "vkCreateDevice"));
    must(create_device(made.physicalDevice, &info, nullptr, &made.device) == VK_SUCCESS,
         "vkCreateDevice");
    vkGetDeviceQueue(made.device, 0, 0, &made.graphicsQueue);
    made.getInstanceProcAddr = vkGetInstanceProcAddr;

    VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    VkCommandPool pool = VK_NULL_HANDLE;
    must(vkCreateCommandPool(made.device, &pool_info, nullptr, &pool) == VK_SUCCESS,
         "vkCreateCommandPool");
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool;
    allocate.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    must(vkAllocateCommandBuffers(made.device, &allocate, &commands) == VK_SUCCESS,
         "vkAllocateCommandBuffers");
    return commands;
}

struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    float* values = nullptr;
};
constexpr VkBufferUsageFlags kUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

/// Creates a mapped buffer.
Buffer make_buffer(uint64_t bytes) {
    Buffer b;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = kUsage;
    must(vkCreateBuffer(made.device, &info, nullptr, &b.handle) == VK_SUCCESS, "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(made.device, b.handle, &needs);
    VkMemoryAllocateFlagsInfo flags{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.pNext = &flags;
    allocate.allocationSize = needs.size;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(made.physicalDevice, &memory);
    constexpr VkMemoryPropertyFlags kMapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t& type = allocate.memoryTypeIndex;
    while ((needs.memoryTypeBits >> type & 1) == 0 ||
           (memory.memoryTypes[type].propertyFlags & kMapped) != kMapped)
        must(++type < memory.memoryTypeCount, "no mapped memory");
    must(vkAllocateMemory(made.device, &allocate, nullptr, &b.memory) == VK_SUCCESS,
         "vkAllocateMemory");
    must(vkBindBufferMemory(made.device, b.handle, b.memory, 0) == VK_SUCCESS,
         "vkBindBufferMemory");
    void* data = nullptr;
    must(vkMapMemory(made.device, b.memory, 0, VK_WHOLE_SIZE, 0, &data) == VK_SUCCESS,
         "vkMapMemory");
    b.values = static_cast<float*>(data);
    return b;
}

/// A frame of Unity, whose render thread executes the plug-in's event.
void frame(uint64_t number, hearth_unity_recording& recording) {
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    must(vkBeginCommandBuffer(state.commandBuffer, &begin) == VK_SUCCESS, "vkBeginCommandBuffer");
    state.currentFrameNumber = number;
    state.safeFrameNumber = number - 1;
    is_recording = true;
    reinterpret_cast<UnityRenderingEventAndData>(hearth_unity_record())(hearth_unity_event(),
                                                                        &recording);
    is_recording = false;
    must(vkEndCommandBuffer(state.commandBuffer) == VK_SUCCESS, "vkEndCommandBuffer");
    must(recording.result == HEARTH_OK, "recording", hearth_session_error(recording.session));
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &state.commandBuffer;
    must(vkQueueSubmit(made.graphicsQueue, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS,
         "vkQueueSubmit");
    must(vkQueueWaitIdle(made.graphicsQueue) == VK_SUCCESS, "vkQueueWaitIdle");
}

}  // namespace

int main(int argc, char** argv) {
    must(argc == 2, "usage", "unity_host PROGRAM");
    fill_interfaces();
    UnityPluginLoad(&unity);
    must(intercept_callback != nullptr && device_event != nullptr,
         "the plug-in registered no callbacks");
    state.commandBuffer = make_device(intercept_callback(vkGetInstanceProcAddr, nullptr));
    device_event(kUnityGfxDeviceEventInitialize);
    hearth_context* const context = hearth_unity_context();
    must(context != nullptr, "no context", hearth_unity_error());
    must(configured_event == hearth_unity_event() &&
             configured.renderPassPrecondition == kUnityVulkanRenderPass_EnsureOutside,
         "the event is not configured");

    // Managed code does this by P/Invoke.
    std::ifstream file(argv[1], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    hearth_program_load_info load = hearth_program_load_info_default();
    load.bytes = bytes.data();
    load.byte_count = bytes.size();
    hearth_program* program = nullptr;
    must(hearth_program_load(context, &load, &program) == HEARTH_OK, argv[1],
         hearth_context_error(context));
    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = program;
    hearth_session* session = nullptr;
    must(hearth_session_create(context, &create, &session) == HEARTH_OK, "session",
         hearth_context_error(context));
    must(hearth_session_create_pipelines(session, 0) == HEARTH_OK, "pipelines",
         hearth_session_error(session));
    uint32_t entry = 0, x = 0, y = 0;
    must(hearth_program_find_entry(program, "act", &entry) == HEARTH_OK &&
             hearth_program_find_binding(program, entry, "x", &x) == HEARTH_OK &&
             hearth_program_find_binding(program, entry, "y", &y) == HEARTH_OK,
         "act", hearth_program_error(program));
    hearth_binding_info binding = hearth_binding_info_default();
    hearth_program_get_binding(program, x, &binding);
    const uint64_t size = binding.bytes_fixed + binding.bytes_per_item;
    const Buffer in = make_buffer(size), out = make_buffer(size);
    for (uint64_t i = 0; i < size / 4; ++i) in.values[i] = 0.01f * static_cast<float>(i + 1);
    hearth_tensor_binding bindings[] = {hearth_bind_buffer(x, in.handle, 0, size, kUsage),
                                        hearth_bind_buffer(y, out.handle, 0, size, kUsage)};
    bindings[1].release_scope =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    hearth_record_info info = hearth_record_info_default();
    info.entry = entry;
    info.batch_size = 1;
    info.bindings = bindings;
    info.binding_count = 2;
    hearth_unity_recording recording{session, &info, 1, HEARTH_OK};

    // An event outside of recording.
    reinterpret_cast<UnityRenderingEventAndData>(hearth_unity_record())(hearth_unity_event(),
                                                                        &recording);
    must(recording.result == HEARTH_NOT_READY, "recorded although Unity does not record");
    frame(7, recording);
    std::printf("y: %g %g %g %g\n", double{out.values[0]}, double{out.values[1]},
                double{out.values[2]}, double{out.values[3]});
    recording.initialize = 0;
    in.values[0] = 100;
    frame(8, recording);
    std::printf("then: %g %g\n", double{out.values[0]}, double{out.values[1]});

    // The end of the game.
    hearth_session_destroy(session);
    hearth_program_destroy(program);
    device_event(kUnityGfxDeviceEventShutdown);
    must(hearth_unity_context() == nullptr, "the context is still there", hearth_unity_error());
    UnityPluginUnload();
    std::printf("device event callbacks left: %d\n", device_event != nullptr);
    return 0;
}
