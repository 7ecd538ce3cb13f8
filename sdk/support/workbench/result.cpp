// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Converts a Status to results of the C interface.

#include "result.hpp"

#include <cstring>

namespace hearth::workbench {

hearth_result result_of(const Status& status) {
    switch (status.code()) {
        case StatusCode::kOk:
            return HEARTH_OK;
        case StatusCode::kInvalidArgument:
            return HEARTH_ERROR_INVALID_ARGUMENT;
        case StatusCode::kNotFound:
            return HEARTH_ERROR_NOT_FOUND;
        case StatusCode::kUnsupported:
            return HEARTH_ERROR_UNSUPPORTED;
        case StatusCode::kCorruptData:
            return HEARTH_ERROR_CORRUPT_DATA;
        case StatusCode::kOutOfRange:
            return HEARTH_ERROR_OUT_OF_RANGE;
        case StatusCode::kInternal:
            break;
    }
    return HEARTH_ERROR_INTERNAL;
}

hearth_result in_report(hearth_messages* report, const Status& status) {
    if (report != nullptr) {
        report->message_count = status.ok() ? 0 : 1;
        std::strncpy(report->text, status.message().c_str(), sizeof report->text - 1);
        report->text[sizeof report->text - 1] = '\0';
    }
    return result_of(status);
}

}  // namespace hearth::workbench
