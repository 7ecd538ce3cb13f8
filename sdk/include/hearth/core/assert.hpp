// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Asserts for internal invariants.  Untrusted input never reaches an assert: it results in a
// Status.

#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace hearth {

/// Called on a failed assert; must not return.  The default prints to stderr and aborts.
using AssertHandler = void (*)(const char* expression, const char* file, int line);

namespace detail {

inline void report_and_abort(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
    std::abort();
}

inline std::atomic<AssertHandler> assert_handler{report_and_abort};

}  // namespace detail

[[noreturn]] inline void assert_failed(const char* expression, const char* file, int line) {
    detail::assert_handler.load()(expression, file, line);
    std::abort();
}

/// Replaces the assert handler of the process (or of the shared library, if Hearth is one) and
/// returns the old one.  NULL restores the default.  Call it before other threads use Hearth.
inline AssertHandler set_assert_handler(AssertHandler handler) {
    return detail::assert_handler.exchange(handler != nullptr ? handler : detail::report_and_abort);
}

}  // namespace hearth

#define HEARTH_ASSERT(expression) \
    ((expression) ? void(0) : ::hearth::assert_failed(#expression, __FILE__, __LINE__))
