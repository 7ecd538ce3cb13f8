# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# `cmake --install`, in components, each of which can be installed alone with those above it:
#
#   runtime      libhearth_runtime.so.X.Y, licences
#   development  what compiles and links against the runtime: headers, both libraries, CMake and pkg-config files,
#                the panel for Dear ImGui, the pages
#   compiler     the compiler column, `standalone` and `cpu`: headers, static libraries, an example
#   import       the ONNX importer
#   tool         the program `hearth`
#
# Agents are part of runtime and compiler where HEARTH_AGENTS is on.  The static libraries are whole: each
# folder's object library is inside.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hearth)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(licence_dir ${CMAKE_INSTALL_DATADIR}/doc/hearth)

# hearth_install(component EXPORT set TARGETS target=exported_name...)
function(hearth_install component export)
    foreach(pair IN LISTS ARGN)
        string(REPLACE "=" ";" pair ${pair})
        list(GET pair 0 target)
        list(GET pair 1 name)
        set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
        install(TARGETS ${target} EXPORT hearth-${export}
            RUNTIME COMPONENT ${component}
            LIBRARY COMPONENT runtime NAMELINK_COMPONENT ${component}
            ARCHIVE COMPONENT ${component}
            INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    endforeach()
    install(EXPORT hearth-${export} NAMESPACE hearth:: FILE hearth-${export}.cmake
        DESTINATION ${config_dir} COMPONENT ${component})
endfunction()

# hearth_pkgconfig(component name): fills in sdk/cmake/NAME.pc.in.  What it finds, it finds from where the file
# itself lies, so that an installation can be moved.
function(hearth_pkgconfig component name)
    file(RELATIVE_PATH HEARTH_PC_PREFIX /${pkgconfig_dir} /)
    string(REGEX REPLACE "/$" "" HEARTH_PC_PREFIX "${HEARTH_PC_PREFIX}")
    set(HEARTH_PC_GLSLANG "")
    if(HEARTH_GLSL)
        set(HEARTH_PC_GLSLANG " -lSPIRV -lglslang -lglslang-default-resource-limits -lMachineIndependent -lGenericCodeGen -lOGLCompiler -lOSDependent -lSPIRV-Tools-opt -lSPIRV-Tools")
    endif()
    set(HEARTH_PC_PNG "")
    if(HEARTH_PNG)
        set(HEARTH_PC_PNG " -lpng16 -lz")
    endif()
    configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir} COMPONENT ${component})
endfunction()

