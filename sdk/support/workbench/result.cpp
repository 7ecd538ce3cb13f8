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

hearth_result set_messages(hearth_messages* messages, const Status& status) {
    if (messages != nullptr) {
        messages->message_count = status.ok() ? 0 : 1;
        std::strncpy(messages->text, status.message().c_str(), sizeof messages->text - 1);
        messages->text[sizeof messages->text - 1] = '\0';
    }
    return result_of(status);
}

}  // namespace hearth::workbench
