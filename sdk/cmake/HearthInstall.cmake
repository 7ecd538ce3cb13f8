# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# `cmake --install`: libraries, public headers and what find_package(hearth) reads.  The static libraries
# are whole: each folder's object library is inside.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(targets hearth_runtime_static hearth_runtime_shared)
set_target_properties(hearth_runtime_static PROPERTIES EXPORT_NAME runtime)
set_target_properties(hearth_runtime_shared PROPERTIES EXPORT_NAME runtime_shared)
foreach(part compiler import standalone)
    if(TARGET hearth_${part})
        list(APPEND targets hearth_${part})
        set_target_properties(hearth_${part} PROPERTIES EXPORT_NAME ${part})
    endif()
endforeach()

install(TARGETS ${targets} EXPORT hearth INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/hearth DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET hearth_standalone)
    install(DIRECTORY support/standalone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.inl")
endif()

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hearth)
install(EXPORT hearth NAMESPACE hearth:: FILE hearth-targets.cmake DESTINATION ${config_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/hearth-config-version.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES cmake/hearth-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/hearth-config-version.cmake
    DESTINATION ${config_dir})
