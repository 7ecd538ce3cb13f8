// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Generates a C header with the constants that an application needs to use a package.

#pragma once

#include "program/program.hpp"

#include <hearth/status.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hearth::tool {

/// Prefix of all names in the header `path`, such as "POLICY_V2_".
std::string c_prefix(std::string_view path);

/// Generates a header for C11 and C++ with indices, names, shapes and sizes of entries, bindings,
/// named elements, params and states, and a function that checks whether a loaded program is the
/// one that the header was generated from.
///
/// programs  one per device target of the package.  Values that differ between device targets are
/// left out, with a remark; indices of entries and bindings must not differ.
/// Errors: kInternal if those differ.
Result<std::string> c_header(std::string_view path, std::string_view package, uint64_t graph_hash,
                             std::span<const Program> programs);

}  // namespace hearth::tool
