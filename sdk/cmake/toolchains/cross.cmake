# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# What all systems but the one that builds have in common: libraries and headers are the target's, programs are not.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

# Vulkan's headers are the same for all, but lie among headers that are not.
get_property(is_trial GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT is_trial AND EXISTS /usr/include/vulkan/vulkan.h)
    set(folder ${CMAKE_BINARY_DIR}/vulkan-headers)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK /usr/include/vulkan ${folder}/vulkan SYMBOLIC)
    file(CREATE_LINK /usr/include/vk_video ${folder}/vk_video SYMBOLIC)
    set(HEARTH_VULKAN_INCLUDE ${folder} CACHE PATH "Vulkan's headers.")
    set(VULKAN_HEADERS ${folder} CACHE PATH "Vulkan's headers.")
endif()
