# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# What `cpack` makes of the components of HearthInstall.cmake, each with its SHA-256 beside it: one archive of all
# (-G TXZ) and a Debian package for each (-G DEB).  `./dev package` builds what they need and calls it.
set(CPACK_PACKAGE_NAME hearth)
set(CPACK_PACKAGE_VENDOR "The Hearth Authors")
set(CPACK_PACKAGE_CONTACT "The Hearth Authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TXZ DEB)
string(TOLOWER "hearth-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/HearthPackageOne.cmake)

set(CPACK_COMPONENTS_ALL runtime development)
if(HEARTH_COMPILER)
    list(APPEND CPACK_COMPONENTS_ALL compiler)
endif()
foreach(target hearth_import=import hearth=tool)
    string(REPLACE "=" ";" target ${target})
    list(GET target 0 name)
    list(GET target 1 component)
    if(TARGET ${name})
        list(APPEND CPACK_COMPONENTS_ALL ${component})
    endif()
endforeach()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Hearth Authors")
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(exact "(= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libhearth${HEARTH_ABI})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Hearth's runtime: records neural networks into a game's Vulkan command buffers")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libhearth-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libhearth${HEARTH_ABI} ${exact}")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Hearth's runtime: headers, static library, CMake and pkg-config files")

set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME libhearth-compiler-dev)
# glslang's own CMake files ask for its programs.
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS
    "libhearth-dev ${exact}, glslang-dev, glslang-tools, spirv-tools, libpng-dev, libvulkan-dev")
set(CPACK_DEBIAN_COMPILER_DESCRIPTION "Hearth's compiler: tracing, gradients, code generation")

set(CPACK_DEBIAN_IMPORT_PACKAGE_NAME libhearth-import-dev)
set(CPACK_DEBIAN_IMPORT_PACKAGE_DEPENDS "libhearth-compiler-dev ${exact}, libprotobuf-dev, libonnx-dev")
set(CPACK_DEBIAN_IMPORT_DESCRIPTION "Hearth's importer of ONNX models")

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME hearth-tool)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS libvulkan1)
set(CPACK_DEBIAN_TOOL_DESCRIPTION "Hearth's command-line tool: inspects, cooks, runs and compares networks")
include(CPack)
