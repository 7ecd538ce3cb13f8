// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Converts out-of-memory into a Status at the entry points of the compiler.  These are compiled
// with exceptions for this purpose alone: std::bad_alloc unwinds the work and is caught here.  No
// other exception is thrown, and none leaves the library.

#pragma once

#include <hearth/status.hpp>

#include <new>
#include <stdexcept>
#include <utility>

namespace hearth {

/// Returns work()'s result, a Status or a Result, or kOutOfRange if it runs out of memory.  Must be
/// the whole body of the calling function, since code after it may have no memory left.
template <class F>
auto or_out_of_memory(F&& work) -> decltype(work()) {
    try {
        return std::forward<F>(work)();
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {  // a container larger than any memory
    }
    // Short enough for the small-string optimization, so it needs no allocation.
    return Status(StatusCode::kOutOfRange, "out of memory");
}

}  // namespace hearth
