// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Opens the Vulkan loader. Separate from vulkan_api.cpp, because windows.h defines names of Vulkan
// functions as macros.

#include "vulkan_loader.hpp"

#include <string>

#if defined(_WIN32)
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace hearth::standalone {

namespace {

#if defined(_WIN32)
constexpr char kFile[] = "vulkan-1.dll", kWhereFrom[] = "drivers of GPUs install it";

void* find_function(const char* name) {
    static HMODULE const library = LoadLibraryA(kFile);
    return library ? reinterpret_cast<void*>(GetProcAddress(library, name)) : nullptr;
}
#else
constexpr char kFile[] = "libvulkan.so.1",
               kWhereFrom[] = "on Debian: apt-get install libvulkan1 mesa-vulkan-drivers";

void* find_function(const char* name) {
    static void* const library = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : nullptr;
}
#endif

}  // namespace

Result<void*> find_get_instance_proc_addr() {
    if (void* const function = find_function("vkGetInstanceProcAddr")) return function;
    return unsupported(std::string("no Vulkan loader: ") + kFile + " could not be opened (" +
                       kWhereFrom + "), or exports no vkGetInstanceProcAddr");
}

}  // namespace hearth::standalone
