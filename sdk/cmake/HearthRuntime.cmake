# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# The device column: hearth::runtime (static) and libhearth_runtime.so.  It needs Vulkan's headers and
# never the loader.  Its folders are compiled once, as object libraries, for both.

find_path(HEARTH_VULKAN_INCLUDE vulkan/vulkan.h REQUIRED)

set(folders core program device/vulkan device/native device/session device/capi)
if(HEARTH_AGENTS)
    list(APPEND folders device/agents)
endif()
foreach(folder IN LISTS folders)
    hearth_folder(${folder})
    string(REPLACE "/" "_" target hearth_${folder})
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
    list(APPEND HEARTH_RUNTIME_OBJECTS $<TARGET_OBJECTS:${target}>)
    if(folder MATCHES "^device/")
        target_include_directories(${target} SYSTEM PRIVATE ${HEARTH_VULKAN_INCLUDE})
    endif()
endforeach()

# Only the aliases are for others to link.
add_library(hearth_runtime_static STATIC ${HEARTH_RUNTIME_OBJECTS})
add_library(hearth::runtime ALIAS hearth_runtime_static)
target_include_directories(hearth_runtime_static PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
set_target_properties(hearth_runtime_static PROPERTIES OUTPUT_NAME hearth_runtime)
# The C interface is for projects without C++, too: they link what C++ needs by name, and are asked for
# no C++ standard, which CMake would not understand there.
if(HEARTH_HOST_HAS_CXX)
    target_compile_features(hearth_runtime_static INTERFACE cxx_std_20)
endif()
foreach(library IN LISTS CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    if(library MATCHES "^(std)?c\\+\\+$|^m$")
        target_link_libraries(hearth_runtime_static INTERFACE ${library})
    endif()
endforeach()

# Exports hearth_* and nothing else; what no exported function reaches is left out.
set(HEARTH_EXPORTS ${CMAKE_CURRENT_LIST_DIR}/hearth_runtime.exports)
add_library(hearth_runtime_shared SHARED ${HEARTH_RUNTIME_OBJECTS})
add_library(hearth::runtime_shared ALIAS hearth_runtime_shared)
target_include_directories(hearth_runtime_shared PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
set_target_properties(hearth_runtime_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${HEARTH_ABI}
    OUTPUT_NAME hearth_runtime LINKER_LANGUAGE CXX)
if(WIN32)
    # hearth.dll needs nothing but Windows, and exports what is listed.
    file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/hearth_runtime.def symbols REGEX "^(EXPORTS|    hearth_)")
    if(NOT HEARTH_AGENTS)
        list(FILTER symbols EXCLUDE REGEX "hearth_(agents|demo)_")
    endif()
    list(JOIN symbols "\n" symbols)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/hearth.def CONTENT "${symbols}\n")
    target_sources(hearth_runtime_shared PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/hearth.def)
    set_target_properties(hearth_runtime_shared PROPERTIES PREFIX "" RUNTIME_OUTPUT_NAME hearth)
    target_link_options(hearth_runtime_shared PRIVATE -static)
else()
    target_link_options(hearth_runtime_shared PRIVATE
        -Wl,--version-script=${HEARTH_EXPORTS} -Wl,--gc-sections -Wl,--as-needed)
    set_target_properties(hearth_runtime_shared PROPERTIES LINK_DEPENDS ${HEARTH_EXPORTS})
endif()
foreach(sanitizer IN LISTS HEARTH_SANITIZE)
    target_link_options(hearth_runtime_static PUBLIC -fsanitize=${sanitizer})
    target_link_options(hearth_runtime_shared PUBLIC -fsanitize=${sanitizer})
endforeach()
