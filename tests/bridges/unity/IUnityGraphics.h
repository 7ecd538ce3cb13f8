// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Of Unity's plug-in interface what engine_bridge/unity uses, declared anew by its documentation, so that the bridge is
// compiled and run where there is no editor.  The editor's headers (PluginAPI) take its place in a project; their
// structs have more members, so nothing that was compiled with this one may be loaded by Unity.

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
