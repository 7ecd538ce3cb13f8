// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Definition of hearth_workbench.h's blobs.

#pragma once

#include "hearth_workbench.h"

#include <cstddef>
#include <vector>

struct hearth_blob {
    std::vector<std::byte> bytes;
};
