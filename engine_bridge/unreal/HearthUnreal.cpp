// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs Hearth on the Vulkan device of Unreal Engine's RHI.

#include "unreal/HearthUnreal.h"

namespace {

const char* const Extensions[] = {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME};

/// Like the loader's function, using the RHI's instance.
PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance Instance, const char* Name) {
    IVulkanDynamicRHI* const RHI = GetIVulkanDynamicRHI();
    void* const Function = Instance == VK_NULL_HANDLE ? RHI->RHIGetVkInstanceGlobalProcAddr(Name)
                                                      : RHI->RHIGetVkInstanceProcAddr(Name);
    return reinterpret_cast<PFN_vkVoidFunction>(Function);
}

}  // namespace

void FHearthUnreal::AddDeviceExtensions() {
    IVulkanDynamicRHI::AddEnabledDeviceExtensionsAndLayers(
        TArrayView<const ANSICHAR* const>(Extensions, 1), TArrayView<const ANSICHAR* const>());
}

bool FHearthUnreal::Create(hearth_features Features, hearth_binding_model BindingModel) {
    IVulkanDynamicRHI* const RHI = GetIVulkanDynamicRHI();
    hearth_context_create_info Info = hearth_context_create_info_default();
    Info.instance = RHI->RHIGetVkInstance();
    Info.physical_device = RHI->RHIGetVkPhysicalDevice();
    Info.device = RHI->RHIGetVkDevice();
    Info.get_instance_proc_addr = &GetInstanceProcAddr;
    Info.api_version = RHI->RHIGetVulkanVersion();
    Info.queue_family_index = RHI->RHIGetGraphicsQueueFamilyIndex();
    Info.features = Features;
    Info.binding_model = BindingModel;
    // The engine does not report whether it enabled a requested extension; it does if the device
    // has it.
    if (BindingModel == HEARTH_BINDING_PUSH_DESCRIPTOR) {
        Info.device_extensions = Extensions;
        Info.device_extension_count = 1;
    }
    hearth_messages Messages{};
    if (hearth_context_create(&Info, &ContextHandle, &Messages) == HEARTH_OK) return true;
    LastError = Messages.text;
    return false;
}

bool FHearthUnreal::Destroy() {
    // Nothing is in flight, so all frames have completed.
    if (Begun > 0) hearth_begin_frame(ContextHandle, Begun + 1, Begun);
    if (hearth_context_destroy(ContextHandle) < 0) {
        LastError = hearth_context_error(ContextHandle);
        return false;
    }
    ContextHandle = nullptr;
    InFlight.clear();
    return true;
}

void FHearthUnreal::Record(FRHICommandListImmediate& List, hearth_session* Session,
                           const hearth_record_info& Info, bool bInitialize,
                           hearth_result* Result) {
    List.EnqueueLambda([this, Session, &Info, bInitialize, Result](FRHICommandListImmediate&) {
        IVulkanDynamicRHI* const RHI = GetIVulkanDynamicRHI();
        while (!InFlight.empty() && InFlight.front().Fence->Poll()) {
            Completed = InFlight.front().FrameNumber;
            InFlight.pop_front();
        }
        *Result = HEARTH_OK;
        if (Begun != FrameNumber)
            *Result = hearth_begin_frame(ContextHandle, FrameNumber, Completed);
        if (*Result < 0) return;
        Begun = FrameNumber;
        hearth_record_info Own = Info;
        Own.command_buffer = RHI->RHIGetActiveVkCommandBuffer();
        if (bInitialize) *Result = hearth_record_initialize(Session, Own.command_buffer);
        if (*Result >= 0) *Result = hearth_record(Session, &Own, nullptr);
        // Makes the RHI discard its cached bindings.
        RHI->RHIRegisterWork(1);
        RHI->RHIFinishExternalComputeWork(Own.command_buffer);
    });
}

void FHearthUnreal::EndFrame(FRHICommandListImmediate& List) {
    FGPUFenceRHIRef Fence = RHICreateGPUFence(TEXT("Hearth"));
    List.WriteGPUFence(Fence);
    List.EnqueueLambda([this, Fence](FRHICommandListImmediate&) {
        if (Begun == FrameNumber) InFlight.push_back({FrameNumber++, Fence});
    });
}
