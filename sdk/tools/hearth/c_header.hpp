// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a host must know of a package, as a C header.

#pragma once

#include "program/program.hpp"

#include <hearth/status.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hearth::tool {

/// "POLICY_V2_": what all names begin with in the header `path`.
std::string c_prefix(std::string_view path);

/// A header for C11 and C++ with the indices, names, shapes and bytes of entries, bindings, named
/// elements, params and states, and a function that tells whether a loaded program is the one that it
/// was made of.
///
/// programs  one for each profile of the package.  What differs between them is left out, with a
///           remark; indices of entries and bindings do not.
/// Errors: kInternal if those differ.
Result<std::string> c_header(std::string_view path, std::string_view package, uint64_t graph_hash,
                             std::span<const Program> programs);

}  // namespace hearth::tool
