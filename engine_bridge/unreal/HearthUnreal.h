// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth on the Vulkan device of Unreal Engine 5.1 to 5.4, using only IVulkanDynamicRHI.h. A
// recipe: it has been compiled and run against our declarations of that interface, never with the
// engine.
//
//     // In StartupModule of a module whose loading phase is PostConfigInit:
//     FHearthUnreal::AddDeviceExtensions();
//     // Once the RHI exists, in FCoreDelegates::OnPostEngineInit:
//     Hearth.Create(...);
//     // On the render thread; in a render graph: AddPass(..., ERDGPassFlags::Compute |
//     // ERDGPassFlags::NeverCull, [&](FRHICommandListImmediate& List) {...})
//     Hearth.Record(RHICmdList, ...);
//     // In FCoreDelegates::OnEndFrameRT:
//     Hearth.EndFrame(RHICmdList);
//     // After FlushRenderingCommands:
//     Hearth.Destroy();
//
// Create sessions and programs with hearth.h and Context(), on the render thread. The game provides
// the buffers to bind: the RHI has no public access to VkBuffers of its own.

#pragma once

#include <vulkan/vulkan.h>
// The engine's headers.
#include "IVulkanDynamicRHI.h"

#include <hearth/hearth.h>

#include <deque>
#include <string>

class FHearthUnreal {
  public:
    /// Requests the extension for push descriptors, the default binding model.
    static void AddDeviceExtensions();

    /// Features      features that this engine version certainly enables; 0 is fine.
    /// BindingModel  HEARTH_BINDING_DEVICE_ADDRESS only if Features include it (with the engine's
    ///               ray tracing on).
    /// Returns false on failure; see Error().
    bool Create(hearth_features Features = 0,
                hearth_binding_model BindingModel = HEARTH_BINDING_PUSH_DESCRIPTOR);
    /// Nothing of the context may be in flight. Returns false if sessions or programs still exist.
    bool Destroy();

    hearth_context* Context() const { return ContextHandle; }
    const std::string& Error() const { return LastError; }

    /// Records on the RHI thread, outside a render pass. Info's pointees and Result must live until
    /// then. bInitialize: calls hearth_record_initialize first; in the first frame, and after a
    /// dropped one.
    void Record(FRHICommandListImmediate& List, hearth_session* Session,
                const hearth_record_info& Info, bool bInitialize, hearth_result* Result);
    /// Marks the end of the frame, so that Hearth learns when it has completed.
    void EndFrame(FRHICommandListImmediate& List);

  private:
    struct FFrame {
        uint64_t FrameNumber;
        FGPUFenceRHIRef Fence;
    };

    hearth_context* ContextHandle = nullptr;
    std::string LastError;
    std::deque<FFrame> InFlight;
    uint64_t FrameNumber = 1, Begun = 0, Completed = 0;
};
