// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stands in for Unreal to test engine_bridge/unreal: its device is that of vulkan_minimal, and its
// RHI thread runs everything enqueued in a frame into one command buffer: unreal_host PROGRAM.
// Prints the outputs of "act" in two frames for the inputs 0.01, 0.02, ...

#include "unreal/HearthUnreal.h"
#include "vulkan_minimal/app.h"

#include <cstdio>
#include <string>
#include <utility>

namespace {

VkCommandBuffer active = VK_NULL_HANDLE;
uint32_t finished = 0, registered = 0;
std::vector<std::string> requested;
std::vector<bool*> written;  // by fences of the frame

struct Fence : FRHIGPUFence {
    bool is_signalled = false;
    bool Poll() const override { return is_signalled; }
};

struct Rhi : IVulkanDynamicRHI {
    hearth_context_create_info info = app_host_info();
    uint32 RHIGetVulkanVersion() const override { return info.api_version; }
    VkInstance RHIGetVkInstance() const override { return info.instance; }
    VkDevice RHIGetVkDevice() const override { return info.device; }
    VkPhysicalDevice RHIGetVkPhysicalDevice() const override { return info.physical_device; }
    uint32 RHIGetGraphicsQueueFamilyIndex() const override { return info.queue_family_index; }
    VkCommandBuffer RHIGetActiveVkCommandBuffer() override { return active; }
    void* RHIGetVkInstanceProcAddr(const char* name) const override {
        return reinterpret_cast<void*>(vkGetInstanceProcAddr(info.instance, name));
    }
    void* RHIGetVkInstanceGlobalProcAddr(const char* name) const override {
        return reinterpret_cast<void*>(vkGetInstanceProcAddr(VK_NULL_HANDLE, name));
    }
    void RHIFinishExternalComputeWork(VkCommandBuffer commands) override {
        if (commands == active) ++finished;
    }
    void RHIRegisterWork(uint32 primitives) override { registered += primitives; }
};
Rhi* rhi = nullptr;

/// Ends a frame: the RHI thread runs the enqueued lambdas, and the device what they recorded.
void run_frame(FRHICommandListImmediate& list) {
    active = app_begin_commands();
    for (const auto& lambda : list.lambdas) lambda(list);
    list.lambdas.clear();
    app_submit_and_wait(active);
    for (bool* signal : written) *signal = true;
    written.clear();
}

}  // namespace

IVulkanDynamicRHI* GetIVulkanDynamicRHI() {
    return rhi;
}
void IVulkanDynamicRHI::AddEnabledDeviceExtensionsAndLayers(
    TArrayView<const ANSICHAR* const> extensions, TArrayView<const ANSICHAR* const>) {
    for (const ANSICHAR* name : extensions) requested.push_back(name);
}
FGPUFenceRHIRef RHICreateGPUFence(const wchar_t*) {
    return std::make_shared<Fence>();
}
void FRHICommandListImmediate::EnqueueLambda(
    std::function<void(FRHICommandListImmediate&)> lambda) {
    lambdas.push_back(std::move(lambda));
}
void FRHICommandListImmediate::WriteGPUFence(const FGPUFenceRHIRef& fence) {
    lambdas.push_back([fence](FRHICommandListImmediate&) {
        written.push_back(&static_cast<Fence&>(*fence).is_signalled);
    });
}

int main(int argc, char** argv) {
    if (argc != 2) app_fail("usage", "unreal_host PROGRAM");
    FHearthUnreal::AddDeviceExtensions();
    if (requested.size() != 1) app_fail("extensions", "not requested");
    app_make_device();
    rhi = new Rhi;
    FHearthUnreal hearth;
    // With device addresses, as the engine's device has with ray tracing.
    if (!hearth.Create(rhi->info.features, rhi->info.binding_model))
        app_fail("context", hearth.Error().c_str());

    hearth_program* const program = app_load(hearth.Context(), argv[1], nullptr);
    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = program;
    hearth_session* session = nullptr;
    app_check(hearth_session_create(hearth.Context(), &create, &session), "session",
              hearth_context_error(hearth.Context()));
    app_check(hearth_session_create_pipelines(session, 0), "pipelines",
              hearth_session_error(session));
    hearth_record_info info = hearth_record_info_default();
    hearth_entry_info entry = hearth_entry_info_default();
    app_check(hearth_program_find_entry(program, "act", &info.entry), "act",
              hearth_program_error(program));
    app_check(hearth_program_get_entry(program, info.entry, &entry), "act", "");
    std::vector<app_buffer> buffers;
    std::vector<hearth_tensor_binding> bindings;
    const float* output = nullptr;
    float* input = nullptr;
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        hearth_binding_info binding = hearth_binding_info_default();
        hearth_program_get_binding(program, entry.bindings[i], &binding);
        buffers.push_back(app_make_buffer(binding.bytes_fixed + binding.bytes_per_item));
        const app_buffer& b = buffers.back();
        bindings.push_back(hearth_bind_buffer(entry.bindings[i], b.buffer, 0, b.bytes, b.usage));
        bindings.back().release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        if (binding.is_output != 0) {
            output = static_cast<const float*>(b.data);
            continue;
        }
        input = static_cast<float*>(b.data);
        for (uint64_t k = 0; k < b.bytes / 4; ++k) input[k] = 0.01f * static_cast<float>(k + 1);
    }
    info.batch_size = 1;
    info.bindings = bindings.data();
    info.binding_count = entry.binding_count;

    FRHICommandListImmediate list;
    for (int frame = 0; frame < 2; ++frame) {
        hearth_result result = HEARTH_NOT_READY;
        hearth.Record(list, session, info, frame == 0, &result);
        if (result != HEARTH_NOT_READY) app_fail("frame", "recorded on the render thread");
        hearth.EndFrame(list);
        run_frame(list);
        app_check(result, "record", hearth_session_error(session));
        std::printf("y: %g %g %g %g\n", double{output[0]}, double{output[1]}, double{output[2]},
                    double{output[3]});
        input[0] = 100;
    }

    hearth_session_destroy(session);
    hearth_program_destroy(program);
    if (!hearth.Destroy()) app_fail("the end", hearth.Error().c_str());
    for (const app_buffer& b : buffers) app_destroy_buffer(&b);
    app_destroy_device();
    delete rhi;
    std::printf("compute work finished: %u, work registered: %u\n", finished, registered);
    return 0;
}
