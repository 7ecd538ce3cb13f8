# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# The device column: hearth::runtime (static) and libhearth_runtime.so.  It needs Vulkan's headers and
# never the loader.  Its folders are compiled once, as object libraries, for both.

find_path(HEARTH_VULKAN_INCLUDE vulkan/vulkan.h REQUIRED)

foreach(folder core program)
    hearth_folder(${folder})
    list(APPEND HEARTH_RUNTIME_OBJECTS $<TARGET_OBJECTS:hearth_${folder}>)
    if(folder MATCHES "gpu|runtime|capi")
        target_include_directories(hearth_${folder} SYSTEM PRIVATE ${HEARTH_VULKAN_INCLUDE})
    endif()
endforeach()

add_library(hearth_runtime STATIC ${HEARTH_RUNTIME_OBJECTS})
add_library(hearth::runtime ALIAS hearth_runtime)
target_include_directories(hearth_runtime PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_compile_features(hearth_runtime PUBLIC cxx_std_20)

# Exports hearth_* and nothing else; what no exported function reaches is left out.
set(HEARTH_EXPORTS ${CMAKE_CURRENT_LIST_DIR}/hearth_runtime.exports)
add_library(hearth_runtime_shared SHARED ${HEARTH_RUNTIME_OBJECTS})
add_library(hearth::runtime_shared ALIAS hearth_runtime_shared)
target_include_directories(hearth_runtime_shared PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include)
target_link_options(hearth_runtime_shared PRIVATE
    -Wl,--version-script=${HEARTH_EXPORTS} -Wl,--gc-sections -Wl,--as-needed)
set_target_properties(hearth_runtime_shared PROPERTIES
    OUTPUT_NAME hearth_runtime LINKER_LANGUAGE CXX LINK_DEPENDS ${HEARTH_EXPORTS})
foreach(sanitizer IN LISTS HEARTH_SANITIZE)
    target_link_options(hearth_runtime PUBLIC -fsanitize=${sanitizer})
    target_link_options(hearth_runtime_shared PUBLIC -fsanitize=${sanitizer})
endforeach()
