// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sees the calls of hearth.h by which agents record a frame, and lets one of them fail.  The linker
// puts itself between (--wrap; see CMakeLists.txt).

#pragma once

#include <hearth/hearth.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace hearth::gates {

struct RecordedCall {
    std::string_view function;  ///< "record", "load_brain", ...
    hearth_session* session = nullptr;
    uint32_t entry = UINT32_MAX;  ///< of "record"
    uint64_t rows = 0;
    hearth_result result = HEARTH_OK;
};

struct DriverCalls {
    bool is_on = false;
    std::vector<RecordedCall> calls;                         ///< since it was made
    uint64_t fails_at = UINT64_MAX;                          ///< index in `calls`
    std::function<bool(const RecordedCall&)> fails_if = {};  ///< the first such call fails, too
    hearth_result failure = HEARTH_ERROR_TOO_MANY_IN_FLIGHT;

    static DriverCalls& get();
};

}  // namespace hearth::gates
