// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Bodies of the kernels that this process has compiled for CPUs, for CPU devices that execute bodies
// because there is no C compiler.  Any thread.

#pragma once

#include "compiler/kernel/body.hpp"

#include <cstdint>
#include <memory>

namespace hearth {

/// From now on the bodies of kernels for CPUs are kept until the process ends.
void keep_bodies();
/// Keeps the body of the function with this hash (NativeCode::hash), if keep_bodies() was called.
void keep_body(uint64_t hash, const std::shared_ptr<const Body>& body);
/// Null if it has not been kept.
std::shared_ptr<const Body> kept_body(uint64_t hash);

}  // namespace hearth
