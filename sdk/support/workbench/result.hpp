// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Converts a Status to results of the C interface.

#pragma once

#include <hearth/hearth.h>
#include <hearth/status.hpp>

namespace hearth::workbench {

hearth_result result_of(const Status& status);
/// Writes the message to the report, if there is one; returns the result.
hearth_result in_report(hearth_messages* report, const Status& status);

}  // namespace hearth::workbench