# hearth_notices(component target...): the licences of what others wrote and these targets have inside.
function(hearth_notices component)
    string(JOIN "\" \"" targets ${ARGN})
    install(CODE "
        set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${licence_dir}\")
        file(MAKE_DIRECTORY \"\${folder}\")
        execute_process(COMMAND \"${Python3_EXECUTABLE}\" -B \"${PROJECT_SOURCE_DIR}/sdk/support/notices.py\"
            \"${CMAKE_BINARY_DIR}\" \"\${folder}/THIRD_PARTY_NOTICES-${component}.txt\" \"${targets}\"
            COMMAND_ERROR_IS_FATAL ANY)
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${folder}/THIRD_PARTY_NOTICES-${component}.txt\")"
        COMPONENT ${component})
endfunction()

# What of include/hearth belongs to the runtime; all else is the compiler's.  That these headers include no others
# is tested by a project that has them alone (tests/consumer).
set(runtime_headers hearth.h hearth_runtime.hpp status.hpp types.hpp host_tensor.hpp brain.hpp brain_file.hpp dump_folder.hpp
    file.hpp core/assert.hpp core/convert.hpp core/cpp20.hpp core/extents.hpp core/fixed_list.hpp core/hash.hpp core/os_file.hpp core/span.hpp
    network.hpp run_log.hpp)
set(agents_headers hearth_agents.h agents.hpp agents/demo.hpp agents/diagnose.hpp agents/run_log.hpp agents/self_play.hpp agents/status.hpp agents/schema.hpp agents/manifest.hpp)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/include/hearth
    ${CMAKE_CURRENT_SOURCE_DIR}/include/hearth/*.h ${CMAKE_CURRENT_SOURCE_DIR}/include/hearth/*.hpp)
foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH folder)
    set(component compiler)
    if(header IN_LIST runtime_headers OR header IN_LIST agents_headers)
        set(component development)
    endif()
    if(NOT HEARTH_AGENTS AND header MATCHES "agents")
        continue()
    elseif(component STREQUAL "compiler" AND NOT HEARTH_COMPILER)
        continue()
    endif()
    install(FILES include/hearth/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hearth/${folder}
        COMPONENT ${component})
endforeach()

hearth_install(development runtime hearth_runtime_static=runtime hearth_runtime_shared=runtime_shared)
hearth_pkgconfig(development hearth)
if(HEARTH_COMPILER)
    hearth_install(compiler compiler hearth_compiler=compiler)
    hearth_pkgconfig(compiler hearth-compiler)
endif()
if(TARGET hearth_import)
    hearth_install(import import hearth_import=import)
    hearth_pkgconfig(import hearth-import)
endif()
if(TARGET hearth_standalone)
    hearth_install(compiler standalone hearth_standalone=standalone)
    hearth_pkgconfig(compiler hearth-standalone)
    install(DIRECTORY support/standalone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT compiler
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inl")
endif()
if(TARGET hearth_cpu)
    hearth_install(compiler cpu hearth_cpu=cpu)
    hearth_pkgconfig(compiler hearth-cpu)
endif()
if(HEARTH_COMPILER AND HEARTH_AGENTS)
    install(FILES ${PROJECT_SOURCE_DIR}/demos/hello_agents/main.cpp
        ${PROJECT_SOURCE_DIR}/demos/hello_agents/CMakeLists.txt
        DESTINATION ${CMAKE_INSTALL_DATADIR}/hearth/examples/hello_agents COMPONENT compiler)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/demos/hello_learners
        DESTINATION ${CMAKE_INSTALL_DATADIR}/hearth/examples COMPONENT compiler)
endif()
if(TARGET hearth)
    hearth_install(tool tool hearth=tool)
    install(DIRECTORY templates DESTINATION ${CMAKE_INSTALL_DATADIR}/hearth COMPONENT tool)
endif()

# Sources that games take into their own build, the interface of environments, and the pages.
install(FILES ${PROJECT_SOURCE_DIR}/engine_bridge/environments/hearth_environment.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hearth COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/engine_bridge/imgui/agent_view.hpp
    ${PROJECT_SOURCE_DIR}/engine_bridge/imgui/agent_view.cpp
    ${PROJECT_SOURCE_DIR}/engine_bridge/imgui/agents_panel.hpp
    ${PROJECT_SOURCE_DIR}/engine_bridge/imgui/agents_panel.cpp ${PROJECT_SOURCE_DIR}/engine_bridge/imgui/README.md
    DESTINATION ${CMAKE_INSTALL_DATADIR}/hearth/imgui COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${licence_dir}/docs COMPONENT development
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN site EXCLUDE)

write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/hearth-config-version.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
configure_file(cmake/hearth-config.cmake.in hearth-config.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/hearth-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/hearth-config-version.cmake
    DESTINATION ${config_dir} COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/LICENSE-MIT
    ${PROJECT_SOURCE_DIR}/LICENSE-APACHE ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    DESTINATION ${licence_dir} COMPONENT runtime)

# Notices are made from what Ninja and Debian know; elsewhere whoever ships makes them.
find_package(Python3 COMPONENTS Interpreter)
find_program(HEARTH_DPKG_QUERY dpkg-query)
if(Python3_FOUND AND HEARTH_DPKG_QUERY AND CMAKE_GENERATOR STREQUAL "Ninja" AND NOT CMAKE_CROSSCOMPILING)
    hearth_notices(runtime hearth_runtime_static hearth_runtime_shared)
    if(HEARTH_COMPILER)
        hearth_notices(compiler hearth_compiler)
    endif()
    if(TARGET hearth_import)
        hearth_notices(import hearth_import)
    endif()
    if(TARGET hearth)
        hearth_notices(tool hearth)
    endif()
else()
    message(STATUS "no third-party notices: they are made with Ninja, Python and dpkg-query, for the system that builds")
endif()
