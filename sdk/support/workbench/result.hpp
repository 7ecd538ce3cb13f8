// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Converts a Status to results of the C interface.

#pragma once

#include <hearth/hearth.h>
#include <hearth/status.hpp>

namespace hearth::workbench {

hearth_result result_of(const Status& status);
/// Writes the message to `messages`, if not null; returns the result.
hearth_result set_messages(hearth_messages* messages, const Status& status);

}  // namespace hearth::workbench
