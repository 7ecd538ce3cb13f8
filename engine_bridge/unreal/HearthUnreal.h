// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth on the Vulkan device of Unreal Engine 5.1 to 5.4, by IVulkanDynamicRHI.h alone.  A recipe: it has been compiled
// and run against declarations of ours, never by the engine.
//
//     FHearthUnreal::AddDeviceExtensions();      // StartupModule of a module whose loading phase is PostConfigInit
//     Hearth.Create(...);                        // once the RHI is there: FCoreDelegates::OnPostEngineInit
//     Hearth.Record(RHICmdList, ...);            // render thread; in a render graph: AddPass(..., ERDGPassFlags::Compute
//                                                //     | ERDGPassFlags::NeverCull, [&](FRHICommandListImmediate& List) {...})
//     Hearth.EndFrame(RHICmdList);               // FCoreDelegates::OnEndFrameRT
//     Hearth.Destroy();                          // after FlushRenderingCommands
//
// Sessions and programs are made with hearth.h and Context(), on the render thread.  The host of the bindings' buffers is
// the game: the RHI has no public way to a VkBuffer of its own.

#pragma once

#include <vulkan/vulkan.h>
// Then the engine's.
#include "IVulkanDynamicRHI.h"

#include <hearth/hearth.h>

#include <deque>
#include <string>

class FHearthUnreal {
  public:
    /// Programs find their operands by push descriptors, whatever else the engine enables.
    static void AddDeviceExtensions();

    /// Features  what the engine's source enables for certain in this version; none is fine.
    /// BindingModel  HEARTH_BINDING_DEVICE_ADDRESS only where Features has them (the engine's ray tracing is on).
    /// False: Error() says why.
    bool Create(hearth_features Features = 0,
                hearth_binding_model BindingModel = HEARTH_BINDING_PUSH_DESCRIPTOR);
    /// Nothing of the context may be in flight.  False: sessions or programs are left.
    bool Destroy();

    hearth_context* Context() const { return ContextHandle; }
    const std::string& Error() const { return LastError; }

    /// Records on the RHI thread, outside a render pass.  What Info points to, and Result, live until then.
    /// bWithSetup  hearth_record_setup first: in the first frame, and after a dropped one.
    void Record(FRHICommandListImmediate& List, hearth_session* Session,
                const hearth_record_info& Info, bool bWithSetup, hearth_result* Result);
    /// Marks the frame's end, from which Hearth learns what has completed.
    void EndFrame(FRHICommandListImmediate& List);

  private:
    struct FFrame {
        uint64_t Serial;
        FGPUFenceRHIRef Fence;
    };

    hearth_context* ContextHandle = nullptr;
    std::string LastError;
    std::deque<FFrame> InFlight;
    uint64_t Serial = 1, Begun = 0, Completed = 0;
};
