// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Broken invariants inside Hearth.  Untrusted input never reaches an assert: it gets a Status.

#pragma once

namespace hearth {

/// Receives a failed assert; must not return.  The default writes to stderr and aborts.
using AssertHandler = void (*)(const char* expression, const char* file, int line);

[[noreturn]] void assert_failed(const char* expression, const char* file, int line);

/// Replaces the handler for the whole process and returns the old one.  Set it before other threads
/// use Hearth.
AssertHandler set_assert_handler(AssertHandler handler);

}  // namespace hearth

#define HEARTH_ASSERT(expression) \
    ((expression) ? void(0) : ::hearth::assert_failed(#expression, __FILE__, __LINE__))
