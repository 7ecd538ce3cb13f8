// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <hearth/op/op_def.hpp>

#include <span>
#include <string_view>

namespace hearth {

/// Built-in operator records by family (generated from the *.ops.cpp files by HearthOps.cmake).
std::span<const std::span<const OpDef>> op_families();

/// Records added by register_ops(), by family.
std::span<const std::span<const OpDef>> registered_families();

/// The record with this name, or null.
const OpDef* find_op(std::string_view name);

/// The record with this name; it must exist.
const OpDef& op(std::string_view name);

}  // namespace hearth
