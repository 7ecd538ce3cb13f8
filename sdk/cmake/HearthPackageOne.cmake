# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# Read by cpack for each kind of package: the archive holds all components, of Debian's packages each holds one.
if(CPACK_GENERATOR MATCHES "^T")
    set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
    set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
else()
    set(CPACK_COMPONENTS_GROUPING IGNORE)
    set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
