// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The part of Unreal Engine's RHI that engine_bridge/unreal uses, declared from its documentation
// and from its use in public plug-ins, so that the bridge can be compiled and run without the
// engine.  The order of virtual functions differs from the engine's: it must not load anything that
// was compiled with this header.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include <functional>
#include <memory>
#include <vector>

using uint32 = uint32_t;
using ANSICHAR = char;
#define TEXT(text) L##text

template <class Element>
class TArrayView {
  public:
    TArrayView() = default;
    TArrayView(Element* data, size_t count) : data_(data), count_(count) {}
    Element* begin() const { return data_; }
    Element* end() const { return data_ + count_; }

  private:
    Element* data_ = nullptr;
    size_t count_ = 0;
};

class FRHIGPUFence {
  public:
    virtual ~FRHIGPUFence() = default;
    virtual bool Poll() const = 0;
};
using FGPUFenceRHIRef = std::shared_ptr<FRHIGPUFence>;
FGPUFenceRHIRef RHICreateGPUFence(const wchar_t* name);

/// What the render thread enqueues, the RHI thread runs.
class FRHICommandListImmediate {
  public:
    void EnqueueLambda(std::function<void(FRHICommandListImmediate&)> lambda);
    void WriteGPUFence(const FGPUFenceRHIRef& fence);

    std::vector<std::function<void(FRHICommandListImmediate&)>> lambdas;
};

struct IVulkanDynamicRHI {
    virtual ~IVulkanDynamicRHI() = default;
    virtual uint32 RHIGetVulkanVersion() const = 0;
    virtual VkInstance RHIGetVkInstance() const = 0;
    virtual VkDevice RHIGetVkDevice() const = 0;
    virtual VkPhysicalDevice RHIGetVkPhysicalDevice() const = 0;
    virtual uint32 RHIGetGraphicsQueueFamilyIndex() const = 0;
    virtual VkCommandBuffer RHIGetActiveVkCommandBuffer() = 0;
    virtual void* RHIGetVkInstanceProcAddr(const char* name) const = 0;
    virtual void* RHIGetVkInstanceGlobalProcAddr(const char* name) const = 0;
    virtual void RHIFinishExternalComputeWork(VkCommandBuffer commands) = 0;
    virtual void RHIRegisterWork(uint32 primitives) = 0;

    static void AddEnabledDeviceExtensionsAndLayers(TArrayView<const ANSICHAR* const> extensions,
                                                    TArrayView<const ANSICHAR* const> layers);
};
IVulkanDynamicRHI* GetIVulkanDynamicRHI();
