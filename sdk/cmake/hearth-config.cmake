# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# find_package(hearth): hearth::runtime, hearth::runtime_shared, and, where they were built,
# hearth::compiler, hearth::import and hearth::standalone.  Only the last three need anything else.
include(CMakeFindDependencyMacro)
find_package(Threads QUIET)
find_package(glslang QUIET)
find_package(Protobuf QUIET)
include(${CMAKE_CURRENT_LIST_DIR}/hearth-targets.cmake)
