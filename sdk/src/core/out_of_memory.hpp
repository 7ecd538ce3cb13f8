// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Where the compiler column is entered, running out of memory becomes a Status.  It is compiled with
// exceptions for this alone: std::bad_alloc unwinds what was begun and ends here.  No other exception
// is thrown, and none leaves the library.

#pragma once

#include <hearth/status.hpp>

#include <new>
#include <stdexcept>
#include <utility>

namespace hearth {

/// What `work` returns; it must be all that the function does, as there may be no memory for one word
/// more.  `work` returns a Status or a Result: kOutOfRange if it runs out of memory.
template <class F>
auto or_out_of_memory(F&& work) -> decltype(work()) {
    try {
        return std::forward<F>(work)();
    } catch (const std::bad_alloc&) {
    } catch (const std::length_error&) {  // a container that no memory could hold
    }
    // So short that a string holds it without memory.
    return Status(StatusCode::kOutOfRange, "out of memory");
}

}  // namespace hearth
