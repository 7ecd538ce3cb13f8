// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The part of Unity's plug-in interface that engine_bridge/unity uses, declared from its
// documentation so that the bridge can be compiled and run without the editor.  A project uses the
// editor's headers (PluginAPI) instead; their structs have more members: Unity must not load
// anything that was compiled with this header.

#pragma once

#include <stdint.h>

#define UNITY_INTERFACE_API
#define UNITY_INTERFACE_EXPORT __attribute__((visibility("default")))

struct UnityInterfaceGUID {
    unsigned long long m_GUIDHigh, m_GUIDLow;
    bool operator==(const UnityInterfaceGUID& other) const {
        return m_GUIDHigh == other.m_GUIDHigh && m_GUIDLow == other.m_GUIDLow;
    }
};
template <class Interface>
UnityInterfaceGUID GetUnityInterfaceGUID();

struct IUnityInterface {};
struct IUnityInterfaces {
    IUnityInterface*(UNITY_INTERFACE_API* GetInterface)(UnityInterfaceGUID guid);
    template <class Interface>
    Interface* Get() {
        return static_cast<Interface*>(GetInterface(GetUnityInterfaceGUID<Interface>()));
    }
};

enum UnityGfxRenderer { kUnityGfxRendererVulkan = 21 };
enum UnityGfxDeviceEventType {
    kUnityGfxDeviceEventInitialize = 0,
    kUnityGfxDeviceEventShutdown = 1
};
typedef void(UNITY_INTERFACE_API* IUnityGraphicsDeviceEventCallback)(UnityGfxDeviceEventType);
typedef void(UNITY_INTERFACE_API* UnityRenderingEventAndData)(int event, void* data);

struct IUnityGraphics : IUnityInterface {
    UnityGfxRenderer(UNITY_INTERFACE_API* GetRenderer)();
    void(UNITY_INTERFACE_API* RegisterDeviceEventCallback)(IUnityGraphicsDeviceEventCallback);
    void(UNITY_INTERFACE_API* UnregisterDeviceEventCallback)(IUnityGraphicsDeviceEventCallback);
};
template <>
inline UnityInterfaceGUID GetUnityInterfaceGUID<IUnityGraphics>() {
    return {0, 1};
}
