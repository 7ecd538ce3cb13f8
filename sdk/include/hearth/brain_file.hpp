// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brain files: applications save with write_file_atomically() and load with read_whole_file().

#pragma once

#include <hearth/file.hpp>
