// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <hearth/hearth.h>

#include <cstdint>
#include <string_view>

namespace hearth {

class ProgramView;

/// An initial value that agents cannot act or learn by.
struct UnsoundValue {
    std::string_view name;  ///< of the variable
    int64_t element = -1;   ///< -1: all are sound
    bool is_finite = false;
};

/// Finds a variable that begins with NaN, an infinity or, if it is a param, with 2^60 or more.
UnsoundValue find_unsound_value(const ProgramView& program);

namespace runtime {

/// The same for a loaded program, whose handle must be intact.
UnsoundValue find_unsound_value(const hearth_program* program);

}  // namespace runtime
}  // namespace hearth
