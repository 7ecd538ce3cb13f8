# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# find_package(hearth): hearth::runtime, hearth::runtime_shared, and, where they were built,
# hearth::compiler, hearth::import and hearth::standalone.  Only the last three need anything else.
include(CMakeFindDependencyMacro)
find_package(Threads QUIET)
find_package(glslang QUIET)
find_package(Protobuf QUIET)
include(${CMAKE_CURRENT_LIST_DIR}/hearth-targets.cmake)

# A project without C++ can use the C interface; a C++ standard would mean nothing to it.
get_property(hearth_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if(NOT CXX IN_LIST hearth_languages)
    set_property(TARGET hearth::runtime PROPERTY INTERFACE_COMPILE_FEATURES "")
endif()
unset(hearth_languages)
